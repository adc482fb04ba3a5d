import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { eventually } from "../testing/eventually.ts";
import { loopback } from "../testing/loopback.ts";
import type { ScanOptions } from "./client.ts";
import { createClient } from "./create-client.ts";
import * as errors from "./errors.ts";
import { BrokenListError, JsonListReader } from "./list-stream.ts";

const items = ["a", "b", "c"].map((name) => ({ metadata: { namespace: "x", name } }));
const list = JSON.stringify({ kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "7" }, items });

type Answer = Parameters<typeof loopback>[0];

/** The names that a scan of this server gives, and how it ends. */
async function scanning(answer: Answer, options: ScanOptions = {}, environment = systemEnvironment()) {
  await using server = await loopback(answer);
  const client = createClient({ config: server.config, environment });
  const names: string[] = [];
  try {
    const end = await client.scan?.(ConfigMap, ({ kind, metadata }) => names.push(`${kind} ${metadata.name}`), options);
    return { names, end };
  } catch (end) {
    return { names, end };
  } finally {
    await client.close();
  }
}

describe("a scan", () => {
  it("passes on every object, typed as in a watch, and returns the resourceVersion of the list", async () => {
    const { names, end } = await scanning((_request, response) => response.end(list));
    expect(names).toEqual(["ConfigMap a", "ConfigMap b", "ConfigMap c"]);
    expect(end).toEqual({ resourceVersion: "7" });
  });

  it("sends the requested options and asks for JSON", async () => {
    const asked: unknown[] = [];
    const answer: Answer = (request, response) => {
      asked.push([request.url, request.headers.accept]);
      response.end(list);
    };
    await scanning(answer, { namespace: "x", labelSelector: "a=b" });
    expect(asked).toEqual([["/api/v1/namespaces/x/configmaps?labelSelector=a%3Db", "application/json"]]);
  });

  it.each([
    { name: "a refusal", answer: (r) => r.writeHead(403).end("{}"), error: errors.ForbiddenError },
    { name: "the end of its history", answer: (r) => r.writeHead(410).end(), error: errors.ExpiredError },
    { name: "a page for people", answer: (r) => r.end("<html>log in</html>"), error: errors.AnswerError },
    { name: "nothing", answer: (r) => r.end(), error: errors.AnswerError },
    { name: "half a list", answer: (r) => r.end(list.slice(0, -40)), error: errors.BrokenStreamError },
    {
      name: "a connection that is cut",
      answer: (r) => r.write(list.slice(0, 90), () => r.destroy()),
      error: errors.TransportError,
    },
  ] satisfies { name: string; answer: (response: Parameters<Answer>[1]) => unknown; error: unknown }[])(
    "throws if the response is $name",
    async ({ answer, error }) => {
      expect((await scanning((_request, response) => void answer(response))).end).toBeInstanceOf(error);
    },
  );

  it("is not retried, and reports Retry-After of a busy server", async () => {
    let asked = 0;
    const { end } = await scanning((_request, response) => {
      asked += 1;
      response.writeHead(429, { "retry-after": "7" }).end();
    });
    expect(end).toBeInstanceOf(errors.TooManyRequestsError);
    expect(end).toMatchObject({ retryAfterSeconds: 7 });
    expect(asked).toBe(1); // whoever keeps a cache has a back-off of its own
  });

  it("times out when no data arrives for too long", async () => {
    const environment = manualEnvironment();
    let began = false;
    const project = <T>(object: T): T => {
      began = true; // not before: until there is an answer, its deadline is another one
      return object;
    };
    const answer: Answer = (_request, response) => response.write(list.slice(0, -40));
    const scan = scanning(answer, { idleMs: 1_000, project }, environment);
    await eventually(() => began, Boolean);
    let ended: unknown;
    void scan.then(({ end }) => (ended = end));
    while (ended === undefined) await environment.clock.advance(1_000);
    expect(ended).toBeInstanceOf(errors.IdleWatchError);
  });

  it("times out when the response does not begin in time", async () => {
    const environment = manualEnvironment();
    const scan = scanning(() => {}, { idleMs: 600_000, timeoutMs: 7_000 }, environment);
    let ended: unknown;
    void scan.then(({ end }) => (ended = end));
    while (ended === undefined) await environment.clock.advance(1_000);
    expect(ended).toBeInstanceOf(errors.TimeoutError);
    expect(String(ended)).toContain(" 7000 ms");
  });

  it("rejects with the reason of its signal", async () => {
    const controller = new AbortController();
    const answer: Answer = (_request, response) => response.write(list.slice(0, 90), () => controller.abort("enough"));
    expect((await scanning(answer, { signal: controller.signal })).end).toBe("enough");
  });
});

