import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { JsonListReader } from "./json-reader.ts";

/** What a reader makes of a text that comes in chunks of this size, and how many objects it gave before the end. */
function read(text: string, chunkBytes: number) {
  const bytes = Buffer.from(text);
  const reader = new JsonListReader();
  const objects: object[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    reader.push(bytes.subarray(at, at + chunkBytes));
    for (let object = reader.next(); object !== undefined; object = reader.next()) objects.push(object);
  }
  const early = objects.length;
  const { items, resourceVersion } = reader.finish();
  return { objects: [...objects, ...items], early, resourceVersion };
}

const pods = ["a", "žluťoučký 🐎", "c"].map((name) => ({ metadata: { name }, spec: { containers: [{ name }] } }));
const list = (items: unknown) => ({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "7" }, items });

describe("a list in JSON", () => {
  it("gives the same objects wherever it is cut into chunks, all but the last before its end", () => {
    const text = JSON.stringify(list(pods));
    for (let size = 1; size <= Buffer.byteLength(text); size += 1) {
      expect(read(text, size)).toEqual({ objects: pods, early: 2, resourceVersion: "7" });
    }
  });

  it("is not misled by objects that contain what stands between objects", () => {
    const claims = [{ metadata: { name: "x" } }, { metadata: { name: "y" } }, { metadata: { name: "z" } }];
    const tricky = [1, 2, 3].map((n) => ({ metadata: { name: `${n}`, note: '},{"metadata":' }, spec: { claims } }));
    expect(read(JSON.stringify(list(tricky)), 50)).toEqual({ objects: tricky, early: 2, resourceVersion: "7" });
  });

  it("parses no byte more than thrice, whatever is in an object", () => {
    const owners = Array.from({ length: 300 }, (_, n) => ({ metadata: { name: `owner-${n}` } }));
    const items = [1, 2, 3].map((n) => ({ metadata: { name: `${n}`, owners }, data: JSON.stringify(owners) }));
    const text = JSON.stringify(list(items));
    using parse = vi.spyOn(JSON, "parse");
    expect(read(text, 4096)).toEqual({ objects: items, early: 2, resourceVersion: "7" });
    const parsed = parse.mock.calls.reduce((sum, [each]) => sum + each.length, 0);
    expect(parsed).toBeLessThan(3 * text.length);
  });

  it("may have its metadata behind the objects, as lists of custom resources have", () => {
    const items = [1, 2].map((n) => ({ apiVersion: "x/v1", kind: "X", metadata: { name: `${n}` } }));
    const text = JSON.stringify({ apiVersion: "x/v1", items, kind: "XList", metadata: { continue: "", resourceVersion: "8" } });
    expect(read(text, 10)).toEqual({ objects: items, early: 1, resourceVersion: "8" });
  });

  it.each([
    { name: "with blanks", text: JSON.stringify(list(pods), null, 2), objects: pods },
    { name: "without objects", text: JSON.stringify(list([])), objects: [] },
    { name: "with null for objects", text: JSON.stringify(list(null)), objects: [] },
    {
      name: "of objects that begin differently",
      text: JSON.stringify(list([pods[0], { kind: "Pod" }])),
      objects: [pods[0], { kind: "Pod" }],
    },
  ])("is read to the end $name", ({ text, objects }) => {
    expect(read(text, 7)).toMatchObject({ objects, resourceVersion: "7" });
  });

  it("is an error if it is cut anywhere, and never quotes what it read", () => {
    const text = JSON.stringify(list([{ metadata: { name: "s3cret" } }, { metadata: { name: "s3cret" } }]));
    for (let length = 1; length < text.length; length += 1) {
      expect(() => read(text.slice(0, length), 16)).toThrow(/^a whole list, found \d+ characters of none$/);
    }
  });

  it.each([
    { name: "an object", text: '{"kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"5"}}' },
    { name: "a refusal", text: '{"kind":"Status","metadata":{},"status":"Failure","code":403}' },
    { name: "nothing", text: "null" },
  ])("is not $name, which is no list without objects", ({ text }) => {
    expect(() => read(text, 7)).toThrow(/^a whole list, found \d+ characters of none$/);
  });

  it("gives back any objects that JSON can say", () => {
    const item = fc.record({ metadata: fc.record({ name: fc.string() }), rest: fc.jsonValue() });
    const property = fc.property(fc.array(item), fc.integer({ min: 1, max: 100 }), (items, size) => {
      const plain: unknown = JSON.parse(JSON.stringify(items));
      expect(read(JSON.stringify(list(items)), size).objects).toEqual(plain);
    });
    fc.assert(property);
  });

  it("gives back any objects that contain what looks like the next one", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('},{"metadata":', "\\", '"', '\\"', "}]", "[{", "ž🐎"));
    // Not with a backslash in a key: V8 13.6 may then give back another key than was written.
    const key = text.filter((each) => !each.includes("\\"));
    const inner = fc.record({ metadata: fc.dictionary(key, text) });
    const item = fc.record({ metadata: fc.record({ name: text }), claims: fc.array(inner), note: text });
    const property = fc.property(fc.array(item), fc.integer({ min: 1, max: 100 }), (items, size) => {
      const plain = JSON.parse(JSON.stringify(items)) as unknown[];
      const { objects, early } = read(JSON.stringify(list(items)), size);
      expect(objects).toEqual(plain);
      expect(early).toBe(Math.max(0, plain.length - 1));
    });
    fc.assert(property);
  });
});
