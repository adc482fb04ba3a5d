import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Cache } from "../cache/cache.ts";
import { InternalError } from "../client/errors.ts";
import { ConfigMap, Secret } from "../objects/kinds/core.ts";
import { allow } from "../schema/permissions.ts";
import { atWork, config, ref } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { KeyStates, PendingWrites } from "./key-state.ts";
import { done } from "./outcome.ts";
import { loseAnswer } from "./scripted-client.fixture.ts";

/** Keeps one Secret per ConfigMap, and counts how often it saw none. */
const keepsSecret = (ran: string[]) =>
  controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
    const owner = ctx.get(ConfigMap, own);
    if (owner === undefined) return done();
    ran.push(ctx.get(Secret, own) === undefined ? "missing" : "there");
    if (ran.at(-1) === "missing") await ctx.client.create(Secret, { metadata: own });
    return done();
  });

/** Deletes all Secrets. */
const removesSecret = (ran: string[]) =>
  controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
    ran.push(ctx.get(Secret, own) === undefined ? "missing" : "there");
    if (ran.at(-1) === "there") await ctx.client.delete(Secret, own);
    return done();
  });

describe("our own writes", () => {
  it("W1: a key is not reconciled from a view older than its own last write", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.api.put(ConfigMap, config("a"));
    at.world.spoil = () => {
      at.api.muted = true; // the write succeeds; the watch is slow
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

  it("W1: other keys are reconciled while one waits for its writes", async () => {
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

  it("W1: a key is not reconciled before its own deletion is seen", async () => {
    await using at = await atWork(removesSecret);
    at.api.put(ConfigMap, config("a"));
    const secret = at.api.put(Secret, { metadata: ref("a") });
    at.world.spoil = () => {
      at.api.muted = "secrets";
      return undefined;
    };
    await at.start();
    at.runner.enqueue(ref("a"), "asked to");
    await at.clock.advance(5_000);
    expect(at.ran).toEqual(["there"]);
    at.api.say(Secret, {
      type: "DELETED",
      object: { ...secret, metadata: { ...secret.metadata, resourceVersion: at.api.version } },
    });
    await at.clock.advance(0);
    expect(at.ran).toEqual(["there", "missing"]);
  });

  it("W1: writes that were not awaited count until the last one is answered", async () => {
    const pending = new PendingWrites();
    const [first, second] = [pending.begin(), pending.begin()];
    let settled = false;
    const end = pending
      .settle(() => expect.unreachable(), new AbortController().signal)
      .then(() => {
        settled = true;
      });
    first();
    await setImmediate();
    expect([pending.seen, settled]).toEqual([false, false]);
    second();
    await end;
    expect(pending.seen).toBe(true);
  });

  it("C2: a write whose response was lost is read back, never repeated blindly and never assumed", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => loseAnswer; // the write succeeds, and its response is lost
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(1_000);
    expect(at.world.writes).toEqual(["create Secret home/a"]);
    expect(at.ran).toEqual(["missing", "there"]);
    expect(at.api.calls).toContain("list secrets metadata.name=a"); // needs only the permission of its cache
  });

  it("C2: a write that the server answered with 500 is read back like one whose response was lost", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => () => {
      throw new InternalError({ attempt: "create Secret", status: 500, reason: "InternalError", message: "etcd" });
    };
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(1_000);
    expect(at.api.calls).toContain("list secrets metadata.name=a");
    expect(at.world.writes).toEqual(["create Secret home/a"]);
  });

  it("W1: a key is not reconciled before its own eviction is seen", async () => {
    const evicting = allow(Secret, "patch", { subresource: "eviction" });
    const evicts = (ran: string[]) =>
      controller(ConfigMap, { owns: [Secret], permissions: [evicting] }, async (own, ctx) => {
        ran.push(ctx.get(Secret, own) === undefined ? "missing" : "there");
        if (ran.at(-1) === "there") await ctx.client.patch(Secret, own, { type: "merge", body: {} }, { subresource: "eviction" });
        return done();
      });
    await using at = await atWork(evicts);
    at.api.put(ConfigMap, config("a"));
    at.api.put(Secret, { metadata: ref("a") });
    await at.start();
    at.runner.enqueue(ref("a"), "asked to");
    await at.clock.advance(5_000);
    expect(at.ran).toEqual(["there"]);
    at.api.remove(Secret, ref("a"));
    await at.clock.advance(0);
    expect(at.ran).toEqual(["there", "missing"]);
  });

  it("C2: an object that was read back is waited for in the cache", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => {
      at.api.muted = "secrets";
      return loseAnswer;
    };
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(5_000);
    expect(at.ran).toEqual(["missing"]);
    at.api.muted = false;
    at.api.put(Secret, { metadata: ref("a") });
    await at.clock.advance(0);
    expect(at.ran).toEqual(["missing", "there"]);
  });

  it("C2: an object that was found to be gone is waited for in the cache", async () => {
    await using at = await atWork(removesSecret);
    at.api.put(ConfigMap, config("a"));
    at.api.put(Secret, { metadata: ref("a") });
    at.world.spoil = () => {
      at.api.muted = "secrets";
      return loseAnswer;
    };
    await at.start();
    await at.clock.advance(5_000);
    expect(at.ran).toEqual(["there"]);
  });

  it("C2: a write that never reached the server is repeated", async () => {
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

  it("C2: a failed read after a lost response is retried", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => loseAnswer;
    at.api.refuse = (call) => (call.includes("metadata.name") ? new Error("no response") : undefined);
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(30_000);
    expect(at.ran).toEqual(["missing"]);
    at.api.refuse = () => undefined;
    await at.clock.advance(30_000);
    expect(at.ran).toEqual(["missing", "there"]);
  });
});

describe("KeyStates", () => {
  /** Writes once; the test decides when the cache sees it. */
  function writing(states: KeyStates, key: string) {
    let seen = false;
    const cache = { written: () => ({}), reached: () => seen } as unknown as Cache;
    const state = states.of(key);
    state.writes.written([cache], {} as never);
    states.keep(key, state);
    return () => {
      seen = true;
    };
  }

  it("drop a key when its writes are seen, even if it is never reconciled again", () => {
    const states = new KeyStates();
    for (let n = 0; n < 10_000; n += 1) writing(states, `home/${n}`)();
    expect(states.size).toBeLessThan(200);
  });

  it("keep a key while its writes are not seen, even if its object is gone: a new one can take its name", () => {
    const states = new KeyStates();
    const see = writing(states, "home/a");
    states.forget("home/a");
    expect(states.of("home/a").writes.seen).toBe(false);
    see();
    states.forget("home/a");
    expect(states.size).toBe(0);
  });

  it("reset the failures when the object is gone", () => {
    const states = new KeyStates();
    const state = states.of("home/a");
    state.failures = 3;
    states.keep("home/a", state);
    expect(states.size).toBe(1);
    states.forget("home/a");
    expect(states.size).toBe(0);
  });
});
