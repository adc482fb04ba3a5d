import { describe, expect, it } from "vitest";
import type { Client, ScanOptions } from "../client/client.ts";
import { BrokenStreamError, TimeoutError } from "../client/errors.ts";
import { type Logger, silentLogger } from "../concurrency/environment.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import type { ObjectOf, Stored } from "../objects/object.ts";
import { Cache } from "./cache.ts";
import { type View, view } from "./projection.ts";
import { Snapshot } from "./reflector.ts";
import { FaultyConnection, ScriptedApi } from "./scripted-api.fixture.ts";
import { ObjectStore } from "./store.ts";

/** A cache whose client can scan; a scan fails after `breakAfter` objects. */
function following(kind: View<ConfigMap> = ConfigMap, namespaces: readonly string[] | "all" = "all") {
  const api = new ScriptedApi();
  const scans: ScanOptions[] = [];
  const world = { breakAfter: Number.POSITIVE_INFINITY, takesMs: 0 };
  const scan: NonNullable<Client["scan"]> = async (scanned, take, options = {}) => {
    const { namespace, labelSelector } = options;
    scans.push({ namespace, labelSelector });
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
  it("starts with a scan, then watches from its version", async () => {
    await using world = following();
    world.put("a");
    world.cache.start();
    await world.clock.advance(0);
    expect([world.cache.synced, world.names()]).toEqual([true, ["a"]]);
    world.put("b");
    await world.clock.advance(0);
    expect(world.names()).toEqual(["a", "b"]);
    expect(world.api.calls).toEqual(["list configmaps", "watch configmaps from 1"]);
    expect(world.api.timeouts).toEqual([52]); // it may be quiet
  });

  it("scans only its namespace and selection", async () => {
    await using world = following(view(ConfigMap, { labelSelector: "app=a" }), ["home"]);
    world.cache.start();
    await world.clock.advance(0);
    expect(world.scans).toMatchObject([{ namespace: "home", labelSelector: "app=a" }]);
  });

  it("C2: scans again if requested during a scan, which may have begun too early", async () => {
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

  it("W3: streams the list if the scan is cut off, is not synced meanwhile, and scans again the next time", async () => {
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

  it("W3: reopens a watch at once if it breaks before its first event, after a complete list", async () => {
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
});

type Object = Stored<ObjectOf<typeof ConfigMap>>;

const object = (name: string, namespace = "a", version = "1"): Object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name, namespace, uid: `uid of ${namespace}/${name}`, resourceVersion: version },
});

/** A store with these objects, and its changes from now on. */
function storeOf(...objects: readonly Object[]) {
  const store = new ObjectStore<Object>((error) => expect.unreachable(String(error)));
  for (const each of objects) store.put(each, { listed: false });
  const changes: string[] = [];
  store.onChange(({ type, object: { metadata } }) => changes.push(`${type} ${metadata.namespace}/${metadata.name}`));
  return { store, changes };
}

describe("a list", () => {
  it("adds its objects to an empty store", () => {
    const { store, changes } = storeOf();
    const snapshot = new Snapshot(store);
    snapshot.put(object("x"));
    snapshot.put(object("y", "b"));
    snapshot.finish();
    expect(changes).toEqual(["added a/x", "added b/y"]);
  });

  it("removes objects that are not in it", () => {
    const { store, changes } = storeOf(object("gone"), object("stays"));
    const snapshot = new Snapshot(store);
    snapshot.put(object("stays"));
    snapshot.put(object("new"));
    expect(changes).toEqual(["added a/new"]);
    snapshot.finish();
    expect(changes).toEqual(["added a/new", "removed a/gone"]);
  });

  it("replaces newer objects: the cluster was restored from a backup", () => {
    const { store, changes } = storeOf(object("x", "a", "9"));
    new Snapshot(store).put(object("x", "a", "4"));
    expect(changes).toEqual(["changed a/x"]);
  });

  it("removes objects that only a previous, failed list contained", () => {
    const { store, changes } = storeOf();
    new Snapshot(store).put(object("gone since"));
    const second = new Snapshot(store);
    second.put(object("x"));
    second.finish();
    expect(changes).toEqual(["added a/gone since", "added a/x", "removed a/gone since"]);
  });

  it("of one namespace removes nothing in another, even if its own was empty", () => {
    const { store, changes } = storeOf(object("x", "b"));
    const snapshot = new Snapshot(store, "a");
    snapshot.put(object("x"));
    snapshot.finish();
    expect(changes).toEqual(["added a/x"]);
    new Snapshot(store, "a").finish();
    expect(changes).toEqual(["added a/x", "removed a/x"]);
  });

  it("that is streamed may include deletions", () => {
    const { store, changes } = storeOf();
    const snapshot = new Snapshot(store);
    snapshot.put(object("x"));
    snapshot.remove(object("x", "a", "2"));
    snapshot.finish();
    expect(changes).toEqual(["added a/x", "removed a/x"]);
  });
});

// W3 with production timing: faults without an error. See FaultyConnection in scripted-api.fixture.ts.

const ref = (name: string) => ({ namespace: "home", name });
const config = (name: string): ConfigMap => ({ metadata: ref(name) });

/** A cache that has been synced for a second, behind a connection with faults. */
async function onBadLine() {
  const api = new ScriptedApi();
  const environment = manualEnvironment();
  const { clock } = environment;
  const line = new FaultyConnection(api, clock);
  const said: string[] = [];
  const log = writingDown(said);
  const cache = new Cache<ConfigMap>({ client: line, kind: ConfigMap, namespaces: "all", environment, log });
  api.put(ConfigMap, config("a"));
  cache.start();
  await clock.advance(1_000);
  /** Seconds until the condition holds, at most an hour. */
  const secondsUntil = async (isSo: () => boolean) => {
    for (let seconds = 0; seconds < 3_600; seconds += 1) {
      if (isSo()) return seconds;
      await clock.advance(1_000);
    }
    return Number.POSITIVE_INFINITY;
  };
  const names = () => [...cache.objects()].map(({ metadata }) => metadata.name).sort();
  return { api, line, cache, clock, secondsUntil, names, said, [Symbol.asyncDispose]: () => cache.stop() };
}

/** Everything logged above debug level. */
function writingDown(said: string[]): Logger {
  const write = (_: object, message: string) => said.push(message);
  const log: Logger = { ...silentLogger, info: write, warn: write, error: write, child: () => log };
  return log;
}

/** The fault may end at any point of the back-off. */
const phases = Array.from({ length: 20 }, (_, at) => at * 6);

describe("W3: silence", () => {
  it.each([60, 180, 300, 480, 600])(
    "of everything for %d s or a little more: right within a minute of its end",
    async (length) => {
      for (const phase of phases) {
        await using it = await onBadLine();
        it.line.fault = "half-open";
        await it.clock.advance((length + phase) * 1_000);
        it.line.fault = "none";
        it.api.put(ConfigMap, config("b"));
        expect(await it.secondsUntil(() => it.cache.synced && it.names().includes("b"))).toBeLessThanOrEqual(60);
      }
    },
  );

  it("of the whole connection makes the cache stale within 90 seconds, without more requests than for a server that is down", async () => {
    await using it = await onBadLine();
    it.line.fault = "half-open";
    expect(await it.secondsUntil(() => !it.cache.synced)).toBeLessThanOrEqual(90);
    const before = it.line.asked;
    await it.clock.advance(600_000);
    expect(it.line.asked - before).toBeLessThanOrEqual(600 / 30);
  });

  it("on accepted watches makes the cache list again", async () => {
    await using it = await onBadLine();
    it.api.put(ConfigMap, config("a")); // busy, so far
    await it.clock.advance(0);
    it.line.fault = "silent";
    it.api.cutWatches(new BrokenStreamError("reset"));
    await it.clock.advance(0);
    it.api.remove(ConfigMap, ref("a"));
    for (const name of ["b", "c", "d"]) {
      it.api.put(ConfigMap, config(name));
      expect(await it.secondsUntil(() => it.names().includes(name))).toBeLessThanOrEqual(60);
    }
    expect([it.names(), it.cache.synced]).toEqual([["b", "c", "d"], true]);
    expect(it.said).toContain("watch was accepted, but no event arrived; listing instead until a watch delivers events");
  });

  it("on accepted watches is logged once, until an event arrives", async () => {
    await using it = await onBadLine();
    for (const round of [1, 2]) {
      it.line.fault = "silent";
      it.api.cutWatches();
      await it.secondsUntil(() => false); // an hour
      expect([it.said.length, it.cache.synced]).toEqual([round, true]);
      it.line.fault = "none";
      it.api.cutWatches();
      await it.clock.advance(5_000);
      it.api.put(ConfigMap, config(`seen ${round}`));
      expect(await it.secondsUntil(() => it.names().includes(`seen ${round}`))).toBe(1);
    }
    expect(it.api.calls.filter((call) => call.startsWith("list")).length).toBeLessThanOrEqual(2 + 7_200 / 50);
  });

  it("on accepted watches makes the cache stale if lists fail too", async () => {
    await using it = await onBadLine();
    it.line.fault = "silent";
    it.api.cutWatches();
    await it.clock.advance(0);
    it.line.fault = "half-open";
    expect(await it.secondsUntil(() => !it.cache.synced)).toBeLessThanOrEqual(90);
    it.line.fault = "silent"; // an open watch does not prove that events arrive
    it.api.refuse = (call) => (call.startsWith("watch") ? undefined : new Error("no lists today"));
    await it.clock.advance(600_000);
    expect(it.cache.synced).toBe(false);
  });

  it("of a server that needs too long for a whole list makes the cache stream it after some attempts", async () => {
    await using it = await onBadLine();
    const tried: (number | undefined)[] = [];
    it.line.scan = async (_kind, _take, { timeoutMs = 0, signal } = {}) => {
      tried.push(timeoutMs);
      await it.clock.sleep(timeoutMs, signal);
      throw new TimeoutError("no answer", { outcome: "unknown" });
    };
    it.api.historyFrom = Number.POSITIVE_INFINITY;
    it.api.cutWatches();
    it.api.put(ConfigMap, config("b"));
    expect(await it.secondsUntil(() => it.cache.synced && it.names().includes("b"))).toBeLessThanOrEqual(80);
    expect(tried).toEqual([10_000, 20_000, 40_000]);
  });

  it("of a quiet kind causes no list, nor do occasional events", async () => {
    await using it = await onBadLine();
    await it.clock.advance(600_000);
    for (let minute = 0; minute < 20; minute += 1) {
      it.api.put(ConfigMap, config("now and then"));
      await it.clock.advance(minute * 10_000);
    }
    expect(it.api.calls.filter((call) => call.startsWith("list"))).toEqual(["list configmaps"]);
  });

  it.each([2, 3, 5, 9])(
    "that a load balancer cuts after %d s leaves a quiet kind in order, without a word each time",
    async (s) => {
      await using it = await onBadLine();
      it.line.cutsIdleAfterMs = s * 1_000;
      let live = 0;
      for (let second = 0; second < 3_000; second += 1) {
        await it.clock.advance(1_000);
        live += it.cache.synced ? 1 : 0;
      }
      it.api.put(ConfigMap, config("b"));
      expect(await it.secondsUntil(() => it.names().includes("b"))).toBeLessThanOrEqual(s);
      expect([live, it.said]).toEqual([3_000, ["watch failed; retrying"]]);
      expect(it.api.calls.filter((call) => call.startsWith("list"))).toEqual(["list configmaps"]);
      expect(it.api.calls.filter((call) => call.startsWith("watch")).length).toBeLessThan(3_000 / s);
    },
  );

  it("cut short by a load balancer keeps a quiet kind synced", async () => {
    await using it = await onBadLine();
    it.line.cutsIdleAfterMs = 35_000;
    let connected = 0;
    let live = 0;
    for (let second = 0; second < 3_000; second += 1) {
      await it.clock.advance(1_000);
      connected += it.api.openWatches;
      live += it.cache.synced ? 1 : 0;
    }
    expect([connected, live]).toEqual([3_000, 3_000]);
    expect(it.api.calls.filter((call) => call.startsWith("watch")).length).toBeLessThan(100);
    expect(it.api.calls.filter((call) => call.startsWith("list"))).toEqual(["list configmaps"]);
  });
});

it.each([-3_600_000, 3_600_000])(
  "M5: a wall clock that steps by %d ms changes nothing, on good days and on bad ones",
  async (step) => {
    const story = async (stepMs: number) => {
      await using it = await onBadLine();
      for (const fault of ["none", "half-open", "none", "silent", "none"] as const) {
        it.line.fault = fault;
        it.clock.stepWallClock(stepMs);
        it.api.put(ConfigMap, config(fault));
        for (let second = 0; second < 90; second += 1) await it.clock.advance(1_000);
      }
      return [it.api.calls, it.line.asked, it.names(), it.cache.synced];
    };
    expect(await story(step)).toEqual(await story(0));
  },
);
