import { describe, expect, it } from "vitest";
import { ForbiddenError, TooManyRequestsError } from "../client/errors.ts";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import { controller } from "./controller.ts";
import type { CachedObjects } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { checkAgainIn, done, waitForChange } from "./outcome.ts";

const said = { attempt: "test", reason: "", message: "no", status: 409 };

describe("a controller at work", () => {
  it("reconciles what is there, and what changes", async () => {
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

  it("W3: does nothing before its caches are complete, nor while they are stale", async () => {
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

  it("explains how long an object waited, and for what, from the first time it was queued", async () => {
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

  it("queues nothing before it works, and then everything that is there, however much, and what changes meanwhile", async () => {
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

  it("looks at the owner when a child changes or goes, and at whoever a watched object matters to, before and after", async () => {
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

  it("checks again when it was told to, and not when it waits for a change", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, {}, async ({ name }) => {
        ran.push(name);
        return name === "sampled" ? checkAgainIn(15_000, "usage can only be sampled") : waitForChange("nothing to do");
      }),
    );
    at.api.put(ConfigMap, config("sampled"));
    at.api.put(ConfigMap, config("quiet"));
    await at.start();
    await at.clock.advance(60_000);
    expect(at.ran.filter((name) => name === "sampled")).toHaveLength(5);
    expect(at.ran.filter((name) => name === "quiet")).toHaveLength(1);
    const [record] = at.runner.explain(ref("sampled")).slice(-1);
    expect(record).toMatchObject({ ended: "checks again in 15 s: usage can only be sampled", times: 5 });
  });

  it("E3: a poisoned object is tried ever more rarely, and stops nobody", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, {}, async ({ name }) => {
        ran.push(name);
        if (name === "poisoned") throw new Error("cannot read properties of undefined");
        return done();
      }),
    );
    for (const name of ["a", "poisoned", "z"]) at.api.put(ConfigMap, config(name));
    await at.start();
    expect(new Set(at.ran)).toEqual(new Set(["a", "poisoned", "z"]));
    await at.clock.advance(60_000);
    expect(at.ran.filter((name) => name === "poisoned").length).toBeLessThan(13); // 50 ms, doubling
    at.api.put(ConfigMap, config("z", { still: "served" }));
    await at.clock.advance(0);
    expect(at.ran.filter((name) => name === "z")).toHaveLength(2);
    expect(at.errors[0]).toBe("Error: cannot read properties of undefined");
  });

  it("E3: a reconcile that never ends is left behind at its time limit, and can do nothing any more", async () => {
    let lateWrite: Promise<unknown> | undefined;
    await using at = await atWork((ran) =>
      controller(ConfigMap, { owns: [Secret], timeoutMs: 5_000 }, async ({ name }, ctx) => {
        ran.push(name);
        if (name !== "stuck" || ran.filter((other) => other === "stuck").length > 1) return done();
        ctx.signal.addEventListener("abort", () => {
          lateWrite = ctx.client.create(Secret, { metadata: ref("late") });
        });
        return new Promise(() => {});
      }),
    );
    for (const name of ["a", "stuck", "z"]) at.api.put(ConfigMap, config(name));
    await at.start();
    await at.clock.advance(6_000);
    expect(new Set(at.ran)).toEqual(new Set(["a", "stuck", "z"]));
    expect(at.ran.filter((name) => name === "stuck")).toHaveLength(2);
    await expect(lateWrite).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(at.world.writes).toEqual([]);
  });

  it("E3: a predicate, a mapping or a reconciler that throws at once is logged, and the rest goes on", async () => {
    await using at = await atWork((ran) =>
      controller(
        ConfigMap,
        {
          when: () => {
            throw new Error("predicate");
          },
          watches: [
            {
              kind: Secret,
              map: () => {
                throw new Error("mapping");
              },
            },
          ],
        },
        ({ name }) => {
          ran.push(name);
          throw new PermanentError("reconciler");
        },
      ),
    );
    at.api.put(ConfigMap, config("a"));
    at.api.put(Secret, { metadata: ref("s") });
    await at.start();
    expect(at.ran).toEqual(["a"]);
    expect(at.errors.map((error) => error.split(": ")[1]).sort()).toEqual(["mapping", "predicate", "reconciler"]);
  });

  it("E3: a mapping that names nothing where it should name an object is logged, and the object is listened to", async () => {
    await using at = await atWork((ran) => {
      const map = () => [ref("a"), undefined as never]; // past the compiler: `cached.get(…)?.metadata!`
      return controller(ConfigMap, { resyncMs: 0, watches: [{ kind: Secret, map }] }, async ({ name }) => noted(ran, name));
    });
    await at.start();
    at.api.put(Secret, { metadata: ref("s") });
    await at.clock.advance(600_000);
    expect([at.runner.synced, at.ran, at.errors.length]).toEqual([true, ["a"], 1]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    "does not check again in %d ms: that is an error, not a hot loop",
    async (ms) => {
      await using at = await atWork((ran) =>
        controller(ConfigMap, { resyncMs: 0 }, async ({ name }) => {
          ran.push(name);
          return ran.length < 100 ? checkAgainIn(ms, "the schedule says so") : done();
        }),
      );
      at.api.put(ConfigMap, config("a"));
      await at.start();
      await at.clock.advance(60_000);
      expect(at.ran).toEqual(["a"]);
      expect(at.errors).toEqual([
        expect.stringContaining(`"the schedule says so"): expected a number of milliseconds, found ${ms}`),
      ]);
    },
  );

  it("waits for a change after a permanent error, and tells people once", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { resyncMs: 0 }, async ({ name }) => {
        ran.push(name);
        throw new PermanentError("spec.schedule names no time");
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(3_600_000);
    expect(at.ran).toEqual(["a"]);
    const told = { regarding: { name: "a" }, type: "Warning", reason: "ReconcileFailed", note: "spec.schedule names no time" };
    expect(at.events).toMatchObject([told]);
    at.api.put(ConfigMap, config("a", { now: "valid?" }));
    await at.clock.advance(0);
    expect(at.ran).toEqual(["a", "a"]);
  });

  it("A1: asks again after a minute when the server refuses, and the status says so", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { whenStuck: ({ message }) => ({ message }) as never }, async ({ name }) => {
        ran.push(name);
        throw new ForbiddenError({ ...said, status: 403 });
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(55_000);
    // The status that was written is a change of the object, so it is looked at once more; it says the same, so no more.
    expect(at.ran.length).toBeLessThanOrEqual(2);
    expect(at.world.writes).toEqual(["apply status of ConfigMap home/a"]);
    await at.clock.advance(100_000);
    expect(at.ran.length).toBeGreaterThan(1);
    expect(at.ran.length).toBeLessThanOrEqual(4);
  });

  it("says that it is stuck with what else is in its caches", async () => {
    const counted = (_error: Error, _object: unknown, cached: CachedObjects) =>
      ({ secrets: [...cached.objects(Secret)].length }) as never;
    await using at = await atWork(() =>
      controller(ConfigMap, { owns: [Secret], whenStuck: counted }, async () => {
        throw new PermanentError("no");
      }),
    );
    at.api.put(Secret, { metadata: ref("s") });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.api.get(ConfigMap, ref("a"))).toMatchObject({ status: { secrets: 1 } });
  });

  it("is not woken by changes of children that do not matter", async () => {
    const matters = ({ object }: { object: Secret }) => object.data?.loud === "yes";
    await using at = await atWork((ran) =>
      controller(ConfigMap, { owns: [Secret], whenOwned: matters }, async ({ name }) => noted(ran, name)),
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

  it("A1: looks afresh after a conflict, without noise", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { owns: [Secret] }, async ({ name }, ctx) => {
        ran.push(name);
        if (ran.length <= 3)
          await ctx.client.patch(Secret, ref("s"), { type: "merge", body: { metadata: { resourceVersion: "0" } } });
        return done();
      }),
    );
    at.api.put(Secret, { metadata: ref("s") });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(1_000);
    expect(at.ran).toHaveLength(4);
    expect(at.errors).toEqual([]);
    expect(at.runner.explain(ref("a"))[0]?.wrote).toEqual(["patch Secret home/s → API_CONFLICT"]);
  });

  it("A2: comes back no sooner than a busy server wants", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, {}, async ({ name }) => {
        ran.push(name);
        throw new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 20 });
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(19_000);
    expect(at.ran).toHaveLength(1);
    await at.clock.advance(2_000);
    expect(at.ran).toHaveLength(2);
  });

  it("refuses at run time what was not declared", async () => {
    await using at = await atWork(() =>
      controller(ConfigMap, {}, async (own, ctx) => {
        expect(() => ctx.get(Secret as never, own)).toThrow(/add it to owns or watches/);
        await ctx.client.delete(ConfigMap as never, own);
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.errors.join()).toContain("AccessNotDeclaredError");
    expect(at.world.writes).toEqual([]);
  });

  it("looks at everything again, now and then", async () => {
    await using at = await atWork((ran) => controller(ConfigMap, { resyncMs: 60_000 }, async ({ name }) => noted(ran, name)));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(600_000);
    expect(at.ran.length).toBeGreaterThan(8);
    expect(at.ran.length).toBeLessThan(13);
  });

  it("finishes what is under way when it is stopped, takes nothing new, and leaves nothing behind", async () => {
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

  it("L2: gives up what is under way when it is told to", async () => {
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
    expect(at.runner.explain(ref("a"))[0]?.ended).toBe("given up: stopping");
  });
});
