import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import type { KubernetesObject, Stored } from "../objects/object.ts";
import type { CacheOptions } from "./cache.ts";
import { compareVersions, isAtLeast, isOlder, isReached, type Mark, MarkWaiters, type Progress } from "./own-writes.ts";
import { config, following, ref, refusal } from "./scripted-api.fixture.ts";

const home = { namespace: "home", name: "a" };
const written: Mark = { type: "written", ref: home, uid: "u", resourceVersion: "10", listingsBegun: 1 };
const opaque: Mark = { ...written, resourceVersion: "etag-x" };
const deleted: Mark = { type: "deleted", ref: home, uid: "u", listingsBegun: 1 };
const unknown: Mark = { type: "unknown", ref: home, listingsBegun: 1 };

function stored(resourceVersion: string, more: { uid?: string; deletionTimestamp?: string } = {}): Stored<KubernetesObject> {
  return { metadata: { ...home, uid: "u", resourceVersion, ...more } };
}

const cases: {
  name: string;
  mark: Mark;
  seen: { there?: Stored<KubernetesObject>; position?: string; listingDone?: number };
  expected: boolean;
}[] = [
  {
    name: "a write is not reached while the cache has the state before",
    mark: written,
    seen: { there: stored("9"), position: "9" },
    expected: false,
  },
  { name: "a write is reached by its own event", mark: written, seen: { there: stored("10"), position: "10" }, expected: true },
  { name: "a write is reached by any later event of the kind", mark: written, seen: { position: "11" }, expected: true },
  {
    name: "a write that changed nothing is reached at once",
    mark: written,
    seen: { there: stored("10"), position: "9" },
    expected: true,
  },
  {
    name: "a namesake of another UID does not count",
    mark: written,
    seen: { there: stored("11", { uid: "v" }), position: "9" },
    expected: false,
  },
  {
    name: "an opaque version is reached by the very same",
    mark: opaque,
    seen: { there: stored("etag-x"), position: "etag-x" },
    expected: true,
  },
  {
    name: "an opaque version is not reached by another",
    mark: opaque,
    seen: { there: stored("etag-z"), position: "etag-z" },
    expected: false,
  },
  { name: "anything is reached by a listing that began later", mark: opaque, seen: { listingDone: 2 }, expected: true },
  { name: "nothing is reached by a listing that had begun before", mark: unknown, seen: { listingDone: 1 }, expected: false },
  {
    name: "an unknown outcome is not reached by events",
    mark: unknown,
    seen: { there: stored("99"), position: "99" },
    expected: false,
  },
  { name: "a deletion is not reached while the object is there", mark: deleted, seen: { there: stored("9") }, expected: false },
  { name: "a deletion is reached when the object is gone", mark: deleted, seen: {}, expected: true },
  {
    name: "a deletion is reached when the object is on its way out",
    mark: deleted,
    seen: { there: stored("11", { deletionTimestamp: "now" }) },
    expected: true,
  },
  {
    name: "W4: a deletion is reached when a namesake is there",
    mark: deleted,
    seen: { there: stored("12", { uid: "v" }) },
    expected: true,
  },
];

describe("isReached", () => {
  it.each(cases)("$name", ({ mark, seen, expected }) => {
    const progress: Progress = { get: () => seen.there, position: seen.position, listingDone: seen.listingDone ?? 1 };
    expect(isReached(mark, progress)).toBe(expected);
  });
});

const writtenAt = (resourceVersion: string): Mark => ({
  type: "written",
  ref: home,
  listingsBegun: 0,
  uid: "u",
  resourceVersion,
});
const deletedMark: Mark = { type: "deleted", ref: home, listingsBegun: 0, uid: "u" };

/** Waiters for these marks. The test sets what is reached; every check is counted. */
function waiting(...marks: Mark[]) {
  const waiters = new MarkWaiters();
  const looks: number[] = marks.map(() => 0);
  const called: number[] = [];
  const reached = new Set<number>();
  const cancels = marks.map((mark, at) => {
    const look = () => {
      looks[at] = (looks[at] ?? 0) + 1;
      return reached.has(at);
    };
    return waiters.add(mark, look, () => called.push(at));
  });
  return { waiters, looks, called, reached, cancels };
}

describe("MarkWaiters", () => {
  it("does not check a mark before the cache has reached its version", () => {
    const { waiters, looks, called, reached } = waiting(writtenAt("300"), writtenAt("200"), writtenAt("1000"));
    for (let version = 1; version < 200; version += 1) waiters.passed(`${version}`);
    expect(looks).toEqual([0, 0, 0]);
    reached.add(0).add(1);
    waiters.passed("300");
    expect([called, looks]).toEqual([
      [1, 0],
      [1, 1, 0],
    ]);
    waiters.passed("301");
    expect(looks).toEqual([1, 1, 0]);
  });

  it("keeps waiting if the mark is not reached at its version", () => {
    const { waiters, called, reached } = waiting(writtenAt("100"));
    waiters.passed("100");
    reached.add(0);
    waiters.passed("101");
    expect(called).toEqual([0]);
  });

  it("checks marks without an ordered version with every event", () => {
    const { waiters, looks, called, reached } = waiting(deletedMark, writtenAt("opaque"));
    waiters.passed("1");
    reached.add(0).add(1);
    waiters.passed("2");
    waiters.passed("3");
    expect([called, looks]).toEqual([
      [0, 1],
      [2, 2],
    ]);
  });

  it("checks every mark after a list and keeps those that are not reached", () => {
    const { waiters, called, reached } = waiting(writtenAt("300"), deletedMark, writtenAt("400"));
    reached.add(0).add(1);
    waiters.lookAtAll();
    expect(called).toEqual([0, 1]);
    reached.add(2);
    waiters.passed("400");
    expect(called).toEqual([0, 1, 2]);
  });

  it("does not call canceled waiters, and they do not block others", () => {
    const { waiters, called, reached, cancels } = waiting(writtenAt("100"), writtenAt("200"));
    cancels[0]?.();
    reached.add(0).add(1);
    waiters.passed("200");
    expect(called).toEqual([1]);
  });
});

