import { readFileSync } from "node:fs";
import { systemEnvironment } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { type Draft, type JsonObject, objectAt } from "../json.ts";
import { readAsGo } from "../kinds/shape.ts";
import { writeAsGo } from "../kinds/shape-out.ts";
import { structNameOf } from "../kinds/struct-name.ts";
import { startSimulator } from "../simulator.ts";
import { objectInProtobuf, protobufType } from "./protobuf.ts";

/** Objects as a real API server (1.37.1) answered with them, both as JSON and as protobuf in base64. */
const answers: readonly { readonly json: Draft; readonly protobuf: string }[] = JSON.parse(
  readFileSync(new URL("generated/protobuf-answers.json", import.meta.url), "utf8"),
);

const bytesOf = (kind: string) => Buffer.from(answers.find(({ json }) => json.kind === kind)?.protobuf ?? "", "base64");

/** Go reads zeros where nothing was sent; both forms are brought to the one that it would write. */
function asGoWritesIt(object: Draft | JsonObject): JsonObject {
  const draft = structuredClone(object) as Draft;
  const [first = "", second] = draft.apiVersion.split("/");
  const type = second === undefined ? { group: "", version: first } : { group: first, version: second };
  const struct = structNameOf({ ...type, kind: draft.kind });
  expect(readAsGo(draft, struct)).toEqual([]);
  writeAsGo(draft, struct);
  return draft;
}

describe("an object in protobuf", () => {
  it.each(answers.map(({ json, protobuf }) => [json.kind, json, protobuf] as const))(
    "%s is what it is in JSON",
    (_kind, json, protobuf) => {
      const object = objectInProtobuf(Buffer.from(protobuf, "base64"));
      expect(asGoWritesIt(object ?? {})).toEqual(asGoWritesIt(json));
    },
  );

  it("of an unknown kind is none, and neither are other bytes", () => {
    expect(objectInProtobuf(Buffer.from("k8s\0\x0a\x0a\x0a\x04x/v1\x12\x02No", "latin1"))).toBeUndefined();
    expect(objectInProtobuf(Buffer.from("{}"))).toBeUndefined();
  });
});

it("a client that sends protobuf is answered in JSON", async () => {
  await using simulator = await startSimulator({ environment: systemEnvironment(), http: true });
  const send = async (bytes: Uint8Array<ArrayBuffer>) =>
    fetch(`${simulator.url}/api/v1/namespaces/pbuf2/configmaps`, {
      method: "POST",
      headers: { "content-type": protobufType },
      body: bytes,
    });
  await simulator.client().request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "pbuf2" } } });
  // As it was read, so its version is still on it: understood, and refused.
  const refused = await send(new Uint8Array(bytesOf("ConfigMap")));
  expect([refused.status, String(objectAt(await refused.json()).message)]).toEqual([
    500,
    "resourceVersion should not be set on objects to be created",
  ]);
  const unknown = await send(new Uint8Array(Buffer.from("k8s\0")));
  expect([unknown.status, String(objectAt(await unknown.json()).reason)]).toEqual([501, "NotImplemented"]);
});
