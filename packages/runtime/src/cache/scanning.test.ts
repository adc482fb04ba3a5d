import { describe, expect, it } from "vitest";
import type { Client, ScanOptions } from "../client/client.ts";
import { BrokenStreamError } from "../client/errors.ts";
import { silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Cache } from "./cache.ts";
import { leanMetadata, type View, view } from "./projection.ts";
import { ScriptedApi } from "./scripted-api.fixture.ts";

/** A cache of a client that can scan, and breaks off after so many objects if told to. */
function following(kind: View<ConfigMap> = ConfigMap, namespaces: readonly string[] | "all" = "all") {
  const api = new ScriptedApi();
  const scans: ScanOptions[] = [];
  const world = { breakAfter: Number.POSITIVE_INFINITY, takesMs: 0 };
  const scan: NonNullable<Client["scan"]> = async (scanned, take, options = {}) => {
    const { knownFieldsOnly, namespace, labelSelector } = options;
    scans.push({ knownFieldsOnly, namespace, labelSelector });
    if (world.takesMs > 0) await environment.clock.sleep(world.takesMs, options.signal);
    const { items, metadata } = await api.list(scanned, { namespace });
    for (const item of items.slice(0, world.breakAfter)) take(options.project?.(item) ?? item);
    if (items.length > world.breakAfter) throw new BrokenStreamError("cut");
    return metadata;
  };
  const client = { list: api.list.bind(api), watch: api.watch.bind(api), scan };
  const environment = manualEnvironment();
  const cache = new Cache<ConfigMap>({ client, kind, namespaces, environment, log: silentLogger });
  const names = () => [...cache.objects()].map(({ metadata }) => metadata.name).sort();
  const put = (name: string) => api.put(ConfigMap, { metadata: { namespace: "home", name } });
  const { clock } = environment;
  return Object.assign(world, { api, cache, scans, names, put, clock, [Symbol.asyncDispose]: () => cache.stop() });
}

describe("a cache of a client that can scan", () => {
  it("begins with a scan and watches from there", async () => {
    await using world = following();
    world.put("a");
    world.cache.start();
    await world.clock.advance(0);
    expect([world.cache.synced, world.names()]).toEqual([true, ["a"]]);
    world.put("b");
    await world.clock.advance(0);
    expect(world.names()).toEqual(["a", "b"]);
    expect(world.api.calls).toEqual(["list configmaps", "watch configmaps from 1"]);
    expect(world.api.timeouts).toEqual([45]); // it may be quiet
  });

  it("scans its namespace and its selection, nothing else", async () => {
    await using world = following(view(ConfigMap, { labelSelector: "app=a" }), ["home"]);
    world.cache.start();
    await world.clock.advance(0);
    expect(world.scans).toMatchObject([{ namespace: "home", labelSelector: "app=a" }]);
  });

  it("C2: scans again if it is asked to during a scan, which may have begun too early", async () => {
    await using world = following();
    world.takesMs = 1_000;
    world.cache.start();
    await world.clock.advance(500);
    let isReached = false;
    world.cache.whenReached(world.cache.unknown({ namespace: "home", name: "a" })).then(() => {
      isReached = true;
    });
    await world.clock.advance(600);
    expect([world.cache.synced, isReached]).toEqual([true, false]);
    await world.clock.advance(1_000);
    expect([isReached, world.api.calls.slice(0, 2)]).toEqual([true, ["list configmaps", "list configmaps"]]);
  });

  it("W3: streams the list if the scan is cut, is not synced meanwhile, and scans again the next time", async () => {
    await using world = following();
    for (const name of ["a", "b", "c"]) world.put(name);
    world.breakAfter = 2;
    world.cache.start();
    await world.clock.advance(0);
    expect(world.cache.synced).toBe(false);
    await world.clock.advance(2_000);
    expect([world.cache.synced, world.names()]).toEqual([true, ["a", "b", "c"]]);
    expect(world.api.calls).toEqual(["list configmaps", "stream configmaps"]);
    world.breakAfter = Number.POSITIVE_INFINITY;
    world.put("d");
    world.api.historyFrom = 99;
    world.api.cutWatches(new BrokenStreamError("reset"));
    await world.clock.advance(60_000);
    expect(world.api.calls.slice(2)).toContain("list configmaps");
    expect(world.names()).toEqual(["a", "b", "c", "d"]);
  });

  it("W3: a watch that is torn before it had anything to tell, after a list that had, is opened again at once", async () => {
    await using world = following();
    world.put("a");
    world.cache.start();
    await world.clock.advance(0);
    await world.clock.advance(2_000);
    world.api.cutWatches(new BrokenStreamError("reset"));
    await world.clock.advance(0);
    expect(world.api.calls).toEqual([
      "list configmaps",
      "watch configmaps from 1",
      "watch configmaps from 1",
      "compare configmaps",
    ]);
  });

  it("asks for known fields only if it has a projection, since whole objects may be written back", async () => {
    await using whole = following();
    await using projected = following(view(ConfigMap, { project: (object) => ({ metadata: leanMetadata(object) }) }));
    for (const { cache, clock } of [whole, projected]) {
      cache.start();
      await clock.advance(0);
    }
    expect(whole.scans[0]?.knownFieldsOnly).toBe(false);
    expect(projected.scans[0]?.knownFieldsOnly).toBe(true);
  });
});
