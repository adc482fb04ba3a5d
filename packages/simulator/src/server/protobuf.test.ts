import { readFileSync } from "node:fs";
import { systemEnvironment } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { type Draft, type JsonObject, objectAt } from "../json.ts";
import { readAsGo, writeAsGo } from "../kinds/shape.ts";
import { structNameOf } from "../kinds/structs.ts";
import { startSimulator } from "../simulator.ts";
import { objectInProtobuf, protobufType } from "./protobuf.ts";

/** Objects that a real API server (1.37.1) returned, as JSON and as protobuf in base64. */
const answers: readonly { readonly json: Draft; readonly protobuf: string }[] = JSON.parse(
  readFileSync(new URL("generated/protobuf-answers.json", import.meta.url), "utf8"),
);

const bytesOf = (kind: string) => Buffer.from(answers.find(({ json }) => json.kind === kind)?.protobuf ?? "", "base64");

/** Go decodes missing fields as zero values; this brings both forms to what Go would write. */
function asGoWritesIt(object: Draft | JsonObject): JsonObject {
  const draft = structuredClone(object) as Draft;
  const [first = "", second] = draft.apiVersion.split("/");
  const type = second === undefined ? { group: "", version: first } : { group: first, version: second };
  const struct = structNameOf({ ...type, kind: draft.kind });
  expect(readAsGo(draft, struct)).toEqual([]);
  writeAsGo(draft, struct);
  return draft;
}

describe("a protobuf request body", () => {
  it.each(answers.map(({ json, protobuf }) => [json.kind, json, protobuf] as const))(
    "%s has the same value as in JSON",
    (_kind, json, protobuf) => {
      const object = objectInProtobuf(Buffer.from(protobuf, "base64"));
      expect(asGoWritesIt(object ?? {})).toEqual(asGoWritesIt(json));
    },
  );

  it("with an unknown kind or other bytes decodes to undefined", () => {
    expect(objectInProtobuf(Buffer.from("k8s\0\x0a\x0a\x0a\x04x/v1\x12\x02No", "latin1"))).toBeUndefined();
    expect(objectInProtobuf(Buffer.from("{}"))).toBeUndefined();
  });

  it.each([
    { name: "an endless varint", bytes: Buffer.alloc(3 * 2 ** 20, 0xff) },
    { name: "a length beyond the end of the body", bytes: Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x7f]) },
    { name: "a truncated varint", bytes: Buffer.from([0x0a, 0x80]) },
  ])("with $name is a bad request", ({ bytes }) => {
    const call = () => objectInProtobuf(Buffer.concat([Buffer.from("k8s\0"), bytes]));
    expect(call).toThrow(expect.objectContaining({ status: 400 }));
  });

  it("with a million list items is decoded in linear time", () => {
    const field = (number: number, bytes: Buffer) => {
      const [length, tag] = [bytes.length, (number << 3) | 2];
      return Buffer.concat([Buffer.from([tag, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14]), bytes]);
    };
    // A million empty finalizers.
    const metadata = field(1, Buffer.alloc(2 ** 20, Buffer.from([(14 << 3) | 2, 0])));
    const type = field(1, Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from("ConfigMap"))]));
    const object = objectInProtobuf(Buffer.concat([Buffer.from("k8s\0"), type, field(2, metadata)]));
    expect(objectAt(object?.metadata).finalizers).toHaveLength(2 ** 19);
  });
});

it("a client that sends protobuf gets a JSON response", async () => {
  await using simulator = await startSimulator({ environment: systemEnvironment(), http: true });
  const send = async (bytes: Uint8Array<ArrayBuffer>) =>
    fetch(`${simulator.url}/api/v1/namespaces/pbuf2/configmaps`, {
      method: "POST",
      headers: { "content-type": protobufType },
      body: bytes,
    });
  await simulator.client().request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "pbuf2" } } });
  // The recorded object has a resourceVersion, so the server decodes and then rejects it.
  const refused = await send(new Uint8Array(bytesOf("ConfigMap")));
  expect([refused.status, String(objectAt(await refused.json()).message)]).toEqual([
    500,
    "resourceVersion should not be set on objects to be created",
  ]);
  const unknown = await send(new Uint8Array(Buffer.from("k8s\0")));
  expect([unknown.status, String(objectAt(await unknown.json()).reason)]).toEqual([501, "NotImplemented"]);
});
