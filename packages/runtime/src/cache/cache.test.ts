import { describe, expect, it } from "vitest";
import { BrokenStreamError, IdleWatchError } from "../client/errors.ts";
import { type Logger, silentLogger } from "../concurrency/environment.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap, Namespace } from "../objects/kinds/core.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import type { Kind } from "../objects/object.ts";
import { SharedCaches } from "./cache.ts";
import { view } from "./projection.ts";
import { config, following, ref, refusal, ScriptedApi } from "./scripted-api.fixture.ts";

describe("a cache", () => {
  it.each([
    {
      status: 404,
      says: "the API server does not serve configmaps in version v1: install its CRD, or check the CRD's versions; retrying",
    },
    { status: 403, says: "not allowed to list and watch configmaps: grant it in the Role or ClusterRole of this user; retrying" },
    { status: 500, says: "watch failed; retrying" },
  ])("logs the cause once when a list is answered with $status", async ({ status, says }) => {
    const said: string[] = [];
    const log: Logger = { ...silentLogger, warn: (_fields, message) => said.push(message), child: () => log };
    await using world = following({ log });
    world.api.refuse = () => refusal(status);
    await world.start();
    await world.clock.advance(60_000);
    expect(said).toEqual([says]);
  });

  it("starts with a streamed list that continues as the watch", async () => {
    await using world = following();
    world.api.put(ConfigMap, config("a"));
    await world.start();
    expect([world.cache.synced, world.names()]).toEqual([true, ["a"]]);
    world.api.put(ConfigMap, config("b"));
    world.api.remove(ConfigMap, ref("a"));
    await world.clock.advance(0);
    expect(world.names()).toEqual(["b"]);
    expect(world.api.calls).toEqual(["stream configmaps"]);
  });

  it("lists in pages if the server cannot stream lists, then watches", async () => {
    await using world = following({ timing: { pageSize: 2 } });
    world.api.streams = false;
    for (const name of ["a", "b", "c"]) world.api.put(ConfigMap, config(name));
    await world.start();
    world.api.put(ConfigMap, config("d"));
    await world.clock.advance(0);
    expect(world.names()).toEqual(["a", "b", "c", "d"]);
    expect(world.api.calls).toEqual(["stream configmaps", "list configmaps", "list configmaps", "watch configmaps from 3"]);
  });

  it("is complete only at the bookmark that ends the initial events, without objects deleted meanwhile", async () => {
    const end = Promise.withResolvers<void>();
    const metadata = { ...ref("a"), uid: "u", resourceVersion: "1" };
    const seen: boolean[] = [];
    const client = {
      list: () => expect.unreachable(),
      async *watch() {
        for (const name of ["a", "b"]) yield { type: "ADDED", object: { metadata: { ...metadata, name, uid: name } } } as const;
        yield { type: "BOOKMARK", resourceVersion: "2", initialEventsEnd: false } as const;
        seen.push(world.cache.synced);
        yield { type: "DELETED", object: { metadata: { ...metadata, uid: "a", resourceVersion: "3" } } } as const;
        yield { type: "BOOKMARK", resourceVersion: "4", initialEventsEnd: true } as const;
        seen.push(world.cache.synced);
        await end.promise;
      },
    };
    const world = following({ client: client as never });
    await world.start();
    expect([seen, world.names()]).toEqual([[false, true], ["b"]]);
    const stopped = world.cache.stop();
    end.resolve();
    await stopped;
  });

  it("is not synced before the list is complete", async () => {
    await using world = following();
    world.api.refuse = () => refusal(500);
    await world.start();
    expect(world.cache.synced).toBe(false);
    const synced = world.cache.whenSynced();
    world.api.refuse = () => undefined;
    await world.clock.advance(2_000);
    await synced;
  });

  it("W3: resumes after a reset without listing and without missing anything", async () => {
    await using world = following();
    await world.start();
    world.api.put(ConfigMap, config("a"));
    await world.clock.advance(2_000);
    world.api.cutWatches(new BrokenStreamError("reset"));
    world.api.put(ConfigMap, config("b"));
    await world.clock.advance(0);
    expect(world.names()).toEqual(["a", "b"]);
    expect(world.api.calls).toEqual(["stream configmaps", "watch configmaps from 1", "compare configmaps"]);
  });

  it("W3: lists again after 410 Gone and reports the missed changes", async () => {
    await using world = following();
    for (const name of ["kept", "changed", "gone", "replaced"]) world.api.put(ConfigMap, config(name));
    await world.start();
    world.changes.length = 0;
    world.api.muted = true;
    world.api.put(ConfigMap, config("changed", { now: "different" }));
    world.api.remove(ConfigMap, ref("gone"));
    world.api.remove(ConfigMap, ref("replaced"));
    world.api.put(ConfigMap, config("replaced"));
    world.api.put(ConfigMap, config("new"));
    world.api.muted = false;
    world.api.historyFrom = Number(world.api.version);
    world.api.cutWatches(refusal(410));
    await world.clock.advance(0);
    expect(world.cache.synced).toBe(false);
    await world.clock.advance(2_000);
    expect(world.cache.synced).toBe(true);
    const expected = ["changed changed", "removed replaced", "added replaced", "added new", "removed gone"];
    expect(world.changes.sort()).toEqual(expected.sort());
  });

  it("W3: lists at once if the server has no history when it returns: the reflector has waited before", async () => {
    await using world = following();
    world.api.put(ConfigMap, config("before"));
    await world.start();
    world.api.muted = true;
    world.api.put(ConfigMap, config("after"));
    world.api.muted = false;
    world.api.historyFrom = Number(world.api.version);
    world.api.cutWatches();
    await world.clock.advance(1_100); // after the first delay it resumes and gets 410; a second delay would take longer
    expect(world.names()).toEqual(["after", "before"]);
    expect(world.cache.synced).toBe(true);
  });

  it.each([
    { name: "it could not be reached", fault: () => refusal(503) },
    { name: "its connection was torn", fault: () => undefined },
  ])("W3: lists again if the server returns with older data, after $name", async ({ fault }) => {
    await using world = following();
    world.api.put(ConfigMap, config("kept"));
    world.api.put(ConfigMap, config("changed", { x: "before" }));
    await world.start();
    const restore = world.api.backUp();
    world.api.put(ConfigMap, config("changed", { x: "after" }));
    for (const name of ["lost", "lost as well"]) world.api.put(ConfigMap, config(name));
    await world.clock.advance(60_000);
    expect(world.names()).toEqual(["changed", "kept", "lost", "lost as well"]);
    world.api.refuse = fault;
    world.api.cutWatches(new BrokenStreamError("reset"));
    await world.clock.advance(0);
    restore();
    world.api.refuse = () => undefined;
    world.api.cutWatches(new BrokenStreamError("reset"));
    await world.clock.advance(60_000);
    expect([world.names(), world.cache.get(ref("changed"))?.data]).toEqual([["changed", "kept"], { x: "before" }]);
    world.api.put(ConfigMap, config("new"));
    await world.clock.advance(0);
    expect([world.names(), world.cache.synced]).toEqual([["changed", "kept", "new"], true]);
  });

  it("W3: is not synced after a failure until it has checked the version of the server", async () => {
    await using world = following();
    await world.start();
    world.api.refuse = (call) => (call.startsWith("compare") ? refusal(503) : undefined);
    world.api.cutWatches(new BrokenStreamError("reset"));
    await world.clock.advance(120_000);
    expect(world.cache.synced).toBe(false);
    world.api.refuse = () => undefined;
    await world.clock.advance(60_000);
    expect(world.cache.synced).toBe(true);
  });

  it("W3: ignores duplicate events", async () => {
    await using world = following();
    const a = world.api.put(ConfigMap, config("a"));
    await world.start();
    world.api.put(ConfigMap, config("a", { second: "state" }));
    world.api.say(ConfigMap, { type: "ADDED", object: a });
    world.api.say(ConfigMap, { type: "ADDED", object: a });
    await world.clock.advance(0);
    expect(world.changes).toEqual(["added a", "changed a"]);
    expect(world.cache.get(ref("a"))?.data).toEqual({ second: "state" });
  });

  it("W3: backs off if a watch closes immediately", async () => {
    await using world = following();
    await world.start();
    world.api.refuse = (call) => (call.startsWith("watch") ? refusal(500) : undefined);
    world.api.cutWatches();
    await world.clock.advance(60_000);
    const attempts = world.api.calls.filter((call) => call.startsWith("watch")).length;
    expect(attempts).toBeGreaterThan(3); // 0.8, 1.6, 3.2, 6.4, 12.8, 25.6 s and up to a quarter more
    expect(attempts).toBeLessThan(8);
  });

  it("W3: is stale after 30 seconds without a connection, until it has reconnected", async () => {
    await using world = following();
    await world.start();
    world.api.refuse = () => refusal(503);
    world.api.cutWatches();
    await world.clock.advance(29_000);
    expect(world.cache.synced).toBe(true);
    await world.clock.advance(3_000);
    expect(world.cache.synced).toBe(false);
    expect(world.cache.status()).toMatchObject([{ resource: "configmaps", state: "stale" }]);
    world.api.refuse = () => undefined;
    await world.clock.advance(60_000);
    expect(world.cache.synced).toBe(true);
  });

  it("uses a shorter watch timeout for a quiet kind, so that its last bookmark arrives before the idle timeout", async () => {
    await using world = following();
    await world.start();
    await world.clock.advance(57_000);
    world.api.cutWatches(new IdleWatchError("idle"));
    await world.clock.advance(10_000);
    world.api.put(ConfigMap, config("busy again"));
    await world.clock.advance(10_000);
    world.api.cutWatches();
    await world.clock.advance(10_000);
    world.api.cutWatches();
    await world.clock.advance(0);
    const long = expect.toSatisfy((seconds: number) => seconds >= 300 && seconds <= 600);
    expect(world.api.timeouts).toEqual([long, 52, long, 52]);
  });

  it("lists periodically, in case a proxy lost an event", async () => {
    await using world = following({ timing: { relistMs: 600_000 } });
    await world.start();
    world.api.muted = true;
    world.api.put(ConfigMap, config("missed"));
    world.api.muted = false;
    world.api.cutWatches();
    await world.clock.advance(600_000);
    expect(world.names()).toEqual([]);
    world.api.cutWatches();
    await world.clock.advance(0);
    expect([world.names(), world.cache.synced]).toEqual([["missed"], true]);
    await world.clock.advance(300_000);
    world.api.cutWatches();
    await world.clock.advance(0);
    expect(world.api.calls.at(-1)).toBe("watch configmaps from 1");
  });

  it("lists periodically even if every watch fails, without becoming stale", async () => {
    await using world = following({ timing: { relistMs: 600_000 } });
    await world.start();
    await world.clock.advance(600_000);
    world.api.muted = true;
    world.api.put(ConfigMap, config("missed"));
    world.api.cutWatches(refusal(500));
    await world.clock.advance(0);
    expect(world.cache.synced).toBe(true);
    await world.clock.advance(2_000);
    expect([world.names(), world.cache.synced]).toEqual([["missed"], true]);
  });

  it("reports the age of the last event", async () => {
    await using world = following();
    await world.start();
    await world.clock.advance(5_000);
    expect(world.cache.status()).toMatchObject([{ lastEventAgeMs: 5_000 }]);
    world.api.bookmark(ConfigMap);
    await world.clock.advance(1_000);
    expect(world.cache.status()).toMatchObject([{ lastEventAgeMs: 1_000 }]);
  });

  it("logs a warning for the first failure in a row, and none for a requested end", async () => {
    const warned: string[] = [];
    const log = { ...silentLogger, warn: (_fields: object, message: string) => warned.push(message), child: () => log };
    const world = following({ log });
    await world.start();
    world.api.refuse = () => refusal(500);
    world.api.cutWatches();
    await world.clock.advance(20_000);
    expect(warned).toEqual(["watch failed; retrying"]);
    await world.cache.stop();
    expect([warned.length, world.clock.pending]).toEqual([1, 0]);
  });

  it.each([true, false])("watches only the configured namespaces; streamed lists: %s", async (streams) => {
    await using world = following({ namespaces: ["home", "work"], timing: { pageSize: 1 } });
    world.api.streams = streams;
    for (const namespace of ["home", "work", "elsewhere"]) world.api.put(ConfigMap, config(`in-${namespace}`, {}, namespace));
    await world.start();
    world.api.put(ConfigMap, config("later-elsewhere", {}, "elsewhere"));
    world.api.put(ConfigMap, config("later-at-work", {}, "work"));
    await world.clock.advance(0);
    expect(world.names()).toEqual(["in-home", "in-work", "later-at-work"]);
    expect(world.cache.status().map(({ namespace, objects }) => [namespace, objects])).toEqual([
      ["home", 1],
      ["work", 2],
    ]);
  });

  it("watches only the objects a view selects", async () => {
    await using world = following({ kind: view(ConfigMap, { fieldSelector: "metadata.name=a" }) });
    world.api.streams = false;
    for (const name of ["a", "b"]) world.api.put(ConfigMap, config(name));
    await world.start();
    expect(world.names()).toEqual(["a"]);
  });

  it("watches cluster-scoped kinds once, whatever the namespaces", async () => {
    const kind = Namespace as Kind as Kind<ConfigMap>;
    await using world = following({ namespaces: ["home", "work"], kind });
    world.api.put(kind, { metadata: { name: "home" } });
    await world.start();
    expect(world.cache.get({ name: "home" })).toBeDefined();
    expect(world.api.calls).toEqual(["stream namespaces"]);
  });

  it("drops managedFields and stores the fields of the view", async () => {
    const managed = { metadata: { ...ref("a"), managedFields: [{}] }, data: { large: "…", small: "." } };
    await using whole = following();
    whole.api.put(ConfigMap, managed);
    await whole.start();
    expect(whole.cache.get(ref("a"))).toMatchObject({ data: managed.data });
    expect(whole.cache.get(ref("a"))?.metadata).not.toHaveProperty("managedFields");

    const kind = view(ConfigMap, { project: ({ metadata, data }) => ({ metadata, data: { small: data?.small ?? "" } }) });
    await using part = following({ kind });
    part.api.put(ConfigMap, managed);
    await part.start();
    expect(part.cache.get(ref("a"))?.data).toEqual({ small: "." });
  });

  it("E3: stores an object whole if its projection throws or drops its name, and still projects the others", async () => {
    const kind = view(ConfigMap, {
      project: (config) => {
        if (config.metadata.name === "throws") throw new Error("odd");
        return config.metadata.name === "loses" ? ({ metadata: {} } as never) : { metadata: config.metadata };
      },
    });
    await using world = following({ kind });
    for (const name of ["a", "loses", "throws"]) world.api.put(ConfigMap, config(name, { some: "data" }));
    await world.start();
    expect([...world.cache.objects()].map(({ metadata, data }) => [metadata.name, data])).toEqual([
      ["a", undefined],
      ["loses", { some: "data" }],
      ["throws", { some: "data" }],
    ]);
  });
});

