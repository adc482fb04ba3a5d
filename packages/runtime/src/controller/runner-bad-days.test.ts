import { describe, expect, it } from "vitest";
import { ForbiddenError, TooManyRequestsError } from "../client/errors.ts";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import type { CachedObjects } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { checkAgainIn, done } from "./outcome.ts";

const said = { attempt: "test", reason: "", message: "no", status: 409 };

describe("a controller on a bad day", () => {
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
});
