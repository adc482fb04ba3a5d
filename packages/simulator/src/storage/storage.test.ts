import { manualClock } from "@memhog/runtime/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiObject } from "../json.ts";
import { ChangedError, CompactedError, memoryStorage, type StorageEvent } from "./storage.ts";

const kind = { group: "", plural: "configmaps" };
const other = { group: "apps", plural: "deployments" };
const minute = 60_000;

const object = (name: string, more: object = {}): ApiObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "a", name },
  ...more,
});

function stored() {
  const clock = manualClock();
  const storage = memoryStorage({ clock });
  const ref = (name: string) => ({ namespace: "a", name });
  const put = (name: string, more: object = {}) =>
    storage.write({ kind, ref: ref(name), before: storage.get(kind, ref(name)), after: object(name, more) });
  const drop = (name: string) => storage.write({ kind, ref: ref(name), before: storage.get(kind, ref(name)), after: undefined });
  const names = (at?: bigint) => storage.list(kind, { namespace: "a" }, at).map(({ metadata }) => metadata.name);
  return { clock, storage, put, drop, names };
}

describe("resource versions", () => {
  it("increase by one with every write of any kind", () => {
    const { storage, put } = stored();
    const before = storage.version;
    put("x");
    storage.write({ kind: other, ref: { name: "y" }, before: undefined, after: object("y") });
    put("x", { data: { a: "b" } });
    expect(storage.version).toBe(before + 3n);
    expect(storage.get(kind, { namespace: "a", name: "x" })?.metadata.resourceVersion).toBe(String(storage.version));
  });

  it("are set on the stored object, which is frozen and shared by all readers", () => {
    const { storage, put } = stored();
    const written = put("x", { data: { a: "b" } });
    expect(written).toBe(storage.get(kind, { namespace: "a", name: "x" }));
    expect(Object.isFrozen(written.data)).toBe(true);
  });
});

describe("a write", () => {
  it("of an object that changed after it was read throws ChangedError and changes nothing", () => {
    const { storage, put, names } = stored();
    const before = put("x");
    put("x", { data: { a: "b" } });
    const version = storage.version;
    const ref = { namespace: "a", name: "x" };
    expect(() => storage.write({ kind, ref, before, after: undefined })).toThrow(ChangedError);
    expect(() => storage.write({ kind, ref, before: undefined, after: object("x") })).toThrow(ChangedError);
    expect([storage.version, names()]).toEqual([version, ["x"]]);
  });

  it("without before and after throws TypeError", () => {
    const { storage } = stored();
    expect(() => storage.write({ kind, ref: { name: "x" }, before: undefined, after: undefined })).toThrow(TypeError);
  });
});

describe("a list", () => {
  it("is sorted by key, so that namespace a-b comes before namespace a", () => {
    const { storage } = stored();
    for (const [namespace, name] of [
      ["a", "b"],
      ["a-b", "a"],
      ["a", "a"],
      ["b", "a"],
    ] as const) {
      const after = { ...object(name), metadata: { namespace, name } };
      storage.write({ kind, ref: { namespace, name }, before: undefined, after });
    }
    const keys = storage.list(kind).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(keys).toEqual(["a-b/a", "a/a", "a/b", "b/a"]);
    expect(storage.list(kind, { namespace: "a" })).toHaveLength(2);
  });

  it("at a past version shows the state at that version", () => {
    const writes = fc.array(fc.tuple(fc.constantFrom("x", "y", "z"), fc.constantFrom("put", "drop"), fc.nat(3)), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(writes, (steps) => {
        const { storage, put, drop } = stored();
        const moments = new Map<bigint, string>();
        const shown = (at?: bigint) => JSON.stringify(storage.list(kind, {}, at));
        for (const [name, step, value] of steps) {
          const there = storage.get(kind, { namespace: "a", name }) !== undefined;
          if (step === "put") put(name, { value });
          else if (there) drop(name);
          moments.set(storage.version, shown());
        }
        for (const [version, then] of moments) expect(shown(version)).toBe(then);
      }),
    );
  });
});

describe("a watch", () => {
  it("receives every later write once and in order, past events first", () => {
    const { storage, put, drop } = stored();
    put("x");
    const from = storage.version;
    put("y");
    const heard: string[] = [];
    const tell = ({ type, object: { metadata } }: StorageEvent) => heard.push(`${type} ${metadata.name}`);
    const cancel = storage.watch(kind, { namespace: "a" }, from, tell);
    put("y", { data: {} });
    drop("x");
    cancel();
    put("z");
    expect(heard).toEqual(["ADDED y", "MODIFIED y", "DELETED x"]);
  });

  it("receives a deletion with the last state and its own resourceVersion", () => {
    const { storage, put, drop } = stored();
    put("x", { data: { a: "b" } });
    const events: StorageEvent[] = [];
    storage.watch(kind, {}, storage.version, (event) => events.push(event));
    drop("x");
    expect(events[0]?.object).toMatchObject({ data: { a: "b" }, metadata: { resourceVersion: String(storage.version) } });
  });

  it("does not receive events of other kinds and namespaces", () => {
    const { storage, put } = stored();
    const heard: StorageEvent[] = [];
    storage.watch(other, {}, storage.version, (event) => heard.push(event));
    storage.watch(kind, { namespace: "b" }, storage.version, (event) => heard.push(event));
    put("x");
    expect(heard).toEqual([]);
  });
});

describe("history", () => {
  it("cannot be read after compaction", () => {
    const { storage, put } = stored();
    put("x");
    const then = storage.version;
    put("y");
    storage.compact(storage.version);
    expect(() => storage.list(kind, {}, then)).toThrow(CompactedError);
    expect(() => storage.watch(kind, {}, then, () => {})).toThrow(CompactedError);
    expect(() => storage.watch(kind, {}, storage.version, () => {})).not.toThrow();
  });

  it("is kept for at least five minutes and then compacted", async () => {
    const { clock, storage, put, names } = stored();
    put("x");
    const then = storage.version;
    for (let minutes = 0; minutes < 4; minutes += 1) {
      await clock.advance(minute);
      put("y", { minutes });
    }
    expect(names(then)).toEqual(["x"]);
    for (let minutes = 0; minutes < 4; minutes += 1) {
      await clock.advance(minute);
      put("y", { minutes });
    }
    expect(() => names(then)).toThrow(CompactedError);
  });
});
