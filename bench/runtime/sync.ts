// Measures the time until the cache is complete, the memory, and the longest event-loop block.
import type { Cluster } from "@memhog/localcluster";
import type { Figure } from "../report.ts";
import type { Contenders } from "./build.ts";
import { Contender } from "./contender.ts";

interface SyncResult {
  readonly ms: number;
  readonly rss: number;
  readonly peak: number;
  readonly block: number;
}

/** Rounds are interleaved (ours, a, b, c, ours, …), so that other load on the machine affects all equally. Reports the median. */
const rounds = 3;

export async function measureSync(contenders: Contenders, cluster: Cluster, size: number): Promise<readonly Figure[]> {
  const all = { ours: contenders.ours, ...contenders.peers };
  const results: Record<string, SyncResult[]> = {};
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, argv] of Object.entries(all)) {
      console.error(`${size} pods, round ${round} of ${rounds}: ${name}`);
      const result = await syncOnce(argv, cluster.kubeconfig, size);
      results[name] = [...(results[name] ?? []), result];
    }
  }
  const figure = (what: string, unit: string, of: (result: SyncResult) => number) => {
    const medians = Object.fromEntries(Object.entries(results).map(([name, runs]) => [name, median(runs.map(of))]));
    const { ours = Number.NaN, ...peers } = medians;
    return { name: `${what}, ${size} pods`, unit, ours, peers };
  };
  const time = figure("time to synced", "ms", (result) => result.ms);
  const rss = figure("memory when synced", "MiB", (result) => result.rss);
  const block = figure("longest event-loop block", "ms", (result) => result.block);
  const theirs = (figure: { peers: Record<string, number> }, peer: string) => figure.peers[peer] ?? Number.NaN;
  return [
    { ...time, goal: "< controller-runtime", holds: time.ours < theirs(time, "controller-runtime") },
    {
      ...rss,
      goal: size <= 5_000 ? "≤ 128; client-node ≥ 5 ×" : "client-node ≥ 5 ×",
      holds: (size > 5_000 || rss.ours <= 128) && rss.ours * 5 <= theirs(rss, "client-node"),
    },
    figure("highest memory on the way", "MiB", (result) => result.peak),
    { ...block, goal: "≤ 20", holds: block.ours <= 20 },
  ];
}

async function syncOnce(argv: readonly string[], kubeconfig: string, size: number): Promise<SyncResult> {
  await using contender = new Contender(argv, kubeconfig);
  const { ms, objects } = await contender.synced();
  if (objects < size) throw new Error(`${argv.join(" ")} says it is synced with ${objects} of ${size} pods`);
  await new Promise((done) => setTimeout(done, 2_000)); // includes the first reconcile of every pod
  const { longestBlockMs = Number.NaN } = await contender.report();
  const { rss, peak } = contender.memory();
  return { ms, rss, peak, block: longestBlockMs };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
