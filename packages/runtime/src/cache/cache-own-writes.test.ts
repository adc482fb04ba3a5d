import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import type { CacheOptions } from "./cache.ts";
import { config, following, ref } from "./following.fixture.ts";
import { refusal } from "./scripted-api.fixture.ts";

describe("W1: a cache and our own writes", () => {
  it("reaches a write with its event", async () => {
    await using world = following();
    await world.start();
    const mark = world.cache.written(world.api.put(ConfigMap, config("a")));
    expect(world.cache.reached(mark)).toBe(false);
    await world.cache.whenReached(mark);
    expect(world.cache.get(ref("a"))).toBeDefined();
  });

  it("reaches a write that it will never see with the next bookmark", async () => {
    await using world = following();
    await world.start();
    world.api.muted = true;
    const mark = world.cache.written(world.api.put(ConfigMap, config("a")));
    world.api.bookmark(ConfigMap);
    await world.cache.whenReached(mark);
    expect(world.api.calls).toHaveLength(1);
  });

  it("lists again if a write is overdue, and stays usable meanwhile", async () => {
    await using world = following();
    await world.start();
    world.api.muted = true;
    const mark = world.cache.written(world.api.put(ConfigMap, config("a")));
    const reached = world.cache.whenReached(mark);
    await world.clock.advance(9_000);
    expect([world.cache.reached(mark), world.cache.synced]).toEqual([false, true]);
    await world.clock.advance(1_000);
    await reached;
    expect(world.names()).toEqual(["a"]);
  });

  it("C2: reaches an unknown outcome by a listing that began after it, and by nothing less", async () => {
    await using world = following();
    await world.start();
    const mark = world.cache.unknown(ref("a"));
    world.api.put(ConfigMap, config("other"));
    await world.clock.advance(0);
    expect(world.cache.reached(mark)).toBe(false);
    const reached = world.cache.whenReached(mark);
    await world.clock.advance(0);
    await reached;
    expect(world.api.calls).toEqual(["stream configmaps", "stream configmaps"]);
  });

  it("lists even if it is asked to while it waits to reconnect", async () => {
    await using world = following();
    await world.start();
    world.api.cutWatches(refusal(500));
    await world.clock.advance(0);
    const reached = world.cache.whenReached(world.cache.unknown(ref("a")));
    await world.clock.advance(2_000);
    await reached;
    expect(world.api.calls).toEqual(["stream configmaps", "stream configmaps"]);
  });

  it("C2: lists again if it is asked to during a listing, which may have begun too early", async () => {
    const client: CacheOptions<ConfigMap>["client"] = {
      list: () => expect.unreachable(),
      async *watch(kind, options) {
        await world.clock.sleep(1_000, options?.signal);
        yield* world.api.watch(kind, options);
      },
    };
    await using world = following({ client });
    await world.start();
    await world.clock.advance(500);
    let isReached = false;
    world.cache.whenReached(world.cache.unknown(ref("a"))).then(() => {
      isReached = true;
    });
    await world.clock.advance(600);
    expect([world.cache.synced, isReached]).toEqual([true, false]);
    await world.clock.advance(1_000);
    expect([isReached, world.api.calls]).toEqual([true, ["stream configmaps", "stream configmaps"]]);
  });

  it("does not wait for what it does not follow", async () => {
    await using world = following({ namespaces: ["home"] });
    await world.start();
    const mark = world.cache.written(world.api.put(ConfigMap, config("a", {}, "elsewhere")));
    expect(world.cache.reached(mark)).toBe(true);
  });

  it("ends the waiting when it is stopped", async () => {
    const world = following();
    await world.start();
    const reached = world.cache.whenReached(world.cache.unknown(ref("a")));
    await world.cache.stop();
    await expect(reached).rejects.toThrow();
    expect(world.clock.pending).toBe(0);
  });
});
