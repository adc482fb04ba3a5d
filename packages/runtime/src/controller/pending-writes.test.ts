import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, ref } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
import { PendingWrites } from "./pending-writes.ts";
import { loseAnswer } from "./scripted-client.fixture.ts";

/** Keeps one Secret per ConfigMap, and counts how often it thought that there was none. */
const keepsSecret = (ran: string[]) =>
  controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
    const owner = ctx.get(ConfigMap, own);
    if (owner === undefined) return done();
    ran.push(ctx.get(Secret, own) === undefined ? "missing" : "there");
    if (ran.at(-1) === "missing") await ctx.client.create(Secret, { metadata: own });
    return done();
  });

/** Wants none. */
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

  it("W1: nor before its own deletion is seen", async () => {
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

  it("W1: writes that nobody waited for are under way until the last has landed", async () => {
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

  it("C2: a write whose answer was lost is looked up, never repeated blindly and never assumed", async () => {
    await using at = await atWork(keepsSecret);
    await at.start();
    at.world.spoil = () => loseAnswer; // it happens, and nobody says so
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(1_000);
    expect(at.world.writes).toEqual(["create Secret home/a"]);
    expect(at.ran).toEqual(["missing", "there"]);
    expect(at.api.calls).toContain("list secrets metadata.name=a"); // with the right that its cache has anyway
  });

  it("C2: and what was found is waited for: the watch may be slow", async () => {
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

  it("C2: so is what was found to be gone", async () => {
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
    at.api.refuse = (call) => (call.includes("metadata.name") ? new Error("nobody answers") : undefined);
    at.api.put(ConfigMap, config("a"));
    await at.clock.advance(30_000);
    expect(at.ran).toEqual(["missing"]);
    at.api.refuse = () => undefined;
    await at.clock.advance(30_000);
    expect(at.ran).toEqual(["missing", "there"]);
  });
});
