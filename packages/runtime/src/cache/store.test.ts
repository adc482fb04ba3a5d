import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import type { Stored } from "../objects/object.ts";
import { indexBy, ObjectStore, sharing } from "./store.ts";

const watched = { listed: false } as const;
const listed = { listed: true } as const;

function config(name: string, version: number, more: { uid?: string; data?: Record<string, string>; owner?: string } = {}) {
  const { uid = `uid-of-${name}`, data = {}, owner } = more;
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: "v1", kind: "Owner", name: "owner", uid: owner }];
  const metadata = { namespace: "home", name, uid, resourceVersion: `${version}`, ownerReferences };
  return { metadata, data } as Stored<ConfigMap>;
}

/** A store and its changes, such as "added a@1". */
function recordedStore() {
  const changes: string[] = [];
  const store = new ObjectStore<ConfigMap>((error) => changes.push(String(error)));
  store.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`));
  return { store, changes };
}

describe("ObjectStore", () => {
  it("reports additions, changes and removals", () => {
    const { store, changes } = recordedStore();
    store.put(config("a", 1), watched);
    store.put(config("a", 2), watched);
    store.remove(config("a", 3), watched);
    expect(changes).toEqual(["added a@1", "changed a@2", "removed a@3"]);
    expect(store.size).toBe(0);
  });

  it("W3: treats a duplicate ADDED event as a change or ignores it", () => {
    const { store, changes } = recordedStore();
    store.put(config("a", 1), watched);
    store.put(config("a", 1), watched);
    expect(changes).toEqual(["added a@1"]);
  });

  it("W3: ignores events older than the stored object, including those of its predecessor", () => {
    const { store, changes } = recordedStore();
    store.put(config("a", 9), watched);
    store.put(config("a", 8), watched);
    store.remove(config("a", 8, { uid: "predecessor" }), watched);
    expect(changes).toEqual(["added a@9"]);
  });

  it("accepts a list even if it is older: the cluster was restored from a backup", () => {
    const { store } = recordedStore();
    store.put(config("a", 9, { data: { since: "lost" } }), watched);
    store.put(config("a", 4), listed);
    expect(store.get({ namespace: "home", name: "a" })?.metadata.resourceVersion).toBe("4");
  });

  it("W4: reports a new UID under the same name as a removal and an addition", () => {
    const { store, changes } = recordedStore();
    store.put(config("a", 1, { uid: "first" }), watched);
    store.put(config("a", 2, { uid: "second" }), watched);
    expect(changes).toEqual(["added a@1", "removed a@1", "added a@2"]);
  });

  it("W4: removes the stored object if an unseen successor of the same name is deleted", () => {
    const { store, changes } = recordedStore();
    store.put(config("a", 1, { uid: "first" }), watched);
    store.remove(config("a", 3, { uid: "second" }), watched);
    expect(changes).toEqual(["added a@1", "removed a@1"]);
  });

  it("W4: reports a new UID as a new object even at the same version: the cluster was restored from a backup", () => {
    const { store, changes } = recordedStore();
    store.put(config("a", 5, { uid: "first" }), watched);
    store.put(config("a", 5, { uid: "second" }), listed);
    expect(changes).toEqual(["added a@5", "removed a@5", "added a@5"]);
  });

  it("removes an object that a list reports as deleted, whatever its version", () => {
    const { store, changes } = recordedStore();
    store.put(config("a", 5), watched);
    store.remove(config("a", 4), listed);
    expect(changes).toEqual(["added a@5", "removed a@4"]);
  });

  it("reports no removal of an unknown object", () => {
    const { store, changes } = recordedStore();
    store.remove(config("a", 1), watched);
    store.remove(config("a", 1), listed);
    expect([changes, store.size]).toEqual([[], 0]);
  });

  it("finds the children of an owner, through changes and removals", () => {
    const { store } = recordedStore();
    const names = (owner: string) => store.ownedBy(owner).map(({ metadata }) => metadata.name);
    store.put(config("a", 1, { owner: "x" }), watched);
    store.put(config("b", 2, { owner: "x" }), watched);
    expect(names("x")).toEqual(["a", "b"]);
    store.put(config("a", 3, { owner: "y" }), watched);
    expect([names("x"), names("y")]).toEqual([["b"], ["a"]]);
    store.remove(config("b", 4, { owner: "x" }), watched);
    expect(names("x")).toEqual([]);
  });

  it("builds an index on first lookup and keeps it up to date", () => {
    const { store } = recordedStore();
    let looks = 0;
    const byColour = indexBy(ConfigMap, (config) => {
      looks += 1;
      return config.data?.colour;
    });
    const names = (colour: string) => store.lookup(byColour.values, colour).map(({ metadata }) => metadata.name);
    store.put(config("a", 1, { data: { colour: "red" } }), watched);
    expect(names("red")).toEqual(["a"]);
    store.put(config("b", 2, { data: { colour: "red" } }), watched);
    store.put(config("a", 3, { data: { colour: "blue" } }), watched);
    const before = looks;
    expect([names("red"), names("blue"), names("green")]).toEqual([["b"], ["a"], []]);
    expect(looks).toBe(before);
  });

  it("E3: finds the other objects if an index throws on one", () => {
    const { store } = recordedStore();
    const picky = indexBy(ConfigMap, (config) => {
      if (config.metadata.name === "odd") throw new Error("odd");
      return "fine";
    });
    store.put(config("odd", 1), watched);
    store.put(config("a", 2), watched);
    expect(store.lookup(picky.values, "fine").map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  it("E3: calls the other listeners if one throws, and reports the error", () => {
    const changes: string[] = [];
    const store = new ObjectStore<ConfigMap>((error) => changes.push(String(error)));
    store.onChange(() => {
      throw new Error("odd");
    });
    store.onChange(({ type }) => changes.push(type));
    store.put(config("a", 1), watched);
    store.remove(config("a", 2), watched);
    expect(changes).toEqual(["Error: odd", "added", "Error: odd", "removed"]);
  });

  it("stores the common parts of replicas once", () => {
    const { store } = recordedStore();
    store.put(config("a", 1, { data: { colour: "red" } }), listed);
    store.put(config("b", 2, { data: { colour: "red" } }), listed);
    const [a, b] = store.objects();
    expect(b?.data).toBe(a?.data);
  });

  it("lists one namespace or all", () => {
    const { store } = recordedStore();
    store.put(config("a", 1), watched);
    const away = config("b", 2);
    store.put({ ...away, metadata: { ...away.metadata, namespace: "away" } }, watched);
    expect([[...store.objects("home")].length, [...store.objects("nowhere")].length, [...store.objects()].length]).toEqual([
      1, 0, 2,
    ]);
    store.remove(config("a", 3), watched);
    expect([store.isEmpty("home"), store.isEmpty("away"), store.isEmpty()]).toEqual([true, false, false]);
  });
});

const replica = (name: string, ready: boolean) => ({
  metadata: { name, labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1", env: [{ name: "A", value: "1" }] }] },
  status: { conditions: [{ type: "Ready", status: ready }, { type: "Scheduled" }] },
});

describe("sharing", () => {
  it("shares equal parts, and only those", () => {
    const first = replica("web-1", true);
    const second = sharing(replica("web-2", false), first);
    expect(second).toEqual(replica("web-2", false));
    expect(second.spec).toBe(first.spec);
    expect(second.metadata.labels).toBe(first.metadata.labels);
    expect(second.status.conditions[1]).toBe(first.status.conditions[1]);
    expect(second.status.conditions[0]).not.toBe(first.status.conditions[0]);
    expect(first).toEqual(replica("web-1", true));
  });

  it("returns the older object if both are equal", () => {
    const first = replica("web-1", true);
    expect(sharing(replica("web-1", true), first)).toBe(first);
  });

  const cases = [
    { name: "an extra property", object: { a: 1, b: 2 }, like: { a: 1 } },
    { name: "a missing property", object: { a: 1 }, like: { a: 1, b: 2 } },
    { name: "a longer list", object: [1, 2], like: [1] },
    { name: "a shorter list", object: [1], like: [1, 2] },
    { name: "a list and an object", object: [1], like: { 0: 1 } },
    { name: "null and an object", object: { a: null }, like: { a: {} } },
    { name: "text and a number", object: { port: "80" }, like: { port: 80 } },
  ];
  it.each(cases)("does not share: $name", ({ object, like }) => {
    const before = structuredClone(object);
    const otherBefore = structuredClone(like);
    const shared = sharing(object, like);
    expect([shared, like]).toEqual([before, otherBefore]);
    expect(shared).not.toBe(like);
  });

  it("keeps a property that is named like what every object inherits", () => {
    const object = JSON.parse('{"__proto__": {}}');
    expect(JSON.stringify(sharing(object, { a: 1 }))).toBe('{"__proto__":{}}');
  });

  it("leaves frozen objects unchanged", () => {
    const frozen = Object.freeze({ a: "x", b: "y" });
    expect(sharing({ part: frozen }, { part: { a: "x", b: "z" } }).part).toBe(frozen);
  });

  it("never changes the content of either object", () => {
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(json, json, (object, like) => {
        const [before, otherBefore] = [structuredClone(object), structuredClone(like)];
        expect(sharing(object, like)).toEqual(before);
        expect(like).toEqual(otherBefore);
      }),
    );
  });
});
