// Measures the operator against growing containers on a real node: the kubelet measures every 10 to 15 s, Prometheus
// scrapes every 5 s, the operator runs every 5 s. All ramps run in parallel. Their starts are staggered, so that they hit
// these intervals in different phases.
import { readFileSync } from "node:fs";
import { loadHog } from "@memhog/hog";
import { type Cluster, startCluster } from "@memhog/localcluster";
import { AppMemory, AppMonitor } from "@memhog/memhog-operator";
import { crdOf } from "@memhog/runtime";
import { type Figure, percentile } from "../report.ts";
import { OperatorProcess, pause } from "./operator-process.ts";
import { type RampResult, runRamp } from "./ramp.ts";

const mib = 2 ** 20;
const apartMs = 1_700;
const ramps = 6;

/** All idle for a minute first, at zero: idle samples before a ramp must not flatten its trend. */
const races = [
  { rate: "1Mi/s", goal: 300 * mib },
  { rate: "2Mi/s", goal: 720 * mib },
  { rate: "10Mi/s", goal: 720 * mib },
] as const;

export async function measureOnANode(program: string): Promise<readonly Figure[]> {
  await using cluster = await startCluster({ nodes: "real", prometheus: { scrapeInterval: "5s" }, audit: true });
  await loadHog(cluster);
  await cluster.apply(crdOf(AppMonitor), crdOf(AppMemory));
  const { kubeconfig, prometheus = "" } = cluster;
  await using _operator = await OperatorProcess.start({ program, kubeconfig, prometheus, interval: "5s" });
  const figures = await Promise.all(races.map((race) => measureRace(cluster, race)));
  return figures.flat();
}

async function measureRace(cluster: Cluster, race: (typeof races)[number]): Promise<readonly Figure[]> {
  const namespace = await cluster.namespace();
  const spec = { memThresholdPercent: 75, memMultiplier: 2 };
  const metadata = { name: "johnny-cache", namespace };
  await cluster.apply({ apiVersion: "kubedemo.com/v1", kind: "AppMonitor", metadata, spec });
  const one = async (_: unknown, at: number) => {
    await pause(at * apartMs);
    const result = await runRamp(cluster, { ...race, name: `hog-${at + 1}`, namespace });
    console.error(`${race.rate}: ${said(result)}`);
    return result;
  };
  const results = await Promise.all(Array.from({ length: ramps }, one));
  return figuresOf(race, results, resizesIn(cluster.auditLog ?? "", namespace));
}

function figuresOf(race: (typeof races)[number], results: readonly RampResult[], resizes: readonly number[]): readonly Figure[] {
  const { rate, goal } = race;
  const reactions = results.map(({ reaction }) => (Number.isNaN(reaction) ? Number.POSITIVE_INFINITY : reaction));
  const [p50, p99] = [percentile(reactions, 0.5), percentile(reactions, 0.99)];
  const kills = results.filter(({ killed }) => killed).length;
  const most = Math.max(0, ...resizes);
  const figure = (name: string, unit: string, ours: number): Figure => ({ name: `${rate}: ${name}`, unit, ours, peers: {} });
  const soon = { goal: "≤ 12", holds: p50 <= 12 };
  const shared = [
    { ...figure("75 % crossed → larger cgroup limit, p50", "s", p50), ...(rate === "1Mi/s" ? soon : {}) },
    figure(`75 % crossed → larger cgroup limit, p99 (the latest of ${ramps})`, "s", p99),
    { ...figure(`OOM kills in ${ramps} ramps`, "kills", kills), goal: "0", holds: kills === 0 },
  ];
  if (goal < 720 * mib) return shared;
  const granted = results.map(({ grantedPerUse }) => grantedPerUse).filter((ratio) => !Number.isNaN(ratio));
  return [
    ...shared,
    { ...figure("resizes until 720 MiB, most of any ramp", "calls", most), goal: "≤ 5", holds: most <= 5 },
    figure("limit granted ÷ use at 720 MiB, p50", "×", percentile(granted, 0.5)),
  ];
}

const said = ({ name, killed, reaction, grantedPerUse }: RampResult) =>
  killed
    ? `${name} was killed`
    : `${name} had more ${reaction.toFixed(1)} s after the crossing, ${grantedPerUse.toFixed(2)} × its use at the end`;

/** Number of resizes per pod of the namespace, from the API server's audit log. A raise is two calls: limit, then request. */
function resizesIn(auditLog: string, namespace: string): readonly number[] {
  const counts = new Map<string, number>();
  for (const line of readFileSync(auditLog, "utf8").split("\n").slice(0, -1)) {
    if (!line.includes('"subresource":"resize"')) continue;
    const { objectRef, verb, responseStatus } = JSON.parse(line);
    if (objectRef.namespace !== namespace || verb !== "patch" || responseStatus?.code !== 200) continue;
    counts.set(objectRef.name, (counts.get(objectRef.name) ?? 0) + 1);
  }
  return [...counts.values()];
}
