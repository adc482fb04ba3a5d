import { describe, expect, it } from "vitest";
import type { ConfigMap } from "../objects/kinds/core/config.ts";
import type { ObjectOf, Stored } from "../objects/object.ts";
import { Snapshot } from "./snapshot.ts";
import { ObjectStore } from "./store.ts";

type Object = Stored<ObjectOf<typeof ConfigMap>>;

const object = (name: string, namespace = "a", version = "1"): Object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name, namespace, uid: `uid of ${namespace}/${name}`, resourceVersion: version },
});

/** A store that holds these, and what it tells from now on. */
function storeOf(...objects: readonly Object[]) {
  const store = new ObjectStore<Object>((error) => expect.unreachable(String(error)));
  for (const each of objects) store.put(each, { listed: false });
  const told: string[] = [];
  store.onChange(({ type, object: { metadata } }) => told.push(`${type} ${metadata.namespace}/${metadata.name}`));
  return { store, told };
}

describe("a listing", () => {
  it("into an empty store adds what it has", () => {
    const { store, told } = storeOf();
    const snapshot = new Snapshot(store);
    snapshot.put(object("x"));
    snapshot.put(object("y", "b"));
    snapshot.finish();
    expect(told).toEqual(["added a/x", "added b/y"]);
  });

  it("ends what is not in it", () => {
    const { store, told } = storeOf(object("gone"), object("stays"));
    const snapshot = new Snapshot(store);
    snapshot.put(object("stays"));
    snapshot.put(object("new"));
    expect(told).toEqual(["added a/new"]);
    snapshot.finish();
    expect(told).toEqual(["added a/new", "removed a/gone"]);
  });

  it("is believed, even where it is older: the cluster was restored from a backup", () => {
    const { store, told } = storeOf(object("x", "a", "9"));
    new Snapshot(store).put(object("x", "a", "4"));
    expect(told).toEqual(["changed a/x"]);
  });

  it("after one that broke off ends what only that one had", () => {
    const { store, told } = storeOf();
    new Snapshot(store).put(object("gone since"));
    const second = new Snapshot(store);
    second.put(object("x"));
    second.finish();
    expect(told).toEqual(["added a/gone since", "added a/x", "removed a/gone since"]);
  });

  it("of one namespace ends nothing in another, and knows that its own was empty", () => {
    const { store, told } = storeOf(object("x", "b"));
    const snapshot = new Snapshot(store, "a");
    snapshot.put(object("x"));
    snapshot.finish();
    expect(told).toEqual(["added a/x"]);
    new Snapshot(store, "a").finish();
    expect(told).toEqual(["added a/x", "removed a/x"]);
  });

  it("that is streamed may take back what it has told", () => {
    const { store, told } = storeOf();
    const snapshot = new Snapshot(store);
    snapshot.put(object("x"));
    snapshot.remove(object("x", "a", "2"));
    snapshot.finish();
    expect(told).toEqual(["added a/x", "removed a/x"]);
  });
});
