// Measures the memory of an operator without work.
import type { Cluster } from "@memhog/localcluster";
import type { Figure } from "../report.ts";
import type { Contenders } from "./build.ts";
import { Contender } from "./contender.ts";

/** Long enough for the first garbage collections, and for a few renewals of a Lease. */
const settleMs = 10_000;

export async function measureIdle({ idle }: Contenders, cluster: Cluster): Promise<readonly Figure[]> {
  console.error("an idle operator");
  await using contender = new Contender(idle, cluster.kubeconfig);
  await contender.synced();
  await new Promise((done) => setTimeout(done, settleMs));
  const { rss } = contender.memory();
  return [{ name: "memory of an idle operator", unit: "MiB", ours: rss, peers: {}, goal: "≤ 110", holds: rss <= 110 }];
}
