import { describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, ref } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
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
    expect(at.api.calls).toContain("list secrets metadata.name=a"); // with the right that its cache has anyway
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
