import { describe, expect, it } from "vitest";
import { SharedCaches } from "../cache/shared-caches.ts";
import { ForbiddenError, TooManyRequestsError } from "../client/errors.ts";
import { type Logger, silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import type { ObjectRef } from "../objects/object.ts";
import { child } from "./children.ts";
import { controller } from "./controller.ts";
import type { Controller } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { noMetrics } from "./metrics.ts";
import type { ObjectEvent } from "./object-events.ts";
import { checkAgainIn, done, waitForChange } from "./outcome.ts";
import { ControllerRunner } from "./runner.ts";
import { loseAnswer, ScriptedWorld } from "./scripted-client.fixture.ts";

const ref = (name: string, namespace = "home"): ObjectRef => ({ namespace, name });
const config = (name: string, data: Record<string, string> = {}, namespace = "home"): ConfigMap => ({
  metadata: ref(name, namespace),
  data,
});
/** Writes down that it was called, and is content. */
function noted(ran: string[], what: string) {
  ran.push(what);
  return done();
}
const said = { attempt: "test", reason: "", message: "no", status: 409 };

/** A controller at work in a scripted world, on a manual clock. */
async function atWork(define: (ran: string[]) => Controller) {
  const world = new ScriptedWorld();
  const environment = manualEnvironment();
  const caches = new SharedCaches({ client: world.client, environment, log: silentLogger });
  const errors: string[] = [];
  const events: ObjectEvent[] = [];
  const log: Logger = {
    ...silentLogger,
    error: (fields) => errors.push(String((fields as { err?: unknown }).err)),
    child: () => log,
  };
  const ran: string[] = [];
  const dependencies = { client: world.client, caches, environment, log, metrics: noMetrics };
  const runner = new ControllerRunner(define(ran), { ...dependencies, events: { record: (event) => events.push(event) } });
  const { clock } = environment;
  const start = async () => {
    runner.start();
    runner.work();
    await clock.advance(0);
  };
  return { world, api: world.api, runner, clock, ran, errors, events, start, [Symbol.asyncDispose]: () => runner.stop() };
}

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

/** Keeps one Secret per ConfigMap, and counts how often it thought that there was none. */
const keepsSecret = (ran: string[]) =>
  controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
    const owner = ctx.get(ConfigMap, own);
    if (owner === undefined) return done();
    ran.push(ctx.get(Secret, own) === undefined ? "missing" : "there");
    if (ran.at(-1) === "missing") await ctx.client.create(Secret, { metadata: own });
    return done();
  });

describe("our own writes", () => {
  it("W1: a key is not reconciled from a view older than its own last write", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.api.put(ConfigMap, config("a"));
    at.world.spoil = () => {
      at.api.muted = true; // the write happens; the watch is slow to tell
      return undefined;
    };
    await at.clock.advance(0);
    expect(at.ran).toEqual(["missing"]);
    at.runner.enqueue(ref("a"), "asked to");
    await at.clock.advance(5_000);
    expect(at.ran).toEqual(["missing"]);
    at.api.muted = false;
    at.api.put(Secret, { metadata: ref("a") });
    await at.clock.advance(0);
    expect(at.ran).toEqual(["missing", "there"]);
    expect(at.world.writes).toEqual(["create Secret home/a"]);
  });

  it("W1: meanwhile the other keys are served", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.api.muted = "secrets";
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    at.runner.enqueue(ref("a"), "asked to");
    at.api.put(ConfigMap, config("b"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["create Secret home/a", "create Secret home/b"]);
  });

  it("C2: a write whose answer was lost is looked up, never repeated blindly and never assumed", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => loseAnswer; // it happens, and nobody says so
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(1_000);
    expect(at.world.writes).toEqual(["create Secret home/a"]);
    expect(at.ran).toEqual(["missing", "there"]);
    expect(at.api.calls).toContain("get secrets home/a");
  });

  it("C2: a write that never arrived is made again", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => {
      at.world.spoil = () => undefined;
      return loseAnswer();
    };
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(1_000);
    expect(at.world.writes).toEqual(["create Secret home/a", "create Secret home/a"]);
    expect(at.ran).toEqual(["missing", "missing"]);
  });

  it("C2: what cannot be looked up is waited for", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => loseAnswer;
    const { find } = at.world.client;
    at.world.client.find = () => Promise.reject(new Error("nobody answers"));
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(30_000);
    expect(at.ran).toEqual(["missing"]);
    at.world.client.find = find;
    await at.clock.advance(30_000);
    expect(at.ran).toEqual(["missing", "there"]);
  });
});

