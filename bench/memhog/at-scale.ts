// What the operator itself costs, at rest, with nobody, 1,000 and 5,000 pods to look after. The cluster is simulated, in a process of
// its own: what it takes is not the operator's. Deployments of twenty pods, all monitored, all content; a new operator for each size.
import { join } from "node:path";
import { type Cluster, startCluster } from "@memhog/localcluster";
import { connect, Deployment, systemEnvironment } from "@memhog/runtime";
import { top } from "../../tools/process.ts";
import type { Figure } from "../report.ts";
import { countingRelay } from "./counting-relay.ts";
import { OperatorProcess, pause, until } from "./operator-process.ts";

const podsPerApp = 20;
const podsPerNode = 100; // of the 110 that one takes
/** Long enough for four loops of the default interval, and for garbage to be collected. */
const windowMs = 60_000;
const interval = "15s";
const writes = /method="(POST|PUT|PATCH|DELETE)"/;

export async function measureAtScale(program: string, sizes: readonly number[]): Promise<readonly Figure[]> {
  const nodes = { simulated: Math.ceil(Math.max(...sizes) / podsPerNode) };
  const env = { ...process.env, LOCALCLUSTER_SIMULATOR: join(top, "tools/simulator.ts") };
  await using cluster = await startCluster({ simulated: true, nodes, prometheus: { scrapeInterval: "5s" }, env });
  const figures: Figure[] = [];
  for (const pods of [0, ...sizes]) {
    await populate(cluster, pods);
    figures.push(...(await measureAtRest(program, cluster, pods)));
  }
  return figures;
}

async function measureAtRest(program: string, cluster: Cluster, pods: number): Promise<readonly Figure[]> {
  console.error(`the operator at rest, ${pods} pods`);
  await using relay = await countingRelay(cluster.prometheus ?? "");
  await using operator = await OperatorProcess.start({
    program,
    kubeconfig: cluster.kubeconfig,
    prometheus: relay.address,
    interval,
  });
  await untilAtRest(operator, pods);
  const before = await snapshot(operator, relay.asked);
  await pause(windowMs);
  const after = await snapshot(operator, relay.asked);
  const { rss, peak } = operator.memory();
  const most = pods === 0 ? 110 : 128;
  const per = (amount: number) => amount / ((after.at - before.at) / 60_000);
  const written = per(after.written - before.written);
  const queries = (after.asked - before.asked) / (after.loops - before.loops);
  const figure = (name: string, unit: string, ours: number): Figure => ({
    name: `${name}, ${named(pods)}`,
    unit,
    ours,
    peers: {},
  });
  return [
    { ...figure("memory", "MiB", rss), goal: `≤ ${most}`, holds: rss <= most },
    figure("highest memory since its start", "MiB", peak),
    figure("processor, of one core", "%", per(after.cpuSeconds - before.cpuSeconds) / 0.6),
    { ...figure("writes to the API server", "per min", written), goal: "0", holds: written === 0 },
    { ...figure("Prometheus queries", "per loop", queries), goal: "1", holds: queries === 1 },
  ];
}

const named = (pods: number) => (pods === 0 ? "idle" : `${pods.toLocaleString("en")} pods`);

/** It has a sample of every container, and has written nothing for longer than a loop takes. */
async function untilAtRest(operator: OperatorProcess, pods: number): Promise<void> {
  let quietSince = performance.now();
  let written = -1;
  await until(async () => {
    const read = await operator.metrics();
    const now = read("rest_client_requests_total", writes);
    if (now !== written || read("memhog_samples") < pods) quietSince = performance.now();
    written = now;
    return performance.now() - quietSince > 20_000;
  }, `an operator with ${pods} pods to come to rest`);
}

async function snapshot(operator: OperatorProcess, asked: () => number) {
  const read = await operator.metrics();
  return {
    at: performance.now(),
    cpuSeconds: operator.cpuSeconds(),
    written: read("rest_client_requests_total", writes),
    loops: read("memhog_prometheus_queries_total"),
    asked: asked(),
  };
}

/** So many pods, all running; those that are there already stay. */
async function populate(cluster: Cluster, pods: number): Promise<void> {
  await using client = await connect({ kubeconfig: cluster.kubeconfig, environment: systemEnvironment() });
  const list = async () => (await client.list(Deployment, { namespace: "default" })).items;
  const apps = Math.ceil(pods / podsPerApp);
  for (let app = (await list()).length; app < apps; app += 1) await client.create(Deployment, deploymentOf(app));
  let said = 0;
  await until(async () => {
    const ready = (await list()).reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0);
    if (performance.now() - said > 10_000) {
      said = performance.now();
      console.error(`${ready} of ${pods} simulated pods are ready`);
    }
    return ready >= pods;
  }, `${pods} simulated pods`);
}

function deploymentOf(app: number): Deployment {
  const name = `app-${app}`;
  const labels = { app: name };
  const annotations = { "app-monitor.kubedemo.com/monitor": "true", "simulator.memhog.dev/memory.main": "60Mi" };
  const resources = { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } };
  const spec = { containers: [{ name: "main", image: "example.com/main", resources }] };
  return {
    metadata: { namespace: "default", name },
    spec: { replicas: podsPerApp, selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } },
  } as Deployment;
}
