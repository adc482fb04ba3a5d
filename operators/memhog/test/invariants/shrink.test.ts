// spec.shrink on a whole simulated cluster. Two minutes of samples stand for a day (world.fixture.ts).
import { describe, expect, it } from "vitest";
import { effectsIn } from "./effects.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { minutes, type World, world } from "./world.fixture.ts";

const sizes = async (w: World) => (await w.pods()).map(sizeOf);
const shrink = { shrink: { belowTemplate: true } };
const hours = (count: number) => minutes(60 * count);

describe("spec.shrink", () => {
  it("takes back a raise: the request, and a day later the limit, which never goes below the template", async () => {
    await using w = await world({ intervalMs: 300_000, scrapeMs: 15_000 });
    await w.monitor();
    await w.deployment("web", { memory: "trace 300Mi, 300Mi at 20m, 100Mi at 21m" });
    w.start();
    await w.pass(minutes(15));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
    await w.pass(minutes(15));
    await w.monitor(shrink);
    await w.pass(minutes(15));
    expect(await sizes(w)).toEqual(["120Mi/768Mi"]);
    await w.pass(hours(20));
    expect(await sizes(w), "one step a day").toEqual(["120Mi/768Mi"]);
    await w.pass(hours(6));
    expect(await sizes(w)).toEqual(["120Mi/384Mi"]);
    expect((await w.memory("deployment-web"))?.status?.shrinks).toMatchObject([{ container: "main", state: "Applied" }]);
    expect(effectsIn(w.heard)).toEqual({ "PATCH pods/resize": 4 });
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

  it("is undone as soon as usage is above the lowered request, and then never repeated", async () => {
    await using w = await world({ intervalMs: 15_000 });
    await w.monitor({ ...shrink, cooldownSeconds: 0 });
    await w.pod("rising", { memory: "trace 100Mi, 100Mi at 10m, 250Mi at 12m, 100Mi at 14m", limit: "1Gi", request: "512Mi" });
    await w.pass(minutes(3));
    w.start();
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(["120Mi/1Gi"]);
    await w.pass(minutes(20));
    expect(await sizes(w)).toEqual(["512Mi/1Gi"]);
    expect((await w.memory("pod-rising"))?.status).toMatchObject({ shrinks: [{ container: "main", state: "Undone" }] });
    await w.pass(hours(2));
    expect(await sizes(w)).toEqual(["512Mi/1Gi"]);
  });
});
