// Promises M1-M5, from the node to what a decision would see: hollow nodes measure, a simulated Prometheus scrapes them (held to
// the real one by its own tests), and something goes wrong on the way.
import { Pod } from "@memhog/runtime";
import { manualEnvironment } from "@memhog/runtime/testing";
import { lies, type PrometheusFaults, startSimulator, wholeCluster } from "@memhog/simulator";
import { describe, expect, it } from "vitest";
import { monitorAnnotation } from "../api/names.ts";
import { MiB } from "../model/bytes.ts";
import { cachedObjects } from "./cached.fixture.ts";
import { PodView } from "./kinds.ts";
import { MemoryPoller } from "./memory-poller.ts";
import { podSeen } from "./pods.ts";
import { overTransport } from "./prometheus/transport.ts";

const namespace = "default";
const main = { name: "main", image: "hog", resources: { limits: { memory: "384Mi" } } };

/** A container that holds 200 MiB, on its node for a minute. */
async function world() {
  const environment = manualEnvironment();
  const cluster = wholeCluster({ nodes: { memoryOf: () => "200Mi" }, prometheus: { intervalMs: 5_000 } });
  const simulator = await startSimulator({ environment, parts: [...cluster] });
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
    const [pod] = cached.objects(PodView);
    const [container] =
      pod === undefined ? [] : podSeen(pod, { cached, memory: poller, metric: "WorkingSet", nodes: false }).containers;
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

describe("between a node and a decision", () => {
  it("a good day: fresh samples of what is held", async () => {
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
    { name: "is a login page", fault: { kind: "html" }, problem: /not Prometheus's/ },
  ] as const;
  it.each(outages)("M1: a Prometheus that $name is said to be unavailable, and nothing is fresh", async ({ fault, problem }) => {
    await using bad = await world();
    await bad.look();
    const seen = await bad.spoil({ onRequest: () => fault });
    expect(seen).toMatchObject({ available: false, problem: expect.stringMatching(problem) });
    expect(seen.ages.filter((age) => age < seen.freshForMs)).toEqual([]);
    expect(await bad.spoil({ onRequest: undefined })).toMatchObject({ available: true });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1])("M2: %d is no sample", async (value) => {
    await using bad = await world();
    const seen = await bad.spoil({ tamper: lies.value(value) });
    expect(seen).toMatchObject({ available: true, mib: [] });
    expect(seen.badSamples).toBeGreaterThan(0);
  });

  it("M2: a gap is no zero, and an old sample says how old it is", async () => {
    await using bad = await world();
    expect(await bad.spoil({ tamper: lies.missing() })).toMatchObject({ available: true, mib: [], badSamples: 0 });
    await using late = await world();
    const seen = await late.spoil({ tamper: lies.stale(100_000) });
    expect(Math.min(...seen.ages)).toBeGreaterThanOrEqual(100_000);
  });

  it("M3: the same container twice counts once, with the larger figure", async () => {
    await using bad = await world();
    const seen = await bad.spoil({ tamper: lies.twice((truth) => truth + 50 * MiB) });
    expect(seen.mib.at(-1)).toBe(250);
    expect(Math.max(...seen.mib)).toBe(250);
  });

  it("M4: a namesake in another namespace is not ours; a part of the truth is, and is said to be a part", async () => {
    await using bad = await world();
    const foreign = lies.foreign("elsewhere", (truth) => truth * 3);
    const seen = await bad.spoil({ tamper: foreign, warnings: ["a part is missing"] });
    expect(seen).toMatchObject({ available: true, problem: expect.stringContaining("a part is missing") });
    expect(new Set(seen.mib)).toEqual(new Set([200]));
  });

  it("the labels of old are found out", async () => {
    await using old = await world();
    await old.spoil({ tamper: lies.oldLabelNames() });
    const looks = [];
    for (let look = 0; look < 5; look += 1) looks.push(await old.look());
    expect(looks.at(-1)?.mib.at(-1)).toBe(200);
  });
});
