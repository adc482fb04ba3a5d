import { describe, expect, it } from "vitest";
import { ForbiddenError, TooManyRequestsError } from "../client/errors.ts";
import { ConfigMap, Secret } from "../objects/kinds/core.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import type { CacheReader } from "./context.ts";
import { controller, type SourceContext } from "./controller.ts";
import { TerminalError } from "./errors.ts";
import { done, requeueAfter } from "./outcome.ts";

const said = { attempt: "test", reason: "", message: "no", status: 409 };

describe("a controller under errors", () => {
  it("E3: an object whose reconcile always fails is retried with a growing delay and does not block others", async () => {
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

  it("E3: a reconcile that never returns is abandoned at its time limit, and its later calls are rejected", async () => {
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

  it("E3: a predicate, map or reconcile function that throws is logged, and the controller continues", async () => {
    await using at = await atWork((ran) =>
      controller(
        ConfigMap,
        {
          predicate: () => {
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
          throw new TerminalError("reconciler");
        },
      ),
    );
    at.api.put(ConfigMap, config("a"));
    at.api.put(Secret, { metadata: ref("s") });
    await at.start();
    expect(at.ran).toEqual(["a"]);
    expect(at.errors.map((error) => error.split(": ")[1]).sort()).toEqual(["mapping", "predicate", "reconciler"]);
  });

  it("E3: a map function that returns undefined refs is logged, and later changes are handled", async () => {
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
    "rejects requeueAfter(%d) as a terminal error instead of a hot loop",
    async (ms) => {
      await using at = await atWork((ran) =>
        controller(ConfigMap, { resyncMs: 0 }, async ({ name }) => {
          ran.push(name);
          return ran.length < 100 ? requeueAfter(ms, "the schedule is due") : done();
        }),
      );
      at.api.put(ConfigMap, config("a"));
      await at.start();
      await at.clock.advance(60_000);
      expect(at.ran).toEqual(["a"]);
      expect(at.errors).toEqual([
        expect.stringContaining(`"the schedule is due"): expected a number of milliseconds, found ${ms}`),
      ]);
    },
  );

  it("waits for a change after a TerminalError, and records one Event", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { resyncMs: 0 }, async ({ name }) => {
        ran.push(name);
        throw new TerminalError("spec.schedule is not a time");
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(3_600_000);
    expect(at.ran).toEqual(["a"]);
    const recorded = {
      regarding: { name: "a" },
      type: "Warning",
      reason: "ReconcileFailed",
      message: "spec.schedule is not a time",
    };
    expect(at.events).toMatchObject([recorded]);
    at.api.put(ConfigMap, config("a", { now: "valid?" }));
    await at.clock.advance(0);
    expect(at.ran).toEqual(["a", "a"]);
  });

  it("A1: retries after a minute when the server rejects a write, and sets the status", async () => {
    await using at = await atWork((ran) =>
      controller(ConfigMap, { onTerminalError: ({ message }) => ({ message }) as never }, async ({ name }) => {
        ran.push(name);
        throw new ForbiddenError({ ...said, status: 403 });
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(55_000);
    // The status write is a change and triggers one more reconcile. That one writes the same status, so it triggers no more.
    expect(at.ran.length).toBeLessThanOrEqual(2);
    expect(at.world.writes).toEqual(["apply status of ConfigMap home/a"]);
    await at.clock.advance(100_000);
    expect(at.ran.length).toBeGreaterThan(1);
    expect(at.ran.length).toBeLessThanOrEqual(4);
  });

  it("A1: a source that enqueues with respectBackoff does not shorten the back-off after a rejection; a change does", async () => {
    const poll = {
      name: "poll",
      run: async ({ enqueue, environment, signal }: SourceContext) => {
        for (; !signal.aborted; await environment.clock.sleep(5_000, signal).catch(() => {}))
          for (const name of ["rejected", "fine"]) enqueue(ref(name), "polled", { respectBackoff: true });
      },
    };
    await using at = await atWork((ran) =>
      controller(ConfigMap, { sources: [poll], resyncMs: 20_000 }, async ({ name }) => {
        ran.push(name);
        if (name === "rejected") throw new ForbiddenError({ ...said, status: 403 });
        return requeueAfter(3_600_000, "nothing else to do");
      }),
    );
    const count = (name: string) => at.ran.filter((each) => each === name).length;
    for (const name of ["rejected", "fine"]) at.api.put(ConfigMap, config(name));
    await at.start();
    await at.clock.advance(180_000);
    // At 0 s, after 60 to 72 s, and after 120 to 144 s more.
    expect(count("rejected")).toBeLessThanOrEqual(3);
    expect(count("rejected")).toBeGreaterThanOrEqual(2);
    expect(count("fine")).toBeGreaterThanOrEqual(37);
    const before = count("rejected");
    at.api.put(ConfigMap, config("rejected", { now: "allowed?" }));
    await at.clock.advance(0);
    expect(count("rejected")).toBe(before + 1);
  });

  it("passes the caches to onTerminalError", async () => {
    const counted = (_error: Error, _object: unknown, cached: CacheReader) => ({ secrets: cached.list(Secret).length }) as never;
    await using at = await atWork(() =>
      controller(ConfigMap, { owns: [Secret], onTerminalError: counted }, async () => {
        throw new TerminalError("no");
      }),
    );
    at.api.put(Secret, { metadata: ref("s") });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.api.get(ConfigMap, ref("a"))).toMatchObject({ status: { secrets: 1 } });
  });

  it("A1: reads again after a conflict, without a warning", async () => {
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

  it("A2: retries no sooner than the Retry-After of a 429", async () => {
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

  it("rejects undeclared calls at run time", async () => {
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
