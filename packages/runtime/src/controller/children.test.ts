import { describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, ref } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";

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