function sharing() {
  const api = new ScriptedApi();
  const environment = manualEnvironment();
  return { api, clock: environment.clock, caches: new SharedCaches({ client: api, environment, log: silentLogger }) };
}

describe("SharedCaches", () => {
  it("returns the same cache for equal kinds", async () => {
    const { api, caches, clock } = sharing();
    const spelled = dynamicKind({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
    await using first = caches.open(ConfigMap);
    await using second = caches.open(spelled);
    await clock.advance(0);
    expect(second.cache).toBe(first.cache);
    expect(api.openWatches).toBe(1);
  });

  it("returns different caches for views with different projections or selections", async () => {
    const { api, caches, clock } = sharing();
    await using whole = caches.open(ConfigMap);
    await using lean = caches.open(view(ConfigMap, { project: ({ metadata }) => ({ metadata }) }));
    await using some = caches.open(view(ConfigMap, { labelSelector: "app=web" }));
    await using same = caches.open(view(ConfigMap, { labelSelector: "app=web" }));
    await clock.advance(0);
    expect(new Set([whole.cache, lean.cache, some.cache, same.cache]).size).toBe(3);
    expect(api.openWatches).toBe(3);
  });

  it("stops a cache once, when its last user has closed it", async () => {
    const { api, caches, clock } = sharing();
    const first = caches.open(ConfigMap);
    const second = caches.open(ConfigMap);
    await clock.advance(0);
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect([api.openWatches, caches.synced, caches.status().length]).toEqual([1, true, 1]);
    await second[Symbol.asyncDispose]();
    expect([api.openWatches, caches.status().length]).toEqual([0, 0]);
  });
});
