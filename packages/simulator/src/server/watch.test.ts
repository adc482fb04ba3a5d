import { describe, expect, it } from "vitest";
import { home, inWords, mergePatch, simulated } from "./testing.ts";

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
  it("starts with what is there, if no version is asked for, and goes on with what happens", async () => {
    const { make, drop, watch, settle } = await withMaps();
    await make("a");
    const { seen } = await watch(maps);
    await make("b");
    await drop("a");
    await settle();
    expect(inWords(seen)).toEqual(["ADDED a", "ADDED b", "DELETED a"]);
  });

  it("goes on from a version, with nothing left out and nothing twice", async () => {
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

  it("ends between half an hour and an hour, if nobody says when", async () => {
    const { watch, clock } = await withMaps();
    const watching = await watch(maps);
    await clock.advance(30 * minute - 1);
    expect(watching.ended).toBe(false);
    await clock.advance(30 * minute);
    expect(watching.ended).toBe(true);
  });

  it("leaves no timer and no listener behind", async () => {
    const { watch, clock, make, settle } = await withMaps();
    const watching = await watch(`${maps}?timeoutSeconds=10&allowWatchBookmarks=true`);
    await clock.advance(10_000);
    await make("late");
    await settle();
    expect(clock.pending).toBe(0);
    expect(inWords(watching.seen)).not.toContain("ADDED late");
  });

  it("of a past that is forgotten says so in its first event", async () => {
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

  it("of a future version waits for it", async () => {
    const { make, core, watch, settle } = await withMaps();
    const { seen } = await watch(`${maps}?resourceVersion=${core.storage.version + 1n}`);
    await make("skipped");
    await make("seen");
    await settle();
    expect(inWords(seen)).toEqual(["ADDED seen"]);
  });
});

describe("a selector is a window", () => {
  it("through which objects come and go, whatever happens to them", async () => {
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
    expect(inWords(seen)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED b", "DELETED b"]);
  });

  it("whose DELETED shows the object as it was last seen, at the version at which it left", async () => {
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
  it("come just before the end of a watch, so that a quiet one is resumed from where the world is", async () => {
    const { ask, core, watch, clock } = await withMaps();
    const { seen } = await watch(`${maps}?allowWatchBookmarks=true&timeoutSeconds=45&resourceVersion=${core.storage.version}`);
    await ask("POST", `${home}/secrets`, { metadata: { name: "other" } });
    await clock.advance(45_000);
    expect(inWords(seen)).toEqual(["BOOKMARK"]);
    expect(seen[0]?.object.metadata.resourceVersion).toBe(String(core.storage.version));
  });

  it("come once a minute to those who want them, with the version of the whole cluster", async () => {
    const { ask, core, watch, clock } = await withMaps();
    const { seen } = await watch(`${maps}?allowWatchBookmarks=true&resourceVersion=${core.storage.version}`);
    const quiet = await watch(maps);
    await ask("POST", `${home}/secrets`, { metadata: { name: "other" } });
    await clock.advance(2 * minute);
    expect(inWords(seen)).toEqual(["BOOKMARK", "BOOKMARK"]);
    expect(seen[0]?.object.metadata.resourceVersion).toBe(String(core.storage.version));
    expect(quiet.seen).toEqual([]);
  });

  it("close the state that a streaming list begins with", async () => {
    const { make, watch, settle } = await withMaps();
    await make("a");
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const { seen } = await watch(`${maps}?${query}`);
    await settle();
    expect(inWords(seen)).toEqual(["ADDED a", "BOOKMARK"]);
    expect(seen[1]?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
  });
});