describe("children", () => {
  const colours = (wanted: () => readonly string[]) =>
    controller(ConfigMap, { owns: [Secret], resyncMs: 60_000 }, async (own, ctx) => {
      const owner = ctx.get(ConfigMap, own);
      if (owner === undefined) return done();
      const children = wanted().map((name) =>
        child(Secret, { metadata: { name, labels: { app: "colours" } }, stringData: { name } }),
      );
      await ctx.applyChildren(owner, children);
      return done();
    });

  it("are made, kept and removed; E1: and then nothing is written over 100 resyncs", async () => {
    let wanted = ["red", "green"];
    await using at = await atWork(() => colours(() => wanted));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/red", "apply Secret home/green"]);
    await at.clock.advance(100 * 66_000);
    expect(at.world.writes).toEqual([]);
    at.api.put(Secret, {
      ...at.api.get(Secret, ref("red")),
      metadata: { ...at.api.get(Secret, ref("red"))?.metadata, labels: { app: "mine" } },
    });
    await at.clock.advance(0);
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/red"]);
    wanted = ["red"];
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["delete Secret home/green"]);
  });

  it("are applied again when less is wanted of them", async () => {
    let labels: Record<string, string> = { app: "a", tier: "b" };
    await using at = await atWork(() =>
      controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
        const owner = ctx.get(ConfigMap, own);
        if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, { metadata: { name: "s", labels } })]);
        return done();
      }),
    );
    at.api.put(ConfigMap, config("a"));
    await at.start();
    labels = { app: "a" };
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/s", "apply Secret home/s"]);
  });

  it("of somebody else are never touched, even if the watch has not told of them yet", async () => {
    await using at = await atWork(() => colours(() => ["red"]));
    await at.start();
    at.api.muted = true;
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "yes" } });
    at.api.muted = false;
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual([]);
    expect(at.errors.join()).toContain("ChildNotOursError: Secret home/red: expected it to be controlled by home/a");
  });

  it("W4: of a deleted namesake of their owner are waited for, not fought over", async () => {
    await using at = await atWork(() => colours(() => ["red"]));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    at.api.remove(ConfigMap, ref("a"));
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(0);
    expect([at.world.writes, at.errors]).toEqual([["apply Secret home/red"], []]);
    at.api.remove(Secret, ref("red")); // the garbage collector
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/red", "apply Secret home/red"]);
    const owner = at.api.get(ConfigMap, ref("a"))?.metadata.uid;
    expect(at.api.get(Secret, ref("red"))?.metadata.ownerReferences?.[0]?.uid).toBe(owner);
  });
});

describe("a finalizer", () => {
  const cleaning = (ran: string[], outcome = done) =>
    controller(
      ConfigMap,
      {
        finalizer: {
          name: "test.example.com/cleanup",
          cleanUp: async ({ metadata }) => {
            ran.push(`clean up ${metadata.name}`);
            return outcome();
          },
        },
      },
      async ({ name }) => noted(ran, `reconcile ${name}`),
    );
  const dying = (finalizers: string[]) => ({
    metadata: { ...ref("a"), deletionTimestamp: "2026-01-01T00:00:00Z", finalizers },
  });

  it("is added before the first reconcile, and the reconcile sees it", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(0);
    expect(at.ran).toEqual(["reconcile a"]);
    expect(at.api.get(ConfigMap, ref("a"))?.metadata.finalizers).toEqual(["test.example.com/cleanup"]);
  });

  it("is removed when the clean-up is done, and the others stay", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, dying(["other.example.com/x", "test.example.com/cleanup"]));
    await at.start();
    await at.clock.advance(0);
    expect(at.ran).toEqual(["clean up a"]);
    expect(at.api.get(ConfigMap, ref("a"))?.metadata.finalizers).toEqual(["other.example.com/x"]);
  });

  it("stays while the clean-up is not done", async () => {
    await using at = await atWork((ran) => cleaning(ran, () => checkAgainIn(10_000, "the snapshot is being made")));
    at.api.put(ConfigMap, dying(["test.example.com/cleanup"]));
    await at.start();
    await at.clock.advance(25_000);
    expect(at.ran).toEqual(["clean up a", "clean up a", "clean up a"]);
    expect(at.world.writes).toEqual([]);
  });

  it("is never added to an object that is being deleted", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, dying(["other.example.com/x"]));
    await at.start();
    await at.clock.advance(0);
    expect([at.ran, at.world.writes]).toEqual([[], []]);
  });
});
