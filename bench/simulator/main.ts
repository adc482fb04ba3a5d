// npm run bench -- simulator [--json]
//
// Measures the simulator: its startup, a thousand pods, and a simulated day.
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { Deployment, systemEnvironment } from "@memhog/runtime";
import { manualEnvironment } from "@memhog/runtime/testing";
import { fullCluster, type Simulator, startSimulator } from "@memhog/simulator";
import { conditions, type Figure, percentile, report } from "../report.ts";

const { values } = parseArgs({ options: { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } });
if (values.help) {
  console.log("Usage: npm run bench -- simulator [--json]");
  process.exit(0);
}

const day = 24 * 3600_000;
const figures = [await measureStart(), await measureReady(1_000), await measureDay(50)];
report("@memhog/simulator", figures, {
  ...conditions(),
  load: `${loadavg()[0]?.toFixed(1)} processes wanted a core in the last minute, this one included`,
  start: "API server, controllers, HTTP, a node; median of five in one process",
  pods: "one Deployment, ten hollow nodes, real time, in memory",
  day: "a manual clock; nodes renew their Leases every 10 s, and nothing else happens",
});

async function measureStart(): Promise<Figure> {
  const samples: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const since = performance.now();
    const simulator = await startSimulator({
      environment: systemEnvironment(),
      http: true,
      components: fullCluster({ nodes: { count: 1 } }),
    });
    samples.push(performance.now() - since);
    await simulator.stop();
  }
  const ours = percentile(samples, 0.5);
  return { name: "start", unit: "ms", ours, peers: {}, goal: "< 200", holds: ours < 200 };
}

async function measureReady(count: number): Promise<Figure> {
  const nodes = {
    specs: Array.from({ length: 10 }, (_, index) => ({
      name: `node-${index + 1}`,
      capacity: { cpu: "64", memory: "64Gi", pods: "200" },
    })),
  };
  await using simulator = await startSimulator({ environment: systemEnvironment(), components: fullCluster({ nodes }) });
  const since = performance.now();
  await rollOut(simulator, count);
  while ((await readyPods(simulator)) < count) await simulator.environment.clock.sleep(50);
  const ours = (performance.now() - since) / 1000;
  return { name: `${count} pods Ready`, unit: "s", ours, peers: {}, goal: "< 10", holds: ours < 10 };
}

async function measureDay(count: number): Promise<Figure> {
  const environment = manualEnvironment();
  const components = fullCluster({ nodes: { count: 2 } });
  const simulator = await startSimulator({ environment, components });
  await rollOut(simulator, count);
  const since = performance.now();
  await environment.clock.advance(day);
  const ours = (performance.now() - since) / 1000;
  const ready = await readyPods(simulator);
  if (ready !== count) throw new Error(`expected ${count} pods Ready after a day, found ${ready}`);
  const stopped = simulator.stop();
  await environment.clock.advance(60_000);
  await stopped;
  return { name: `24 h of ${count} pods`, unit: "s", ours, peers: {}, goal: "< 60", holds: ours < 60 };
}

async function rollOut(simulator: Simulator, replicas: number): Promise<void> {
  const labels = { app: "bench" };
  const resources = { requests: { cpu: "10m", memory: "16Mi" } };
  const spec = { containers: [{ name: "main", image: "example.com/main", resources }] };
  await simulator.client().create(Deployment, {
    metadata: { namespace: "default", name: "bench" },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

/** Reads the status of the Deployment, because listing a thousand pods repeatedly would distort the measurement. */
async function readyPods(simulator: Simulator): Promise<number> {
  const { status } = await simulator.client().get(Deployment, { namespace: "default", name: "bench" });
  return status?.readyReplicas ?? 0;
}
