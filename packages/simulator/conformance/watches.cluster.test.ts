// Watches: what they begin with, what they tell, and how they end.
import type { WatchEvent, WatchOptions } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "./kinds.ts";
import { at, type Loose, merge, refusal, world } from "./world.ts";

const here = world();
const path = () => `/api/v1/namespaces/${here.namespace}/configmaps`;
const now = async () => (await here.client.list(ConfigMap, { namespace: here.namespace })).metadata.resourceVersion;
const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });

/** The first events of a watch, beside bookmarks. */
async function events(count: number, options: WatchOptions<Loose>): Promise<readonly WatchEvent<Loose>[]> {
  const seen: WatchEvent<Loose>[] = [];
  for await (const event of here.client.watch(ConfigMap, { namespace: here.namespace, ...options })) {
    if (event.type !== "BOOKMARK") seen.push(event);
    if (seen.length === count) break;
  }
  return seen;
}

/** The types and one value of what happened, which is what most cases are about. */
const story = (seen: readonly WatchEvent<Loose>[]) =>
  seen.map((event) => (event.type === "BOOKMARK" ? [event.type] : [event.type, event.object.data?.x]));

/** The lines of a whole watch as they were sent. */
async function lines(query: Record<string, string | number | boolean>): Promise<readonly Loose[]> {
  const text = await here.client.request({ path: path(), query: { watch: true, timeoutSeconds: 1, ...query } });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("a watch", () => {
  it("tells everything after its version, in order", async () => {
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

  it("gives a deleted object the version of its deletion", async () => {
    const made = await here.make(ConfigMap);
    const resourceVersion = made.metadata.resourceVersion;
    await here.client.delete(ConfigMap, at(made));
    const [gone] = await events(1, { resourceVersion, ...named(made.metadata.name) });
    expect(gone).toMatchObject({ type: "DELETED", object: { metadata: { uid: made.metadata.uid } } });
    expect(BigInt(gone?.type === "DELETED" ? gone.object.metadata.resourceVersion : 0)).toBeGreaterThan(BigInt(resourceVersion));
  });

  it("without a version begins with what is there", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    const [first] = await events(1, named(made.metadata.name));
    expect(first).toEqual({ type: "ADDED", object: made });
  });

  it("of version 0 begins with what is there", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    const [first] = await events(1, { resourceVersion: "0", ...named(made.metadata.name) });
    expect(first).toMatchObject({ type: "ADDED", object: { metadata: { name: made.metadata.name } } });
  });

  it("tells what happens while it is open", async () => {
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

  it("tells of an object that a label brings in as added, and takes out as deleted", async () => {
    const made = await here.make(ConfigMap);
    const resourceVersion = made.metadata.resourceVersion;
    for (const shown of [made.metadata.name, null, made.metadata.name])
      await here.client.patch(ConfigMap, at(made), merge({ metadata: { labels: { shown } } }));
    const seen = await events(3, { resourceVersion, labelSelector: `shown=${made.metadata.name}` });
    expect(seen.map(({ type }) => type)).toEqual(["ADDED", "DELETED", "ADDED"]);
  });

  it("of what a label took out tells the last state that was in", async () => {
    const name = here.name();
    const made = await here.make(ConfigMap, { metadata: { name, labels: { shown: name } } });
    const changed = await here.client.patch(ConfigMap, at(made), merge({ metadata: { labels: { shown: "no" } } }));
    const [gone] = await events(1, { resourceVersion: made.metadata.resourceVersion, labelSelector: `shown=${name}` });
    expect(gone).toMatchObject({
      type: "DELETED",
      object: { metadata: { labels: { shown: name }, resourceVersion: changed.metadata.resourceVersion } },
    });
  });

  it("tells nothing of other namespaces", async () => {
    const name = here.name();
    const resourceVersion = await now();
    await here.make(ConfigMap, { metadata: { name, namespace: "default" }, data: { x: "theirs" } });
    await here.make(ConfigMap, { metadata: { name }, data: { x: "ours" } });
    expect(story(await events(1, { resourceVersion, ...named(name) }))).toEqual([["ADDED", "ours"]]);
    await here.client.delete(ConfigMap, { namespace: "default", name });
  });

  it("tells of all namespaces without one in the path", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    const selectors = { fieldSelector: `metadata.name=${made.metadata.name},metadata.namespace=${here.namespace}` };
    expect(story(await events(1, { namespace: undefined, ...selectors }))).toEqual([["ADDED", "1"]]);
  });

  it("does not tell of a write that changed nothing", async () => {
    const made = await here.make(ConfigMap, { data: { x: "1" } });
    await here.client.update(ConfigMap, made);
    await here.client.patch(ConfigMap, at(made), merge({ data: { x: "2" } }));
    const seen = await events(1, { resourceVersion: made.metadata.resourceVersion, ...named(made.metadata.name) });
    expect(story(seen)).toEqual([["MODIFIED", "2"]]);
  });

  it("tells of a finalizer that keeps an object as a modification, and of its end", async () => {
    const made = await here.make(ConfigMap, { metadata: { finalizers: ["example.test/keep"] } });
    await here.client.delete(ConfigMap, at(made));
    await here.client.patch(ConfigMap, at(made), merge({ metadata: { finalizers: null } }));
    const seen = await events(2, { resourceVersion: made.metadata.resourceVersion, ...named(made.metadata.name) });
    expect(seen.map(({ type }) => type)).toEqual(["MODIFIED", "DELETED"]);
  });

  it("ends after timeoutSeconds, politely", async () => {
    const made = await here.make(ConfigMap);
    expect((await lines(named(made.metadata.name))).map(({ type }) => type)).toEqual(["ADDED"]);
  });

  it("of a selector that cannot be read is refused", async () => {
    expect(await refusal(lines({ labelSelector: "a in b" }))).toMatchObject({ status: 400, reason: "BadRequest" });
  });
});

describe("a watch that streams its beginning", () => {
  /** Up to its end: while others write, one more bookmark may come before the watch ends. */
  const beginning = (seen: Awaited<ReturnType<typeof lines>>) => {
    const types = seen.map(({ type }) => type);
    return types.slice(0, types.indexOf("BOOKMARK") + 1);
  };
  const streaming = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };

  it("closes it with a bookmark that says so", async () => {
    const made = await here.make(ConfigMap);
    const seen = await lines({ ...streaming, ...named(made.metadata.name) });
    expect(beginning(seen)).toEqual(["ADDED", "BOOKMARK"]);
    expect(seen[1]).toMatchObject({
      object: { kind: "ConfigMap", apiVersion: "v1", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
    });
  });

  it("closes an empty one, too", async () => {
    const seen = await lines({ ...streaming, ...named("missing") });
    expect(beginning(seen)).toEqual(["BOOKMARK"]);
  });

  it("goes on with what happens", async () => {
    const name = here.name();
    const options = { sendInitialEvents: true, ...named(name) };
    for await (const event of here.client.watch(ConfigMap, { namespace: here.namespace, ...options })) {
      if (event.type === "BOOKMARK" && event.initialEventsEnd) await here.make(ConfigMap, { metadata: { name } });
      else expect(event).toMatchObject({ type: "ADDED", object: { metadata: { name } } });
      if (event.type === "ADDED") break;
    }
  });

  it("needs resourceVersionMatch", async () => {
    const refused = await refusal(lines({ sendInitialEvents: true, allowWatchBookmarks: true }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "resourceVersionMatch" }]);
  });

  it("is for watches only", async () => {
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
