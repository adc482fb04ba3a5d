// spec.shrink on a whole simulated cluster. Two minutes of samples stand for a day (world.fixture.ts).
import { describe, expect, it } from "vitest";
import { effectsIn } from "./effects.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { minutes, type World, world } from "./world.fixture.ts";

const sizes = async (w: World) => (await w.pods()).map(sizeOf);
const shrink = { shrink: { belowTemplate: true } };
const hours = (count: number) => minutes(60 * count);

describe("spec.shrink", () => {
  it("lowers the request, a day later the limit", async () => {
    await using w = await world({ intervalMs: 300_000, scrapeMs: 15_000 });
    await w.monitor(shrink);
    await w.pod("modest", { memory: "100Mi", limit: "1Gi", request: "512Mi" });
    await w.pass(minutes(3));
    w.start();
    await w.pass(minutes(15));
    expect(await sizes(w)).toEqual(["120Mi/1Gi"]);
    await w.pass(hours(20));
    expect(await sizes(w), "one step a day").toEqual(["120Mi/1Gi"]);
    await w.pass(hours(6));
    expect(await sizes(w)).toEqual(["120Mi/160Mi"]);
    expect((await w.memory("pod-modest"))?.status?.shrinks).toMatchObject([{ container: "main", state: "Applied" }]);
    expect(effectsIn(w.heard)).toEqual({ "PATCH pods/resize": 2 });
  });

  it("M4: lowers a pod whose window is covered, and not a younger one", async () => {
    await using w = await world();
    await w.monitor();
    await w.pod("modest", { memory: "100Mi" });
    w.start();
    await w.pass(minutes(3));
    await w.monitor(shrink);
    await w.pod("young", { memory: "100Mi" });
    await w.pass(30_000);
    expect((await sizes(w)).toSorted()).toEqual(["120Mi/384Mi", "256Mi/384Mi"]);
    expect((await w.memory("pod-young"))?.status?.shrinks).toBeUndefined();
    const before = w.heard.length;
    await w.pass(minutes(10));
    expect(
      w.heard.slice(before).filter(({ path }) => path.includes("appmemories")),
      "E1",
    ).toEqual([]);
  });

  it("is undone by the next raise, and then never repeated", async () => {
    await using w = await world({ intervalMs: 15_000 });
    await w.monitor({ ...shrink, cooldownSeconds: 0 });
    await w.pod("rising", { memory: "trace 100Mi, 100Mi at 10m, 250Mi at 12m", limit: "1Gi", request: "120Mi" });
    await w.pass(minutes(3));
    w.start();
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(["120Mi/160Mi"]);
    await w.pass(minutes(20));
    const { shrinks, oomKills = 0 } = (await w.memory("pod-rising"))?.status ?? {};
    expect(shrinks).toMatchObject([{ container: "main", state: "Undone" }]);
    expect(oomKills).toBe(0);
    const raised = await sizes(w);
    await w.pass(hours(2));
    expect(await sizes(w)).toEqual(raised);
  });
});
