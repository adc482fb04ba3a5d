import { describe, expect, it } from "vitest";
import { ForbiddenError } from "../client/errors.ts";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import { controller } from "./controller.ts";
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