describe("resource versions", () => {
  const cases = [
    { name: "are equal to themselves", a: "17", b: "17", order: 0 },
    { name: "are equal to themselves even when opaque", a: "z", b: "z", order: 0 },
    { name: "are numbers, not words: 9 comes before 10", a: "9", b: "10", order: -1 },
    { name: "keep their order above 2^53", a: "9007199254740993", b: "9007199254740992", order: 1 },
    { name: "have no order when one is opaque", a: "12", b: "etag-a", order: undefined },
    { name: "have no order with a leading zero, which no server writes", a: "012", b: "13", order: undefined },
    { name: "have no order with the empty version", a: "", b: "13", order: undefined },
  ];
  it.each(cases)("$name", ({ a, b, order }) => {
    const found = compareVersions(a, b);
    expect(found === undefined ? undefined : Math.sign(found)).toBe(order);
  });

  it("are ordered as integers of any size", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 80n }), fc.bigInt({ min: 1n, max: 2n ** 80n }), (a, b) => {
        expect(isOlder(`${a}`, `${b}`)).toBe(a < b);
        expect(isAtLeast(`${a}`, `${b}`)).toBe(a >= b);
      }),
    );
  });
});

describe("W1: a cache after a write", () => {
  it("reaches the write with its event", async () => {
    await using world = following();
    await world.start();
    const mark = world.cache.written(world.api.put(ConfigMap, config("a")));
    expect(world.cache.reached(mark)).toBe(false);
    await world.cache.whenReached(mark);
    expect(world.cache.get(ref("a"))).toBeDefined();
  });

  it("reaches a write outside its selection with the next bookmark", async () => {
    await using world = following();
    await world.start();
    world.api.muted = true;
    const mark = world.cache.written(world.api.put(ConfigMap, config("a")));
    world.api.bookmark(ConfigMap);
    await world.cache.whenReached(mark);
    expect(world.api.calls).toHaveLength(1);
  });

  it("lists again if a write is overdue, and stays usable meanwhile", async () => {
    await using world = following();
    await world.start();
    world.api.muted = true;
    const mark = world.cache.written(world.api.put(ConfigMap, config("a")));
    const reached = world.cache.whenReached(mark);
    await world.clock.advance(9_000);
    expect([world.cache.reached(mark), world.cache.synced]).toEqual([false, true]);
    await world.clock.advance(1_000);
    await reached;
    expect(world.names()).toEqual(["a"]);
  });

  it("C2: reaches a write of unknown outcome only by a list that began after it", async () => {
    await using world = following();
    await world.start();
    const mark = world.cache.unknown(ref("a"));
    world.api.put(ConfigMap, config("other"));
    await world.clock.advance(0);
    expect(world.cache.reached(mark)).toBe(false);
    const reached = world.cache.whenReached(mark);
    await world.clock.advance(0);
    await reached;
    expect(world.api.calls).toEqual(["stream configmaps", "stream configmaps"]);
  });

  it("lists on request even while it waits to reconnect", async () => {
    await using world = following();
    await world.start();
    world.api.cutWatches(refusal(500));
    await world.clock.advance(0);
    const reached = world.cache.whenReached(world.cache.unknown(ref("a")));
    await world.clock.advance(2_000);
    await reached;
    expect(world.api.calls).toEqual(["stream configmaps", "stream configmaps"]);
  });

  it("C2: lists again if requested during a list, which may have begun too early", async () => {
    const client: CacheOptions<ConfigMap>["client"] = {
      list: () => expect.unreachable(),
      async *watch(kind, options) {
        await world.clock.sleep(1_000, options?.signal);
        yield* world.api.watch(kind, options);
      },
    };
    await using world = following({ client });
    await world.start();
    await world.clock.advance(500);
    let isReached = false;
    world.cache.whenReached(world.cache.unknown(ref("a"))).then(() => {
      isReached = true;
    });
    await world.clock.advance(600);
    expect([world.cache.synced, isReached]).toEqual([true, false]);
    await world.clock.advance(1_000);
    expect([isReached, world.api.calls]).toEqual([true, ["stream configmaps", "stream configmaps"]]);
  });

  it("does not wait for objects in namespaces it does not watch", async () => {
    await using world = following({ namespaces: ["home"] });
    await world.start();
    const mark = world.cache.written(world.api.put(ConfigMap, config("a", {}, "elsewhere")));
    expect(world.cache.reached(mark)).toBe(true);
  });

  it("rejects pending waits when it is stopped", async () => {
    const world = following();
    await world.start();
    const reached = world.cache.whenReached(world.cache.unknown(ref("a")));
    await world.cache.stop();
    await expect(reached).rejects.toThrow();
    expect(world.clock.pending).toBe(0);
  });
});