/** What a reader makes of a text that comes in chunks of this size, and how many objects it gave before the end. */
function read(text: string, chunkBytes: number, maxBytes?: number) {
  const bytes = Buffer.from(text);
  const reader = new JsonListReader(maxBytes);
  const objects: object[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) objects.push(...reader.push(bytes.subarray(at, at + chunkBytes)));
  const early = objects.length;
  const { items, resourceVersion } = reader.finish();
  return { objects: [...objects, ...items], early, resourceVersion };
}

/** What `JSON.parse` says about the same text: the elements of a list, or undefined if it is not a list of objects. */
function parsedWhole(text: string): readonly object[] | undefined {
  try {
    const { metadata, items } = JSON.parse(text) as { metadata?: unknown; items?: unknown };
    const isObject = (each: unknown) => typeof each === "object" && each !== null && !Array.isArray(each);
    if (metadata === undefined || (items !== null && !(Array.isArray(items) && items.every(isObject)))) return undefined;
    return (items as object[] | null) ?? [];
  } catch {
    return undefined;
  }
}

function readOrUndefined(text: string, chunkBytes: number): readonly object[] | undefined {
  try {
    return read(text, chunkBytes).objects;
  } catch (error) {
    if (error instanceof BrokenListError) return undefined;
    throw error;
  }
}

const pods = ["a", "žluťoučký 🐎", "c"].map((name) => ({ metadata: { name }, spec: { containers: [{ name }] } }));
const podList = (items: unknown) => ({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "7" }, items });

