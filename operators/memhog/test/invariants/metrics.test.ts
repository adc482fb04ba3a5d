// Bad metrics cause no raise, unless the valid samples justify one. M1 and M2 also check that the pod is raised once the metrics are
// good again; an operator that never acts would otherwise pass.
// On the simulator only: a real Prometheus cannot be made to return bad samples.
import { corruptSamples, type PrometheusFaults } from "@memhog/simulator";
import { describe, expect, it } from "vitest";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { effectsOf } from "./effects.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const threeQuarters = "300Mi";
const little = "100Mi";

/** The writes while metrics were bad, and the writes afterwards. */
async function spoiled(faults: PrometheusFaults, memory: string) {
  await using w = await world();
  Object.assign(w.cluster.prometheus.faults, faults);
  await w.monitor();
  await w.pod("hungry", { memory });
  const operator = w.start();
  await w.pass(100_000);
  const did = effectsOf([operator]);
  const reason = (await w.memory("pod-hungry"))?.status?.reason;
  const ready = await readiness(w);
  for (const name of Object.keys(faults)) Object.assign(w.cluster.prometheus.faults, { [name]: undefined });
  await w.pass(minutes(1));
  return { did, reason, ready, in: await sizes(w) };
}

const sizes = async (w: World) => (await w.pods()).map(sizeOf);

async function readiness(w: World): Promise<string | undefined> {
  const { status } = await w.client.get(AppMonitor, { namespace: home, name: "johnny-cache" });
  return status?.conditions?.find(({ type }) => type === "Ready")?.reason;
}

describe("M1: no raise while Prometheus is unavailable, and the reason is reported", () => {
  it.each([
    { kind: "refuse" } as const,
    { kind: "reset" } as const,
    { kind: "slow", ms: 60_000 } as const,
    { kind: "status", status: 503 } as const,
    { kind: "html" } as const,
  ])("$kind", async (fault) => {
    const found = await spoiled({ onRequest: () => fault }, threeQuarters);
    expect(found).toEqual({ did: {}, reason: "MetricsUnavailable", ready: "MetricsUnavailable", in: ["512Mi/768Mi"] });
  });
});

describe("M2: missing data is not zero, and invalid values are ignored", () => {
  it.each([
    { name: "no samples", lie: corruptSamples.missing({ container: "main" }), reason: "NoSample" },
    { name: "NaN", lie: corruptSamples.value(Number.NaN, { container: "main" }), reason: "NoSample" },
    { name: "+Inf", lie: corruptSamples.value(Number.POSITIVE_INFINITY, { container: "main" }), reason: "NoSample" },
    { name: "negative values", lie: corruptSamples.value(-1, { container: "main" }), reason: "NoSample" },
    { name: "samples that are ten minutes old", lie: corruptSamples.stale(600_000), reason: "NoSample" },
  ])("$name", async ({ lie, reason }) => {
    const found = await spoiled({ tamper: lie }, threeQuarters);
    expect(found).toEqual({ did: {}, reason, ready: "Watching", in: ["512Mi/768Mi"] });
  });
});

describe("M6: a response that says nothing about our pods", () => {
  const conditionsOf = async (w: World) => {
    const { status } = await w.client.get(AppMonitor, { namespace: home, name: "johnny-cache" });
    return status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`);
  };
  const blind = ["Ready=False/NoSamples", "Degraded=True/NoSamples"];
  const well = ["Ready=True/Watching", "Degraded=False/AsExpected"];

  it("is reported after a grace period, stays reported after a restart, and costs no writes", async () => {
    await using w = await world();
    w.cluster.prometheus.faults.tamper = corruptSamples.missing({});
    await w.monitor();
    await w.pod("hungry", { memory: little });
    const first = w.start();
    await w.pass(minutes(2));
    expect(await conditionsOf(w)).toEqual(well);
    await w.pass(minutes(2));
    expect(await conditionsOf(w)).toEqual(blind);
    await first.stop();
    w.start({ name: "memhog-2" });
    await w.pass(minutes(1));
    const writes = w.heard.length;
    expect(await conditionsOf(w)).toEqual(blind);
    await w.pass(minutes(10));
    expect([await conditionsOf(w), w.heard.length]).toEqual([blind, writes]);
    w.cluster.prometheus.faults.tamper = undefined;
    await w.pass(minutes(1));
    expect(await conditionsOf(w)).toEqual(well);
  });

  it("is no alarm while pods start", async () => {
    await using w = await world({ scrapeMs: 60_000 });
    await w.monitor();
    w.start();
    for (let pod = 0; pod < 5; pod += 1) {
      await w.pod(`hungry-${pod}`, { memory: little });
      await w.pass(70_000);
      expect(await conditionsOf(w)).toEqual(well);
    }
  });
});

describe("M3, M4: duplicate and foreign series", () => {
  it("M3: two series of one container are not added", async () => {
    const { did, in: end } = await spoiled({ tamper: corruptSamples.twice((truth) => truth, { container: "main" }) }, "200Mi");
    expect([did, end]).toEqual([{}, ["256Mi/384Mi"]]);
  });

  it("M3: the larger of two series counts", async () => {
    const { did } = await spoiled({ tamper: corruptSamples.twice((truth) => truth * 3, { container: "main" }) }, little);
    expect(did).toEqual({ "PATCH pods/resize": 2 });
  });

  it("M4: pods of the same name in another namespace are ignored", async () => {
    const foreign = corruptSamples.foreign("elsewhere", (truth) => truth * 4, { container: "main" });
    expect(await spoiled({ tamper: foreign }, little)).toMatchObject({ did: {}, in: ["256Mi/384Mi"] });
  });

  it("M4: a partial response may raise", async () => {
    const { did } = await spoiled({ warnings: ["a store did not answer"] }, threeQuarters);
    expect(did).toEqual({ "PATCH pods/resize": 2 });
  });
});

describe("M5: the wall clock of the operator steps by an hour", () => {
  it.each([
    { strategy: "InPlace", hours: 1 },
    { strategy: "InPlace", hours: -1 },
    { strategy: "Redeploy", hours: 1 },
    { strategy: "Redeploy", hours: -1 },
  ])("by $hours h, $strategy: the cooldown is neither shortened nor lost", async ({ strategy, hours }) => {
    await using w = await world({ intervalMs: 60_000, scrapeMs: 30_000 });
    await w.monitor({ strategy, cooldownSeconds: 600 });
    await w.pod("hungry", { memory: "300Mi" });
    const operator = w.start();
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
    operator.stepWallClock(hours * 3_600_000);
    // 300Mi of 768Mi is now above the threshold: the next raise is due after the cooldown.
    await w.monitor({ strategy, cooldownSeconds: 600, memThresholdPercent: 30 });
    await w.pass(minutes(5));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
    expect((await w.memory("pod-hungry"))?.status?.reason).toBe("CoolingDown");
    // After a step back the stored time is in the future for an hour.
    await w.pass(minutes(hours < 0 ? 68 : 8));
    expect(await sizes(w)).toEqual(["1Gi/1536Mi"]);
  });
});
