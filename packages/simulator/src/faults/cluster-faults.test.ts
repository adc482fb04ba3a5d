import { Deployment, Node, Pod } from "@memhog/runtime";
import { manualEnvironment, seededRandom } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { fullCluster } from "../full-cluster.ts";
import { corruptSamples } from "../prometheus/faults.ts";
import { startSimulator } from "../simulator.ts";
import { type Fault, injectFaults, randomFaults } from "./cluster-faults.ts";
import { serverJournal } from "./journal.ts";
import { makeTrafficFaults, randomTrafficFaults, type TrafficFaultShares } from "./traffic-faults.ts";

const minute = 60_000;
const home = { namespace: "default", name: "web" };
const labels = { app: "web" };
const container = {
  name: "main",
  image: "memhog/hog:dev",
  args: ["--ramp", "1Mi/s"],
  resources: { limits: { memory: "64Mi" } },
};
const deployment = {
  metadata: home,
  spec: { replicas: 4, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
};

interface Options {
  readonly seed?: number;
  readonly shares?: TrafficFaultShares;
  readonly plan?: readonly Fault[];
}

/** A cluster of two nodes and a Prometheus, with four hogs that exceed their limits. */
async function setUp({ seed = 1, shares = {}, plan = [] }: Options = {}) {
  const environment = manualEnvironment({ seed });
  const { clock } = environment;
  const journal = serverJournal(clock);
  const faults = makeTrafficFaults({ clock });
  const cluster = fullCluster({ nodes: { count: 2 }, prometheus: true });
  const middleware = [journal.middleware, faults.middleware];
  const simulator = await startSimulator({ environment, middleware, components: cluster });
  const client = simulator.client({ userAgent: "tester" });
  const chance = randomTrafficFaults(seededRandom(seed), shares);
  faults.plan = (request) => (request.userAgent.startsWith("tester") ? undefined : chance(request));
  await client.create(Deployment, deployment);
  injectFaults(plan, { clock, cluster, faults });
  const ask = async (query: string) => {
    const { body } = await cluster.prometheus.request({ method: "GET", path: "/api/v1/query", query: { query } });
    return (JSON.parse(body as string) as { data: { result: { value: [number, string] }[] } }).data.result.map(
      (each) => each.value[1],
    );
  };
  const stop = async () => {
    const stopped = simulator.stop();
    await clock.advance(minute);
    await stopped;
  };
  return { clock, client, transport: simulator.transport, cluster, journal, ask, faults, [Symbol.asyncDispose]: stop };
}

describe("injectFaults", () => {
  it("cuts the power of a node: its pods are replaced on other nodes, and it returns", async () => {
    await using w = await setUp({ plan: [{ kind: "power cut", atMs: minute, forMs: 10 * minute, node: "node-1" }] });
    const isReady = async () => {
      const { status } = await w.client.get(Node, { name: "node-1" });
      return status?.conditions?.find(({ type }) => type === "Ready")?.status;
    };
    const places = async () => {
      const { items } = await w.client.list(Pod, { namespace: "default" });
      return new Set(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ spec }) => spec.nodeName));
    };
    await w.clock.advance(30_000);
    expect([await isReady(), await places()]).toEqual(["True", new Set(["node-1", "node-2"])]);
    await w.clock.advance(2 * minute);
    expect(await isReady()).toBe("Unknown");
    await w.clock.advance(6 * minute);
    expect(await places()).toEqual(new Set(["node-2"]));
    await w.clock.advance(3 * minute);
    expect(await isReady()).toBe("True");
  });

  it("interrupts Prometheus and restores it", async () => {
    await using w = await setUp({ plan: [{ kind: "metrics outage", atMs: minute, forMs: minute, how: { kind: "refuse" } }] });
    await w.clock.advance(30_000);
    expect(await w.ask("up")).toEqual(["1", "1"]);
    await w.clock.advance(minute);
    await expect(w.ask("up")).rejects.toThrow("ECONNREFUSED");
    await w.clock.advance(minute);
    expect(await w.ask("up")).toEqual(["1", "1"]);
  });

  it("corrupts the samples of Prometheus and stops doing so", async () => {
    const corrupt = corruptSamples.value(Number.NaN, { __name__: "container_memory_usage_bytes" });
    await using w = await setUp({ plan: [{ kind: "corrupt samples", atMs: 20_000, forMs: 25_000, corrupt }] });
    const usage = () => w.ask('max(container_memory_usage_bytes{container="main"})');
    await w.clock.advance(40_000);
    expect(await usage()).toEqual(["NaN"]);
    await w.clock.advance(30_000);
    expect(Number((await usage())[0])).toBeGreaterThan(11 * 1024 * 1024);
  });

  it("restarts the API server", async () => {
    await using w = await setUp({ plan: [{ kind: "API server restart", atMs: 1_000, forMs: 5_000 }] });
    const version = () => w.transport.request({ method: "GET", path: "/version" });
    await w.clock.advance(3_000);
    await expect(version()).rejects.toThrow("the server is down");
    await w.clock.advance(5_000);
    expect((await version()).status).toBe(200);
  });
});

describe("a random plan of faults", () => {
  const plan = (seed: number) =>
    randomFaults(seededRandom(seed), { withinMs: 10 * minute, count: 8, nodes: ["node-1", "node-2"] });

  it("is the same for the same seed", () => {
    expect(JSON.stringify(plan(3))).toBe(JSON.stringify(plan(3)));
    expect(JSON.stringify(plan(4))).not.toBe(JSON.stringify(plan(3)));
  });

  it("produces a byte-identical journal with nodes, OOM kills and faults in all traffic", async () => {
    const shares = { delay: 0.1, reset: 0.03, lose: 0.03, busy: 0.03, duplicate: 0.1, end: 0.1 };
    const run = async () => {
      await using w = await setUp({ seed: 5, shares, plan: plan(5) });
      await w.clock.advance(20 * minute);
      return { text: w.journal.lines.join("\n"), spoiled: w.faults.count };
    };
    const [first, second] = [await run(), await run()];
    expect(first.text).toContain("OOMKilled");
    expect(first.spoiled).toBeGreaterThan(50);
    // Not toBe(): it would print megabytes instead of the first difference.
    expect(firstDifference(first.text, second.text)).toBeUndefined();
  });
});

function firstDifference(a: string, b: string): readonly [string | undefined, string | undefined] | undefined {
  const [left, right] = [a.split("\n"), b.split("\n")];
  const at = left.findIndex((line, index) => line !== right[index]);
  return at === -1 && left.length === right.length ? undefined : [left[at]?.slice(0, 500), right[at]?.slice(0, 500)];
}
