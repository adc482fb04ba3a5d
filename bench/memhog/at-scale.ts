// Measures the operator itself, at rest, with 0, 1,000 and 5,000 pods: Deployments of twenty pods, all monitored and
// below the threshold, on a simulated API server in a separate process (crowd-server.ts). Each size uses a new operator
// process.

import type { Figure } from "../report.ts";
import { countingRelay } from "./counting-relay.ts";
import { OperatorProcess, pause, until } from "./operator-process.ts";
import { type Crowd, startCrowd } from "./start-crowd.ts";

/** Long enough for four loops of the default interval, and for garbage collection. */
const windowMs = 60_000;
const interval = "15s";
const writes = /method="(POST|PUT|PATCH|DELETE)"/;

export async function measureAtScale(program: string, sizes: readonly number[]): Promise<readonly Figure[]> {
  await using crowd = await startCrowd();
  const figures: Figure[] = [];
  for (const pods of [0, ...sizes]) {
    await crowd.grow(pods);
    figures.push(...(await measureAtRest(program, crowd, pods)));
  }
  return figures;
}

async function measureAtRest(program: string, crowd: Crowd, pods: number): Promise<readonly Figure[]> {
  console.error(`the operator at rest, ${pods} pods`);
  await using relay = await countingRelay(crowd.prometheus);
  await using operator = await OperatorProcess.start({
    program,
    kubeconfig: crowd.kubeconfig,
    prometheus: relay.address,
    interval,
  });
  await untilAtRest(operator, pods);
  const before = await snapshot(operator, relay.asked);
  await pause(windowMs);
  const after = await snapshot(operator, relay.asked);
  if (after.decided - before.decided < pods)
    throw new Error(`expected decisions about ${pods} pods, found ${after.decided - before.decided}`);
  const { rss, own, peak } = operator.memory();
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
    figure("memory without Node's program file", "MiB", own),
    figure("highest memory since its start", "MiB", peak),
    figure("processor, of one core", "%", per(after.cpuSeconds - before.cpuSeconds) / 0.6),
    { ...figure("writes to the API server", "per min", written), goal: "0", holds: written === 0 },
    { ...figure("Prometheus queries", "per loop", queries), goal: "1", holds: queries === 1 },
  ];
}

const named = (pods: number) => (pods === 0 ? "idle" : `${pods.toLocaleString("en")} pods`);

/** Waits until the operator has a sample of every container and has written nothing for longer than one loop. */
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
    decided: read("memhog_decisions_total", /reason="BelowThreshold"/),
    asked: asked(),
  };
}
