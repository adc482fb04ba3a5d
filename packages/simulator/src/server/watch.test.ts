import { describe, expect, it } from "vitest";
import { home, mergePatch, simulated, summaries } from "./testing.ts";

const maps = `${home}/configmaps`;
const minute = 60_000;

async function withMaps() {
  const cluster = await simulated();
  const make = (name: string, labels: Record<string, string> = {}) => cluster.ask("POST", maps, { metadata: { name, labels } });
  const label = (name: string, labels: Record<string, string | null>) =>
    cluster.ask("PATCH", `${maps}/${name}`, { metadata: { labels } }, mergePatch);
  const drop = (name: string) => cluster.ask("DELETE", `${maps}/${name}`);
  const settle = () => cluster.clock.advance(0);
  return { ...cluster, make, label, drop, settle };
}

describe("a watch", () => {
  it("without a resourceVersion sends the current objects, then every change", async () => {
    const { make, drop, watch, settle } = await withMaps();
    await make("a");
    const { seen } = await watch(maps);
    await make("b");
    await drop("a");
    await settle();
    expect(summaries(seen)).toEqual(["ADDED a", "ADDED b", "DELETED a"]);
  });

  it("with a resourceVersion sends every later change exactly once", async () => {
    const { make, label, watch, settle } = await withMaps();
    const { body } = await make("a");
    await label("a", { x: "1" });
    const { seen } = await watch(`${maps}?resourceVersion=${body.metadata.resourceVersion}`);
    await label("a", { x: "2" });
    await settle();
    expect(seen.map(({ object }) => object.metadata.labels?.x)).toEqual(["1", "2"]);
  });

  it("ends after timeoutSeconds", async () => {
    const { watch, clock } = await withMaps();
    const watching = await watch(`${maps}?timeoutSeconds=10`);
    await clock.advance(9999);
    expect(watching.ended).toBe(false);
    await clock.advance(1);
    expect(watching.ended).toBe(true);
  });

  it("ends after 30 to 60 minutes without timeoutSeconds", async () => {
    const { watch, clock } = await withMaps();
    const watching = await watch(maps);
    await clock.advance(30 * minute - 1);
    expect(watching.ended).toBe(false);
    await clock.advance(30 * minute);
    expect(watching.ended).toBe(true);
  });

  it("removes its timers and listeners when it ends", async () => {
    const { watch, clock, make, settle } = await withMaps();
    const watching = await watch(`${maps}?timeoutSeconds=10&allowWatchBookmarks=true`);
    await clock.advance(10_000);
    await make("late");
    await settle();
    expect(clock.pending).toBe(0);
    expect(summaries(watching.seen)).not.toContain("ADDED late");
  });

  it("from a compacted version sends an ERROR event first", async () => {
    const { make, core, watch, settle } = await withMaps();
    const { body } = await make("a");
    await make("b");
    core.storage.compact(core.storage.version);
    const watching = await watch(`${maps}?resourceVersion=${body.metadata.resourceVersion}`);
    await settle();
    expect(watching).toMatchObject({ status: 200, ended: true });
    expect(watching.seen).toMatchObject([{ type: "ERROR", object: { code: 410, reason: "Expired" } }]);
    const { resourceVersion } = body.metadata;
    expect(watching.seen[0]?.object.message).toBe(`too old resource version: ${resourceVersion} (${core.storage.compacted})`);
  });

  it("from a future version sends nothing until that version is reached", async () => {
    const { make, core, watch, settle } = await withMaps();
    const { seen } = await watch(`${maps}?resourceVersion=${core.storage.version + 1n}`);
    await make("skipped");
    await make("seen");
    await settle();
    expect(summaries(seen)).toEqual(["ADDED seen"]);
  });
});

describe("a watch with a selector", () => {
  it("sends ADDED and DELETED when objects begin and stop matching", async () => {
    const { make, label, drop, watch, settle } = await withMaps();
    const { seen } = await watch(`${maps}?labelSelector=x%3D1`);
    await make("a", { x: "2" });
    await label("a", { x: "1" });
    await label("a", { y: "1" });
    await label("a", { x: "2" });
    await make("b", { x: "1" });
    await drop("b");
    await drop("a");
    await settle();
    expect(summaries(seen)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED b", "DELETED b"]);
  });

  it("sends DELETED with the last matching state and the resourceVersion of the change", async () => {
    const { make, label, watch, settle } = await withMaps();
    await make("a", { x: "1" });
    const { seen } = await watch(`${maps}?labelSelector=x%3D1`);
    const { body } = await label("a", { x: "2" });
    await settle();
    expect(seen[1]).toMatchObject({ type: "DELETED", object: { metadata: { labels: { x: "1" } } } });
    expect(seen[1]?.object.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });
});

describe("bookmarks", () => {
  it("are sent just before a watch ends, so that an idle watch resumes from a recent version", async () => {
    const { ask, core, watch, clock } = await withMaps();
    const { seen } = await watch(`${maps}?allowWatchBookmarks=true&timeoutSeconds=45&resourceVersion=${core.storage.version}`);
    await ask("POST", `${home}/secrets`, { metadata: { name: "other" } });
    await clock.advance(45_000);
    expect(summaries(seen)).toEqual(["BOOKMARK"]);
    expect(seen[0]?.object.metadata.resourceVersion).toBe(String(core.storage.version));
  });

  it("are sent once a minute if requested, with the resourceVersion of the whole cluster", async () => {
    const { ask, core, watch, clock } = await withMaps();
    const { seen } = await watch(`${maps}?allowWatchBookmarks=true&resourceVersion=${core.storage.version}`);
    const quiet = await watch(maps);
    await ask("POST", `${home}/secrets`, { metadata: { name: "other" } });
    await clock.advance(2 * minute);
    expect(summaries(seen)).toEqual(["BOOKMARK", "BOOKMARK"]);
    expect(seen[0]?.object.metadata.resourceVersion).toBe(String(core.storage.version));
    expect(quiet.seen).toEqual([]);
  });

  it("mark the end of the initial events of a streaming list", async () => {
    const { make, watch, settle } = await withMaps();
    await make("a");
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const { seen } = await watch(`${maps}?${query}`);
    await settle();
    expect(summaries(seen)).toEqual(["ADDED a", "BOOKMARK"]);
    expect(seen[1]?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
  });
});
