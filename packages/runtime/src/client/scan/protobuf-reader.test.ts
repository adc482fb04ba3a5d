import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../../objects/kinds/core/config.ts";
import { Pod } from "../../objects/kinds/core/pod.ts";
import type { Kind, Stored } from "../../objects/object.ts";
import { protobufOf } from "./protobuf-reader.ts";
import { whole } from "./unread.ts";

interface Golden {
  readonly protobuf: string;
  readonly json: { readonly metadata: { readonly resourceVersion: string }; readonly items: readonly Stored<Pod>[] };
}

const golden = JSON.parse(readFileSync(join(import.meta.dirname, "generated/pods.golden.json"), "utf8")) as Golden;
const bytes = Buffer.from(golden.protobuf, "base64");

function read(from: Buffer, chunkBytes: number) {
  const reader = protobufOf(Pod)?.reader();
  if (reader === undefined) throw new Error("expected to know pods");
  const objects: Stored<Pod>[] = [];
  for (let at = 0; at < from.length; at += chunkBytes) {
    reader.push(from.subarray(at, at + chunkBytes));
    for (let object = reader.next(); object !== undefined; object = reader.next()) objects.push(whole(object) as Stored<Pod>);
  }
  return { objects, ...reader.finish() };
}

/** What every answer begins with: of which kind it is. */
const start = (kind: string) =>
  Buffer.from([...Buffer.from("k8s\0"), 0x0a, 2 + kind.length, 0x12, kind.length, ...Buffer.from(kind)]);

describe("a list in protobuf", () => {
  it("gives what the same server says in JSON", () => {
    const { objects, resourceVersion } = read(bytes, 1000);
    expect(resourceVersion).toBe(golden.json.metadata.resourceVersion);
    expect(objects).toEqual(golden.json.items);
  });

  it("gives an object to be read at once, and says so to whoever reads it later", () => {
    const reader = protobufOf(Pod)?.reader();
    reader?.push(bytes);
    const first = reader?.next() as Stored<Pod>;
    expect(first.metadata.name).toBe(golden.json.items[0]?.metadata.name);
    reader?.next();
    expect(() => first.spec?.containers).toThrow(/expected a projection to read what it wants at once/);
    expect(first.metadata.name).toBe(golden.json.items[0]?.metadata.name); // that much was read
  });

  it("gives the same wherever it is cut into chunks", () => {
    const whole = read(bytes, bytes.length).objects;
    for (const size of [1, 2, 3, 7, 64, 1021, 4096]) expect(read(bytes, size).objects).toEqual(whole);
  });

  it("is an error if it is cut anywhere", () => {
    const end = bytes.length - 4; // the list; behind it are two empty fields of the envelope
    for (let length = 1; length < end; length += 101) {
      expect(() => read(bytes.subarray(0, length), 512)).toThrow(/expected|found/);
    }
  });

  it("may be empty", () => {
    const envelope = Buffer.from([...start("PodList"), 0x12, 5, 0x0a, 3, 0x12, 1, 0x37, 0x1a, 0, 0x22, 0]);
    for (const size of [1, 4, 100]) expect(read(envelope, size)).toEqual({ objects: [], items: [], resourceVersion: "7" });
  });

  it.each([
    { name: "one object", begins: start("Pod"), found: "Pod" },
    { name: "a refusal", begins: start("Status"), found: "Status" },
    { name: "something nameless", begins: Buffer.from("k8s\0"), found: "what does not say what it is" },
  ])("is not $name", ({ begins, found }) => {
    const bytes = Buffer.concat([begins, Buffer.from([0x12, 3, 0x0a, 1, 0x61])]);
    for (const size of [1, 4, 100]) expect(() => read(bytes, size)).toThrow(`a list, found ${found}`);
  });

  it("leaves fields out that it has no name for", () => {
    const unknown = Buffer.from([0xfa, 0x3f, 3, 1, 2, 3]); // field 1023, three bytes
    const pod = Buffer.concat([Buffer.from([0x0a, 3, 0x0a, 1, 0x61]), unknown]); // metadata: { name: "a" }
    const list = Buffer.concat([Buffer.from([0x0a, 3, 0x12, 1, 0x37, 0x12, pod.length]), pod]);
    const envelope = Buffer.concat([start("PodList"), Buffer.from([0x12, list.length]), list, Buffer.from([0x1a, 0, 0x22, 0])]);
    expect(read(envelope, 5)).toMatchObject({ objects: [{ metadata: { name: "a" } }], resourceVersion: "7" });
  });

  it("may have any text as a key, and bytes as a value", () => {
    const key = Buffer.from("__proto__");
    const entry = Buffer.concat([Buffer.from([0x0a, key.length]), key, Buffer.from([0x12, 1, 0x78])]); // 1: key, 2: "x"
    const object = Buffer.concat([Buffer.from([0x12, entry.length]), entry, Buffer.from([0x1a, 1, 0x79])]); // 2: data, 3: type
    const list = Buffer.concat([Buffer.from([0x12, object.length]), object]);
    const read = (kind: Kind) => {
      const reader = protobufOf(kind)?.reader();
      reader?.push(Buffer.concat([start(`${kind.kind}List`), Buffer.from([0x12, list.length]), list]));
      return whole(reader?.next()) as { readonly data: object; readonly type?: string };
    };
    expect(Object.entries(read(ConfigMap).data)).toEqual([["__proto__", "x"]]);
    const secret = read(Secret);
    expect([Object.entries(secret.data), secret.type]).toEqual([[["__proto__", "eA=="]], "y"]);
  });

  it("is not asked for where a kind is not Kubernetes' own", () => {
    expect(protobufOf({ ...Pod, group: "example.com" })).toBeUndefined();
    expect(protobufOf({ ...Pod, group: "apps.example.com", version: "v1", kind: "Deployment" })).toBeUndefined();
    expect(protobufOf({ ...Pod, group: "apps", version: "v1", kind: "Deployment" })).toBeDefined();
  });
});
