// Bad metrics, and what becomes of the pods: nothing, unless the samples that are right say otherwise. In M1 and M2 the same pod is
// raised once metrics are good again: otherwise they would only show an operator that does nothing.
// On the simulator alone: a real Prometheus does not lie on request.
import { lies, type PrometheusFaults } from "@memhog/simulator";
import { describe, expect, it } from "vitest";
import { AppMonitor } from "../api/app-monitor.ts";
import { effectsOf } from "./effects.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const threeQuarters = "300Mi";
const little = "100Mi";

/** What was done while metrics were bad, and what after that. */
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

describe("M1: a Prometheus that does not answer as it should raises nothing, and everyone can see why", () => {
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

describe("M2: no data is not zero, and what is no number is no sample", () => {
  it.each([
    { name: "nothing at all", lie: lies.missing({ container: "main" }), reason: "NoSample" },
    { name: "NaN", lie: lies.value(Number.NaN, { container: "main" }), reason: "NoSample" },
    { name: "+Inf", lie: lies.value(Number.POSITIVE_INFINITY, { container: "main" }), reason: "NoSample" },
    { name: "negative", lie: lies.value(-1, { container: "main" }), reason: "NoSample" },
    { name: "ten minutes old", lie: lies.stale(600_000), reason: "NoSample" },
  ])("$name", async ({ lie, reason }) => {
    const found = await spoiled({ tamper: lie }, threeQuarters);
    expect(found).toEqual({ did: {}, reason, ready: "Watching", in: ["512Mi/768Mi"] });
  });
});

describe("M3, M4: series of somebody else are nobody's", () => {
  it("M3: two series of one container are not added up", async () => {
    const { did, in: end } = await spoiled({ tamper: lies.twice((truth) => truth, { container: "main" }) }, "200Mi");
    expect([did, end]).toEqual([{}, ["256Mi/384Mi"]]);
  });

  it("M3: of two series the larger counts", async () => {
    const { did } = await spoiled({ tamper: lies.twice((truth) => truth * 3, { container: "main" }) }, little);
    expect(did).toEqual({ "PATCH pods/resize": 2 });
  });

  it("M4: the same names in another namespace are other pods", async () => {
    const foreign = lies.foreign("elsewhere", (truth) => truth * 4, { container: "main" });
    expect(await spoiled({ tamper: foreign }, little)).toMatchObject({ did: {}, in: ["256Mi/384Mi"] });
  });

  it("M4: a partial answer may raise", async () => {
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
  ])("$hours h, $strategy: no raise before its time, and none is forgotten", async ({ strategy, hours }) => {
    await using w = await world({ intervalMs: 60_000, scrapeMs: 30_000 });
    await w.monitor({ strategy, cooldownSeconds: 600 });
    await w.pod("hungry", { memory: "300Mi" });
    const operator = w.start();
    await w.pass(minutes(3));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
    operator.stepWallClock(hours * 3_600_000);
    // From now on 300Mi of 768Mi are too much: the next raise is due when the cooldown is over.
    await w.monitor({ strategy, cooldownSeconds: 600, memThresholdPercent: 30 });
    await w.pass(minutes(5));
    expect(await sizes(w)).toEqual(["512Mi/768Mi"]);
    expect((await w.memory("pod-hungry"))?.status?.reason).toBe("CoolingDown");
    // Set back, it is an hour until the record can be believed again.
    await w.pass(minutes(hours < 0 ? 68 : 8));
    expect(await sizes(w)).toEqual(["1Gi/1536Mi"]);
  });
});
