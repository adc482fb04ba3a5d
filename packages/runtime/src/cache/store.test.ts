import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import type { Stored } from "../objects/object.ts";
import { indexBy } from "./object-index.ts";
import { ObjectStore } from "./store.ts";

const watched = { listed: false } as const;
const listed = { listed: true } as const;

function config(name: string, version: number, more: { uid?: string; data?: Record<string, string>; owner?: string } = {}) {
  const { uid = `uid-of-${name}`, data = {}, owner } = more;
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: "v1", kind: "Owner", name: "owner", uid: owner }];
  const metadata = { namespace: "home", name, uid, resourceVersion: `${version}`, ownerReferences };
  return { metadata, data } as Stored<ConfigMap>;
}

/** A store, and what it tells: "added a@1". */
function told() {
  const changes: string[] = [];
  const store = new ObjectStore<ConfigMap>((error) => changes.push(String(error)));
  store.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`));
  return { store, changes };
}

describe("the store", () => {
  it("tells additions, changes and removals", () => {
    const { store, changes } = told();
    store.put(config("a", 1), watched);
    store.put(config("a", 2), watched);
    store.remove(config("a", 3), watched);
    expect(changes).toEqual(["added a@1", "changed a@2", "removed a@3"]);
    expect(store.size).toBe(0);
  });

  it("W3: takes a duplicate ADDED for what it is", () => {
    const { store, changes } = told();
    store.put(config("a", 1), watched);
    store.put(config("a", 1), watched);
    expect(changes).toEqual(["added a@1"]);
  });

  it("W3: ignores an event older than what it has, of the same object and of its predecessor", () => {
    const { store, changes } = told();
    store.put(config("a", 9), watched);
    store.put(config("a", 8), watched);
    store.remove(config("a", 8, { uid: "predecessor" }), watched);
    expect(changes).toEqual(["added a@9"]);
  });

  it("believes a listing even if it is older: the cluster was restored from a backup", () => {
    const { store } = told();
    store.put(config("a", 9, { data: { since: "lost" } }), watched);
    store.put(config("a", 4), listed);
    expect(store.get({ namespace: "home", name: "a" })?.metadata.resourceVersion).toBe("4");
  });

  it("W4: another UID under one name is a removal and an addition", () => {
    const { store, changes } = told();
    store.put(config("a", 1, { uid: "first" }), watched);
    store.put(config("a", 2, { uid: "second" }), watched);
    expect(changes).toEqual(["added a@1", "removed a@1", "added a@2"]);
  });

  it("W4: the end of a life that was never seen ends the one before it, too", () => {
    const { store, changes } = told();
    store.put(config("a", 1, { uid: "first" }), watched);
    store.remove(config("a", 3, { uid: "second" }), watched);
    expect(changes).toEqual(["added a@1", "removed a@1"]);
  });

  it("W4: another UID is another life, even of the same version: the cluster was restored from a backup", () => {
    const { store, changes } = told();
    store.put(config("a", 5, { uid: "first" }), watched);
    store.put(config("a", 5, { uid: "second" }), listed);
    expect(changes).toEqual(["added a@5", "removed a@5", "added a@5"]);
  });

  it("believes a listing that something is gone, however old", () => {
    const { store, changes } = told();
    store.put(config("a", 5), watched);
    store.remove(config("a", 4), listed);
    expect(changes).toEqual(["added a@5", "removed a@4"]);
  });

  it("tells nothing of the end of what it never had", () => {
    const { store, changes } = told();
    store.remove(config("a", 1), watched);
    store.remove(config("a", 1), listed);
    expect([changes, store.size]).toEqual([[], 0]);
  });

  it("finds the children of an owner, through changes and removals", () => {
    const { store } = told();
    const names = (owner: string) => store.ownedBy(owner).map(({ metadata }) => metadata.name);
    store.put(config("a", 1, { owner: "x" }), watched);
    store.put(config("b", 2, { owner: "x" }), watched);
    expect(names("x")).toEqual(["a", "b"]);
    store.put(config("a", 3, { owner: "y" }), watched);
    expect([names("x"), names("y")]).toEqual([["b"], ["a"]]);
    store.remove(config("b", 4, { owner: "x" }), watched);
    expect(names("x")).toEqual([]);
  });

  it("builds an index when it is first asked, and keeps it", () => {
    const { store } = told();
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

  it("E3: an index that throws on one object finds the others", () => {
    const { store } = told();
    const picky = indexBy(ConfigMap, (config) => {
      if (config.metadata.name === "odd") throw new Error("odd");
      return "fine";
    });
    store.put(config("odd", 1), watched);
    store.put(config("a", 2), watched);
    expect(store.lookup(picky.values, "fine").map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  it("E3: a listener that throws keeps nothing from those after it, and is told of", () => {
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

  it("keeps what replicas have in common once", () => {
    const { store } = told();
    store.put(config("a", 1, { data: { colour: "red" } }), listed);
    store.put(config("b", 2, { data: { colour: "red" } }), listed);
    const [a, b] = store.objects();
    expect(b?.data).toBe(a?.data);
  });

  it("lists one namespace or all", () => {
    const { store } = told();
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
