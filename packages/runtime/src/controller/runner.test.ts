import { describe, expect, it } from "vitest";
import { ForbiddenError } from "../client/errors.ts";
import type { Clock } from "../concurrency/environment.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import { ConfigMap, Secret, Service } from "../objects/kinds/core.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import { controller } from "./controller.ts";
import { awaitChange, done, requeueAfter } from "./outcome.ts";
import { EventLoopYielder } from "./runner.ts";

const said = { attempt: "test", reason: "", message: "no", status: 409 };

describe("ControllerRunner", () => {
  it("reconciles existing and changed objects", async () => {
    await using at = await atWork((ran) => controller(ConfigMap, {}, async ({ name }) => noted(ran, name)));
    at.api.put(ConfigMap, config("a"));
    at.api.put(ConfigMap, config("b"));
    await at.start();
    expect(at.ran.sort()).toEqual(["a", "b"]);
    at.api.put(ConfigMap, config("a", { now: "different" }));
    await at.clock.advance(0);
    expect(at.ran).toEqual(["a", "b", "a"]);
    expect(at.runner.explain(ref("a")).map(({ because }) => because)).toEqual([["ConfigMap home/a changed"]]);
  });

  it("W3: reconciles nothing before its caches are synced, nor while they are stale", async () => {
    await using at = await atWork((ran) => controller(ConfigMap, {}, async ({ name }) => noted(ran, name)));
    at.api.put(ConfigMap, config("a"));
    at.api.refuse = () => new ForbiddenError({ ...said, status: 403 });
    await at.start();
    expect([at.runner.synced, at.ran]).toEqual([false, []]);
    at.api.refuse = () => undefined;
    await at.clock.advance(2_000);
    expect([at.runner.synced, at.ran]).toEqual([true, ["a"]]);
    at.api.refuse = () => new ForbiddenError({ ...said, status: 403 });
    at.api.cutWatches();
    await at.clock.advance(40_000);
    at.runner.enqueue(ref("a"), "asked to");
    await at.clock.advance(0);
    expect([at.runner.synced, at.ran]).toEqual([false, ["a"]]);
    at.api.refuse = () => undefined;
    await at.clock.advance(60_000);
    expect([at.runner.synced, at.ran]).toEqual([true, ["a", "a"]]);
  });

  it("explains how long an object waited since it was first enqueued, and for what", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { owns: [Secret], resyncMs: 0 }, async (own, ctx) => {
        const owner = ctx.get(ConfigMap, own);
        if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, { metadata: { name: "s" } })]);
        return noted(ran, own.name);
      }),
    );
    at.api.put(ConfigMap, config("a"));
    at.api.refuse = (call) => (call.includes("secrets") ? new ForbiddenError({ ...said, status: 403 }) : undefined);
    await at.start();
    at.runner.enqueue(ref("a"), "asked early");
    await at.clock.advance(5_000);
    at.api.refuse = () => undefined;
    at.api.muted = "secrets"; // what it writes now is not seen before the cache is listed again
    await at.clock.advance(5_000);
    at.runner.enqueue(ref("a"), "asked to");
    await at.clock.advance(1_000);
    at.runner.enqueue(ref("a"), "asked again");
    await at.clock.advance(60_000);
    const [first, second] = at.runner.explain(ref("a"));
    expect(first).toMatchObject({ waitedFor: ["caches"], waitedMs: expect.toSatisfy((ms: number) => ms > 5_000) });
    expect(second).toMatchObject({ waitedFor: ["own writes"], because: ["listed", "asked to", "asked again"], times: 1 });
    expect(second?.waitedMs).toBeGreaterThan(3_000);
    at.runner.enqueue(ref("a"), "asked to");
    await at.clock.advance(0);
    expect(at.runner.explain(ref("a")).at(-1)).toMatchObject({ waitedMs: 0 });
    expect(at.runner.explain(ref("a")).at(-1)).not.toHaveProperty("waitedFor");
  });

  it("enqueues nothing before work(), and then all existing objects and all changes", async () => {
    await using at = await atWork((ran) => controller(ConfigMap, { resyncMs: 0 }, async ({ name }) => noted(ran, name)));
    for (let n = 0; n < 1_200; n += 1) at.api.put(ConfigMap, config(`c-${n}`));
    at.runner.start();
    await at.clock.advance(0);
    at.api.put(ConfigMap, config("c-0", { changed: "before" }));
    at.api.remove(ConfigMap, ref("c-1"));
    await at.clock.advance(60_000);
    at.runner.work();
    await at.clock.advance(1_000);
    expect(at.ran.length).toBe(1_199);
    expect(new Set(at.ran).size).toBe(1_199);
    expect(at.runner.explain(ref("c-0"))).toMatchObject([{ because: ["listed"], waitedMs: 0 }]);
  });

  it("reconciles the owner when a child changes or is removed, and the objects that a watched object maps to, before and after a change", async () => {
    await using at = await atWork((ran) => {
      const map = ({ data = {} }: Secret) => (data.for === undefined ? [] : [ref(data.for)]);
      return controller(ConfigMap, { owns: [ConfigMap], watches: [{ kind: Secret, map }] }, async ({ name }) => noted(ran, name));
    });
    await at.start();
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "u", controller: true }];
    at.api.put(ConfigMap, { metadata: { ...ref("child"), ownerReferences } });
    await at.clock.advance(0);
    expect(at.ran.splice(0).sort()).toEqual(["child", "owner"]);
    at.api.put(Secret, { metadata: ref("s"), data: { for: "first" } });
    await at.clock.advance(0);
    at.api.put(Secret, { metadata: ref("s"), data: { for: "second" } });
    await at.clock.advance(0);
    expect(at.ran).toEqual(["first", "second", "first"]);
  });

  it("requeues after requeueAfter, and not after awaitChange", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, {}, async ({ name }) => {
        ran.push(name);
        return name === "sampled" ? requeueAfter(15_000, "usage can only be sampled") : awaitChange("nothing to do");
      }),
    );
    at.api.put(ConfigMap, config("sampled"));
    at.api.put(ConfigMap, config("quiet"));
    await at.start();
    await at.clock.advance(60_000);
    expect(at.ran.filter((name) => name === "sampled")).toHaveLength(5);
    expect(at.ran.filter((name) => name === "quiet")).toHaveLength(1);
    const [record] = at.runner.explain(ref("sampled")).slice(-1);
    expect(record).toMatchObject({ ended: "requeues after 15 s: usage can only be sampled", times: 5 });
  });

  it("ignores changes of children that the predicate rejects", async () => {
    const matters = ({ object }: { object: Secret }) => object.data?.loud === "yes";
    await using at = await atWork((ran) =>
      controller(ConfigMap, { owns: [{ kind: Secret, predicate: matters }] }, async ({ name }) => noted(ran, name)),
    );
    const { uid } = at.api.put(ConfigMap, config("a")).metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid, controller: true }];
    const say = async (loud: string) => {
      at.api.put(Secret, { metadata: { ...ref("s"), ownerReferences }, data: { loud } });
      await at.clock.advance(0);
      return at.ran.length;
    };
    await at.start();
    expect([at.ran.length, await say("no"), await say("yes"), await say("no")]).toEqual([1, 1, 2, 2]);
  });

  it("applies predicates per owned kind", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { owns: [{ kind: Secret, predicate: () => false }, Service] }, async ({ name }) => noted(ran, name)),
    );
    const { uid } = at.api.put(ConfigMap, config("a")).metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid, controller: true }];
    await at.start();
    at.api.put(Secret, { metadata: { ...ref("s"), ownerReferences } });
    await at.clock.advance(0);
    expect(at.ran).toHaveLength(1);
    at.api.put(Service, { metadata: { ...ref("s"), ownerReferences } });
    await at.clock.advance(0);
    expect(at.ran).toHaveLength(2);
  });

  it("reconciles objects with a higher priority first", async () => {
    const priority = ({ data }: ConfigMap) => Number(data?.priority ?? 0);
    const first = Promise.withResolvers<void>();
    await using at = await atWork((ran) =>
      controller(ConfigMap, { priority }, async ({ name }) => {
        if (name === "first") await first.promise;
        else ran.push(name);
        return done();
      }),
    );
    at.api.put(ConfigMap, config("first"));
    await at.start();
    for (const [name, level] of Object.entries({ a: "1", b: "3", c: "2" }))
      at.api.put(ConfigMap, config(name, { priority: level }));
    await at.clock.advance(0);
    first.resolve();
    await at.clock.advance(0);
    expect(at.ran).toEqual(["b", "c", "a"]);
  });

  it("retries with the back-off of the controller", async () => {
    const backoff = { initialMs: 60_000, maxMs: 60_000 };
    await using at = await atWork((ran) =>
      controller(ConfigMap, { backoff }, async ({ name }) => {
        ran.push(name);
        throw new Error("not yet");
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(59_000);
    expect(at.ran).toHaveLength(1);
    await at.clock.advance(2_000);
    expect(at.ran).toHaveLength(2);
  });

  it("logs every line of one reconcile with the same reconcileID, and the next reconcile with another", async () => {
    await using at = await atWork(() =>
      controller(ConfigMap, { resyncMs: 0 }, async (_ref, { log, failures }) => {
        log.info({}, "first line");
        log.info({}, "second line");
        if (failures === 0) throw new Error("once");
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(1_000);
    const lines = at.lines.map(({ object, reconcileID }) => [object, reconcileID]);
    const [first, , failed, again] = lines;
    expect(lines).toHaveLength(5);
    expect(first).toEqual(["home/a", expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(failed).toEqual(first);
    expect(again).toEqual(["home/a", expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(again).not.toEqual(first);
  });

  it("reconciles every object at a resync", async () => {
    await using at = await atWork((ran) => controller(ConfigMap, { resyncMs: 60_000 }, async ({ name }) => noted(ran, name)));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(600_000);
    expect(at.ran.length).toBeGreaterThan(8);
    expect(at.ran.length).toBeLessThan(13);
  });

  it("finishes running reconciles on stop, starts no new ones, and releases its caches", async () => {
    let finish = () => {};
    const at = await atWork((ran) =>
      controller(ConfigMap, {}, async ({ name }) => {
        ran.push(`${name} begun`);
        await new Promise<void>((resolve) => (finish = resolve));
        ran.push(`${name} finished`);
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a"));
    at.api.put(ConfigMap, config("b"));
    await at.start();
    const stopped = at.runner.stop();
    await at.clock.advance(10_000);
    finish();
    await stopped;
    expect(at.ran).toEqual(["a begun", "a finished"]);
    expect([at.api.openWatches, at.clock.pending]).toEqual([0, 0]);
  });

  it("L2: aborts running reconciles when the stop signal aborts", async () => {
    const at = await atWork((ran) =>
      controller(ConfigMap, {}, async ({ name }, ctx) => {
        ran.push(name);
        return new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.runner.stop(AbortSignal.abort(new Error("the lease is lost")));
    expect(at.errors).toEqual([]);
    expect(at.runner.explain(ref("a"))[0]?.ended).toBe("aborted: the operator is stopping");
  });
});

/** A manual clock on which time also passes during work. */
function workingClock() {
  const clock = manualClock();
  let worked = 0;
  const busy: Clock = {
    ...clock,
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + worked,
    after: (ms, f) => clock.after(ms, f),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
  return { clock, busy, work: (ms: number) => (worked += ms) };
}

it("EventLoopYielder yields only after a turn has lasted too long", async () => {
  const { clock, busy, work } = workingClock();
  const yielder = new EventLoopYielder(busy, 5);
  expect(yielder.yieldIfDue()).toBeUndefined();
  work(4);
  expect(yielder.yieldIfDue()).toBeUndefined();
  work(4);
  const pause = yielder.yieldIfDue();
  expect(pause).toBeInstanceOf(Promise);
  await clock.advance(0);
  await pause;
  expect(yielder.yieldIfDue()).toBeUndefined();
});

it("EventLoopYielder does not delay work after an idle time", async () => {
  const { clock, busy } = workingClock();
  const yielder = new EventLoopYielder(busy, 5);
  yielder.yieldIfDue();
  await clock.advance(60_000);
  expect(yielder.yieldIfDue()).toBeUndefined();
  yielder.stop();
  expect(clock.pending).toBe(0);
});
