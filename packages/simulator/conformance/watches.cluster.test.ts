// Watches: initial events, later events, selectors and their end.
import type { WatchEvent, WatchOptions } from "@memhog/runtime/client";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "./kinds.ts";
import { at, type Loose, merge, refusal, world } from "./world.ts";

const here = world();
const path = () => `/api/v1/namespaces/${here.namespace}/configmaps`;
const now = async () => (await here.client.list(ConfigMap, { namespace: here.namespace })).metadata.resourceVersion;
const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });

/** The first events of a watch, without bookmarks. */
async function events(count: number, options: WatchOptions<Loose>): Promise<readonly WatchEvent<Loose>[]> {
  const seen: WatchEvent<Loose>[] = [];
  for await (const event of here.client.watch(ConfigMap, { namespace: here.namespace, ...options })) {
    if (event.type !== "BOOKMARK") seen.push(event);
    if (seen.length === count) break;
  }
  return seen;
}

/** The type and one data value of each event. */
const story = (seen: readonly WatchEvent<Loose>[]) =>
  seen.map((event) => (event.type === "BOOKMARK" ? [event.type] : [event.type, event.object.data?.x]));

/** All lines of a watch response, parsed. */
async function lines(query: Record<string, string | number | boolean>): Promise<readonly Loose[]> {
  const text = await here.client.request({ path: path(), query: { watch: true, timeoutSeconds: 1, ...query } });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("a watch", () => {
  it("returns everything after its resourceVersion, in order", async () => {
    const resourceVersion = await now();
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    await here.client.patch(ConfigMap, at(made), merge({ data: { x: "2" } }));
    await here.client.delete(ConfigMap, at(made));
    const seen = await events(3, { resourceVersion, ...named(made.metadata.name) });
    expect(story(seen)).toEqual([
      ["ADDED", "1"],
      ["MODIFIED", "2"],
      ["DELETED", "2"],
    ]);
  });

  it("returns a deleted object with the resourceVersion of its deletion", async () => {
    const made = await here.make(ConfigMap);
    const resourceVersion = made.metadata.resourceVersion;
    await here.client.delete(ConfigMap, at(made));
    const [gone] = await events(1, { resourceVersion, ...named(made.metadata.name) });
    expect(gone).toMatchObject({ type: "DELETED", object: { metadata: { uid: made.metadata.uid } } });
    expect(BigInt(gone?.type === "DELETED" ? gone.object.metadata.resourceVersion : 0)).toBeGreaterThan(BigInt(resourceVersion));
  });

  it("without a resourceVersion starts with the existing objects", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    const [first] = await events(1, named(made.metadata.name));
    expect(first).toEqual({ type: "ADDED", object: made });
  });

  it("with resourceVersion 0 starts with the existing objects", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    const [first] = await events(1, { resourceVersion: "0", ...named(made.metadata.name) });
    expect(first).toMatchObject({ type: "ADDED", object: { metadata: { name: made.metadata.name } } });
  });

  it("returns changes while it is open", async () => {
    const name = here.name();
    const seen = events(2, { resourceVersion: await now(), ...named(name), onOpen: () => void act() });
    const act = async () => {
      const made = await here.make(ConfigMap, { metadata: { name }, data: { x: "1" } });
      await here.client.patch(ConfigMap, at(made), merge({ data: { x: "2" } }));
    };
    expect(story(await seen)).toEqual([
      ["ADDED", "1"],
      ["MODIFIED", "2"],
    ]);
  });

  it("returns ADDED when an object begins to match the selector and DELETED when it stops", async () => {
    const made = await here.make(ConfigMap);
    const resourceVersion = made.metadata.resourceVersion;
    for (const shown of [made.metadata.name, null, made.metadata.name])
      await here.client.patch(ConfigMap, at(made), merge({ metadata: { labels: { shown } } }));
    const seen = await events(3, { resourceVersion, labelSelector: `shown=${made.metadata.name}` });
    expect(seen.map(({ type }) => type)).toEqual(["ADDED", "DELETED", "ADDED"]);
  });

  it("returns the last matching state of an object that stops matching the selector", async () => {
    const name = here.name();
    const made = await here.make(ConfigMap, { metadata: { name, labels: { shown: name } } });
    const changed = await here.client.patch(ConfigMap, at(made), merge({ metadata: { labels: { shown: "no" } } }));
    const [gone] = await events(1, { resourceVersion: made.metadata.resourceVersion, labelSelector: `shown=${name}` });
    expect(gone).toMatchObject({
      type: "DELETED",
      object: { metadata: { labels: { shown: name }, resourceVersion: changed.metadata.resourceVersion } },
    });
  });

  it("of one namespace returns nothing of others", async () => {
    const name = here.name();
    const resourceVersion = await now();
    await here.make(ConfigMap, { metadata: { name, namespace: "default" }, data: { x: "theirs" } });
    await here.make(ConfigMap, { metadata: { name }, data: { x: "ours" } });
    expect(story(await events(1, { resourceVersion, ...named(name) }))).toEqual([["ADDED", "ours"]]);
    await here.client.delete(ConfigMap, { namespace: "default", name });
  });

  it("covers all namespaces if the path has none", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    const selectors = { fieldSelector: `metadata.name=${made.metadata.name},metadata.namespace=${here.namespace}` };
    expect(story(await events(1, { namespace: undefined, ...selectors }))).toEqual([["ADDED", "1"]]);
  });

  it("returns nothing for a write without a change", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    await here.client.update(ConfigMap, made);
    await here.client.patch(ConfigMap, at(made), merge({ data: { x: "2" } }));
    const seen = await events(1, { resourceVersion: made.metadata.resourceVersion, ...named(made.metadata.name) });
    expect(story(seen)).toEqual([["MODIFIED", "2"]]);
  });

  it("returns MODIFIED for a deletion that a finalizer blocks, and DELETED at the end", async () => {
    const made = await here.make(ConfigMap, { metadata: { finalizers: ["example.test/keep"] } });
    await here.client.delete(ConfigMap, at(made));
    await here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: null } }));
    const seen = await events(2, { resourceVersion: made.metadata.resourceVersion, ...named(made.metadata.name) });
    expect(seen.map(({ type }) => type)).toEqual(["MODIFIED", "DELETED"]);
  });

  it("ends after timeoutSeconds without an error", async () => {
    const made = await here.make(ConfigMap);
    expect((await lines(named(made.metadata.name))).map(({ type }) => type)).toEqual(["ADDED"]);
  });

  it("is rejected if its selector cannot be parsed", async () => {
    expect(await refusal(lines({ labelSelector: "a in b" }))).toMatchObject({ status: 400, reason: "BadRequest" });
  });
});

