import { describe, expect, it } from "vitest";
import { InvalidError } from "../client/errors.ts";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, ref } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
import { loseAnswer } from "./scripted-client.fixture.ts";

/** The server says 422. */
function refuse(message: string): never {
  const details = { causes: [{ reason: "FieldValueInvalid", message, field: "data" }] };
  throw new InvalidError({ attempt: "scripted", status: 422, reason: "Invalid", message, details });
}

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

  it("of somebody else do not keep their siblings waiting, and are made when they are out of the way", async () => {
    await using at = await atWork(() => colours(() => ["red", "green", "blue"]));
    at.api.put(Secret, { metadata: ref("red"), data: { precious: "yes" } });
    at.api.put(Secret, { metadata: ref("blue"), data: { precious: "yes" } });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/green"]);
    expect(at.errors.at(-1)).toMatch(/SeveralChildrenError: 2 children: Secret home\/red: .*; Secret home\/blue: /);
    at.api.remove(Secret, ref("red"));
    await at.clock.advance(0);
    expect(at.world.writes.splice(0)).toEqual(["apply Secret home/red"]);
    at.api.remove(Secret, ref("blue"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/blue"]);
    expect(at.runner.explain(ref("a")).flatMap(({ because }) => because)).toContain("Secret home/blue is out of the way");
  });

  it("that are refused by the server do not keep their siblings waiting, either", async () => {
    await using at = await atWork(() => colours(() => ["red", "green"]));
    at.world.spoil = (write) => (write.includes("red") ? refuse("not that colour") : undefined);
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes.slice(0, 2)).toEqual(["apply Secret home/red", "apply Secret home/green"]);
    expect(at.errors.join()).toContain("InvalidError");
  });

  it("wait for a server that is down, all of them", async () => {
    await using at = await atWork(() => colours(() => ["red", "green"]));
    at.world.spoil = () => loseAnswer();
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect(at.world.writes).toEqual(["apply Secret home/red"]);
  });

  const fixed = (whenImmutable: "replace" | "fail", value: () => string) =>
    controller(ConfigMap, { owns: [Secret] }, async (own, ctx) => {
      const owner = ctx.get(ConfigMap, own);
      const object = { metadata: { name: "s" }, stringData: { value: value() } };
      if (owner !== undefined) await ctx.applyChildren(owner, [child(Secret, object, { whenImmutable })]);
      return done();
    });

  it.each([
    {
      name: "that cannot be changed are replaced if they say so",
      how: "replace",
      said: "field is immutable",
      after: ["delete", "apply"],
    },
    { name: "that cannot be changed are stuck otherwise", how: "fail", said: "field is immutable", after: [] },
    {
      name: "that are wrong are not replaced: the next would be wrong, too",
      how: "replace",
      said: "must be a number",
      after: [],
    },
  ] as const)("$name", async ({ how, said, after }) => {
    let value = "1";
    await using at = await atWork(() => fixed(how, () => value));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    at.world.writes.splice(0);
    at.world.spoil = () => {
      at.world.spoil = () => undefined;
      return refuse(said);
    };
    value = "2";
    at.runner.enqueue(ref("a"), "test");
    await at.clock.advance(0);
    expect(at.world.writes.map((write) => write.split(" ")[0])).toEqual(["apply", ...after]);
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

  it("W4: of a living namesake in another group are a stranger's: that is said, and they are made when it has gone", async () => {
    await using at = await atWork(() => colours(() => ["red"]));
    const stranger = { apiVersion: "example.com/v1", kind: "ConfigMap", name: "a", uid: "alive", controller: true };
    at.api.put(Secret, { metadata: { ...ref("red"), ownerReferences: [stranger] } });
    at.api.put(ConfigMap, config("a"));
    await at.start();
    expect([at.world.writes, at.errors]).toEqual([[], [expect.stringContaining("ConfigMap a (UID alive)")]]);
    at.api.remove(Secret, ref("red"));
    await at.clock.advance(0);
    expect(at.world.writes).toEqual(["apply Secret home/red"]);
  });
});
