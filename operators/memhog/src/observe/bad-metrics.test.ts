// M1-M5 from the simulated node through the simulated Prometheus to the input of a decision, with faults in between.
import { Pod } from "@memhog/runtime";
import { manualEnvironment } from "@memhog/runtime/testing";
import { corruptSamples, fullCluster, type PrometheusFaults, startSimulator } from "@memhog/simulator";
import { describe, expect, it } from "vitest";
import { monitorAnnotation } from "../api/names.ts";
import { MiB } from "../model/bytes.ts";
import { cachedObjects } from "./cached.fixture.ts";
import { PodView } from "./kinds.ts";
import { MemoryPoller } from "./memory-poller.ts";
import { observedPod } from "./pods.ts";
import { overTransport } from "./prometheus/transport.ts";

const namespace = "default";
const main = { name: "main", image: "hog", resources: { limits: { memory: "384Mi" } } };

/** A container that has used 200 MiB for a minute. */
async function world() {
  const environment = manualEnvironment();
  const cluster = fullCluster({ nodes: { memoryOf: () => "200Mi" }, prometheus: { intervalMs: 5_000 } });
  const simulator = await startSimulator({ environment, components: [...cluster] });
  const client = simulator.client();
  const { clock } = environment;
  const make = () =>
    client.create(Pod, {
      metadata: { namespace, name: "hungry", annotations: { [monitorAnnotation]: "true" } },
      spec: { nodeName: "node-1", containers: [main] },
    });
  await clock.advance(1_000);
  await make();
  const poller = new MemoryPoller({ transport: overTransport(cluster.prometheus), intervalMs: 5_000 });
  const look = async () => {
    const cached = cachedObjects(await client.get(Pod, { namespace, name: "hungry" }));
    await poller.poll({ cached, environment, signal: new AbortController().signal });
    const [pod] = cached.list(PodView);
    const [container] =
      pod === undefined ? [] : observedPod(pod, { cached, memory: poller, metric: "WorkingSet", nodes: false }).containers;
    const { samples = [], badSamples } = container ?? {};
    return {
      ...poller.metrics(),
      mib: samples.map(({ bytes }) => bytes / MiB),
      ages: samples.map(({ ageMs }) => ageMs),
      badSamples,
    };
  };
  const spoil = async (faults: PrometheusFaults, forMs = 130_000) => {
    Object.assign(cluster.prometheus.faults, faults);
    await clock.advance(forMs);
    return look();
  };
  await clock.advance(60_000);
  return { clock, look, spoil, [Symbol.asyncDispose]: () => simulator.stop() };
}

describe("samples from node to decision", () => {
  it("are fresh and correct without faults", async () => {
    await using good = await world();
    const seen = await good.look();
    expect(seen).toMatchObject({ available: true, badSamples: 0 });
    expect(seen.mib.at(-1)).toBe(200);
    expect(seen.ages.at(-1)).toBeLessThan(25_000);
  });

  const outages = [
    { name: "is away", fault: { kind: "refuse" }, problem: /ECONNREFUSED/ },
    { name: "breaks off", fault: { kind: "reset" }, problem: /ECONNRESET/ },
    { name: "fails", fault: { kind: "status", status: 503 }, problem: /HTTP 503/ },
    { name: "is a login page", fault: { kind: "html" }, problem: /not from Prometheus/ },
  ] as const;
  it.each(outages)(
    "M1: metrics are reported unavailable and no sample is fresh if Prometheus $name",
    async ({ fault, problem }) => {
      await using bad = await world();
      await bad.look();
      const seen = await bad.spoil({ onRequest: () => fault });
      expect(seen).toMatchObject({ available: false, problem: expect.stringMatching(problem) });
      expect(seen.ages.filter((age) => age < seen.freshForMs)).toEqual([]);
      expect(await bad.spoil({ onRequest: undefined })).toMatchObject({ available: true });
    },
  );

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1])("M2: %d is dropped", async (value) => {
    await using bad = await world();
    const seen = await bad.spoil({ tamper: corruptSamples.value(value) });
    expect(seen).toMatchObject({ available: true, mib: [] });
    expect(seen.badSamples).toBeGreaterThan(0);
  });

  it("M2: a gap is not zero, and an old sample has the correct age", async () => {
    await using bad = await world();
    expect(await bad.spoil({ tamper: corruptSamples.missing() })).toMatchObject({ available: true, mib: [], badSamples: 0 });
    await using late = await world();
    const seen = await late.spoil({ tamper: corruptSamples.stale(100_000) });
    expect(Math.min(...seen.ages)).toBeGreaterThanOrEqual(100_000);
  });

  it("M3: of two series of one container the larger value counts", async () => {
    await using bad = await world();
    const seen = await bad.spoil({ tamper: corruptSamples.twice((truth) => truth + 50 * MiB) });
    expect(seen.mib.at(-1)).toBe(250);
    expect(Math.max(...seen.mib)).toBe(250);
  });

  it("M4: a pod of the same name in another namespace is ignored; a partial response is used and reported", async () => {
    await using bad = await world();
    const foreign = corruptSamples.foreign("elsewhere", (truth) => truth * 3);
    const seen = await bad.spoil({ tamper: foreign, warnings: ["a part is missing"] });
    expect(seen).toMatchObject({ available: true, problem: expect.stringContaining("a part is missing") });
    expect(new Set(seen.mib)).toEqual(new Set([200]));
  });

  it("label names from before Kubernetes 1.16 are detected", async () => {
    await using old = await world();
    await old.spoil({ tamper: corruptSamples.oldLabelNames() });
    const looks = [];
    for (let look = 0; look < 5; look += 1) looks.push(await old.look());
    expect(looks.at(-1)?.mib.at(-1)).toBe(200);
  });
});