describe("a watch with sendInitialEvents", () => {
  /** Reads to the end: with concurrent writes another bookmark may arrive before the watch ends. */
  const beginning = (seen: Awaited<ReturnType<typeof lines>>) => {
    const types = seen.map(({ type }) => type);
    return types.slice(0, types.indexOf("BOOKMARK") + 1);
  };
  const streaming = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };

  it("ends the initial events with an annotated bookmark", async () => {
    const made = await here.make(ConfigMap);
    const seen = await lines({ ...streaming, ...named(made.metadata.name) });
    expect(beginning(seen)).toEqual(["ADDED", "BOOKMARK"]);
    expect(seen[1]).toMatchObject({
      object: { kind: "ConfigMap", apiVersion: "v1", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
    });
  });

  it("sends the bookmark even without initial events", async () => {
    const seen = await lines({ ...streaming, ...named("missing") });
    expect(beginning(seen)).toEqual(["BOOKMARK"]);
  });

  it("continues with later changes", async () => {
    const name = here.name();
    const options = { sendInitialEvents: true, ...named(name) };
    for await (const event of here.client.watch(ConfigMap, { namespace: here.namespace, ...options })) {
      if (event.type === "BOOKMARK" && event.initialEventsEnd) await here.make(ConfigMap, { metadata: { name } });
      else expect(event).toMatchObject({ type: "ADDED", object: { metadata: { name } } });
      if (event.type === "ADDED") break;
    }
  });

  it("requires resourceVersionMatch", async () => {
    const refused = await refusal(lines({ sendInitialEvents: true, allowWatchBookmarks: true }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "resourceVersionMatch" }]);
  });

  it("is rejected for lists", async () => {
    const refused = await refusal(
      here.ask("GET", path(), { query: { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } }),
    );
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toContainEqual({
      reason: "FieldValueForbidden",
      field: "sendInitialEvents",
      message: "Forbidden: sendInitialEvents is forbidden for list",
    });
  });
});