describe("a list in JSON", () => {
  it("yields the same objects for any chunk boundaries, each as soon as it is complete", () => {
    const text = JSON.stringify(podList(pods));
    for (let size = 1; size <= Buffer.byteLength(text); size += 1) {
      expect(read(text, size)).toEqual({ objects: pods, early: 3, resourceVersion: "7" });
    }
  });

  it("is not confused by objects that contain the separators of the list", () => {
    const claims = [{ metadata: { name: "x" } }, { metadata: { name: "y" } }, { metadata: { name: "z" } }];
    const tricky = [1, 2, 3].map((n) => ({ metadata: { name: `${n}`, note: '},{"metadata":' }, spec: { claims } }));
    expect(read(JSON.stringify(podList(tricky)), 50)).toEqual({ objects: tricky, early: 3, resourceVersion: "7" });
  });

  it.each([
    { name: "deeper in the frame", text: '{"metadata":{"items":[{"no":1}],"resourceVersion":"7"},"items":[{"yes":1}]}' },
    {
      name: "in an array of the frame",
      text: '{"x":[{"items":[{"no":1}]}],"metadata":{"resourceVersion":"7"},"items":[{"yes":1}]}',
    },
    { name: "as a value", text: '{"kind":"items","x":[{"no":1}],"metadata":{"resourceVersion":"7"},"items":[{"yes":1}]}' },
    { name: "in a string", text: String.raw`{"x":"\"items\":[{}","metadata":{"resourceVersion":"7"},"items":[{"yes":1}]}` },
    {
      name: "at the end of a longer key",
      text: '{"no items":[{"no":1}],"metadata":{"resourceVersion":"7"},"items":[{"yes":1}]}',
    },
    {
      name: "at the start of a longer key",
      text: '{"items no":[{"no":1}],"metadata":{"resourceVersion":"7"},"items":[{"yes":1}]}',
    },
    { name: "written with an escape", text: String.raw`{"metadata":{"resourceVersion":"7"},"\u0069tems":[{"yes":1}]}` },
  ])("takes the top-level items, not what looks like it $name", ({ text }) => {
    for (let size = 1; size <= text.length; size += 1) {
      expect(read(text, size)).toMatchObject({ objects: [{ yes: 1 }], resourceVersion: "7" });
    }
  });

  it("omits metadata.managedFields for any chunk boundaries, and nothing else of that name", () => {
    const managedFields = [{ manager: "a", fieldsV1: { "f:x": { "]": '[}\\"' } } }, {}];
    const inside = { managedFields: [1], metadata: { managedFields: [2] } };
    const items = [
      { metadata: { name: "a", managedFields }, spec: inside },
      { spec: inside, metadata: { managedFields, name: "b", labels: { managedFields: "kept" } } },
      { metadata: { name: "c", managedFields: [] }, managedFields: [3], data: { managedFields: "kept" } },
      { managedFields: [4], metadata: null },
    ];
    const expected = items.map(({ metadata, ...rest }) => {
      const { managedFields: _, ...lean } = metadata ?? {};
      return { ...rest, metadata: metadata === null ? null : lean };
    });
    for (const text of [JSON.stringify(podList(items)), JSON.stringify(podList(items), null, 1)]) {
      for (let size = 1; size <= Buffer.byteLength(text); size += 1) expect(read(text, size).objects).toEqual(expected);
    }
  });

  it("rejects managedFields whose brackets do not match", () => {
    for (const broken of ["[}]", "[{]", "[", '["]'])
      expect(() => read(`{"metadata":{},"items":[{"metadata":{"managedFields":${broken}}}]}`, 9)).toThrow(/^a complete list/);
  });

  it("parses every byte once, for any object", () => {
    const owners = Array.from({ length: 300 }, (_, n) => ({ metadata: { name: `owner-${n}` } }));
    const items = [1, 2, 3].map((n) => ({ metadata: { name: `${n}`, owners }, data: JSON.stringify(owners) }));
    const text = JSON.stringify(podList(items));
    using parse = vi.spyOn(JSON, "parse");
    expect(read(text, 4096)).toEqual({ objects: items, early: 3, resourceVersion: "7" });
    const parsed = parse.mock.calls.reduce((sum, [each]) => sum + each.length, 0);
    expect(parsed).toBeLessThanOrEqual(text.length);
  });

  it("can have its metadata after the items, as lists of custom resources do", () => {
    const items = [1, 2].map((n) => ({ apiVersion: "x/v1", kind: "X", metadata: { name: `${n}` } }));
    const text = JSON.stringify({ apiVersion: "x/v1", items, kind: "XList", metadata: { continue: "", resourceVersion: "8" } });
    expect(read(text, 10)).toEqual({ objects: items, early: 2, resourceVersion: "8" });
  });

  it.each([
    { name: "with blanks", text: JSON.stringify(podList(pods), null, 2), objects: pods },
    { name: "without objects", text: JSON.stringify(podList([])), objects: [] },
    { name: "with null for objects", text: JSON.stringify(podList(null)), objects: [] },
    {
      name: "of objects that begin differently",
      text: JSON.stringify(podList([pods[0], { kind: "Pod" }])),
      objects: [pods[0], { kind: "Pod" }],
    },
  ])("is read to the end $name", ({ text, objects }) => {
    expect(read(text, 7)).toMatchObject({ objects, resourceVersion: "7" });
  });

  it("is an error if it is truncated anywhere, and the message never contains the data", () => {
    const text = JSON.stringify(podList([{ metadata: { name: "s3cret" } }, { metadata: { name: "s3cret" } }]));
    for (let length = 1; length < text.length; length += 1) {
      expect(() => read(text.slice(0, length), 16)).toThrow(/^a complete list, found \d+ bytes that are none$/);
    }
  });

  it.each([
    { name: "an object", text: '{"kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"5"}}' },
    { name: "a refusal", text: '{"kind":"Status","metadata":{},"status":"Failure","code":403}' },
    { name: "nothing", text: "null" },
    { name: "a list of numbers", text: '{"metadata":{},"items":[1,2]}' },
    { name: "a list that lacks a comma", text: '{"metadata":{},"items":[{}{}]}' },
    { name: "a list with a comma too many", text: '{"metadata":{},"items":[{},]}' },
    { name: "an object that is closed as a list", text: '{"metadata":{},"items":[{"a":[}]}]}' },
    { name: "items that are an object", text: '{"metadata":{},"items":{"a":1}}' },
    { name: "two lists of items", text: '{"metadata":{},"items":[{}],"items":[{}]}' },
    { name: "two lists of items, the second in disguise", text: String.raw`{"metadata":{},"items":[{}],"\u0069tems":[{}]}` },
    { name: "items that never open", text: `${"[".repeat(100_000)}` },
  ])("is not $name", ({ text }) => {
    for (const size of [1, 7, 1_000_000]) expect(() => read(text, size)).toThrow(/^a complete list, found /);
  });

  it("buffers no more than its limit, for objects and frames of any length", () => {
    const long = "x".repeat(2_000);
    expect(() => read(JSON.stringify(podList([{ long }])), 100, 1_000)).toThrow(/^a complete list, found more than 1000 bytes/);
    expect(() => read(JSON.stringify({ long, ...podList([]) }), 100, 1_000)).toThrow(
      /^a complete list, found more than 1000 bytes/,
    );
    expect(() => read(`{"long":"${long}`, 100, 1_000)).toThrow(/^a complete list, found more than 1000 bytes/);
  });

  it("round-trips any JSON objects", () => {
    const item = fc.record({ metadata: fc.record({ name: fc.string() }), rest: fc.jsonValue() });
    const property = fc.property(fc.array(item), fc.integer({ min: 1, max: 100 }), (items, size) => {
      const plain: unknown = JSON.parse(JSON.stringify(items));
      expect(read(JSON.stringify(podList(items)), size).objects).toEqual(plain);
    });
    fc.assert(property);
  });

  it("round-trips any objects that contain text that looks like another object", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('},{"metadata":', '"items":[', "\\", '"', '\\"', "}]", "[{", "ž🐎"));
    // Not with a backslash in a key: V8 13.6 may then give back another key than was written.
    const key = text.filter((each) => !each.includes("\\"));
    const inner = fc.record({ metadata: fc.dictionary(key, text) });
    const item = fc.record({ metadata: fc.record({ name: text }), claims: fc.array(inner), note: text });
    const property = fc.property(fc.array(item), fc.integer({ min: 1, max: 100 }), (items, size) => {
      const plain = JSON.parse(JSON.stringify(items)) as unknown[];
      const { objects, early } = read(JSON.stringify(podList(items)), size);
      expect(objects).toEqual(plain);
      expect(early).toBe(plain.length);
    });
    fc.assert(property);
  });

  it("accepts and rejects the same almost-valid lists as JSON.parse", () => {
    const word = fc.constantFrom(
      ...['"items"', '"metadata"', '"a"', '"\\""', ":", ",", "{", "}", "[", "]", " ", "1", "null", "\\", '"', "\u000b"],
      ...['"items":[', '"metadata":{}', "{}", "},{"],
    );
    const nearly = fc
      .array(word, { maxLength: 12 })
      .chain((words) => fc.constantFrom(`{"metadata":{},"items":[${words.join("")}]}`, `{${words.join("")}}`, words.join("")));
    const property = fc.property(nearly, fc.integer({ min: 1, max: 20 }), (text, size) => {
      // Of a key that comes twice JSON.parse takes the last: that is rejected here, and compared elsewhere.
      fc.pre(text.split('"items"').length <= 2);
      expect(readOrUndefined(text, size)).toEqual(parsedWhole(text));
    });
    fc.assert(property, { numRuns: 2_000 });
  });
});
