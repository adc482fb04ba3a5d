// Measures how many connections a thousand calls use, and how soon a change is reconciled after all connections were cut.
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "@memhog/localcluster";
import { createClient, loadConfig, Pod, systemEnvironment } from "@memhog/runtime";
import { startTcpProxy } from "@memhog/runtime/testing";
import type { Figure } from "../report.ts";
import type { Contenders } from "./build.ts";
import { Contender } from "./contender.ts";
import { podOf } from "./pods.ts";

interface WireResult {
  readonly connections: number;
  readonly recoveryMs: number;
}

export async function measureWire(contenders: Contenders, cluster: Cluster): Promise<readonly Figure[]> {
  const results: Record<string, WireResult> = {};
  const { "ours, whole": _same, ...peers } = contenders.peers;
  for (const [name, argv] of Object.entries({ ours: contenders.ours, ...peers })) {
    console.error(`connections and recovery: ${name}`);
    results[name] = await wireOnce(argv, cluster);
  }
  const figure = (name: string, unit: string, of: (result: WireResult) => number) => {
    const { ours = Number.NaN, ...others } = Object.fromEntries(
      Object.entries(results).map(([who, result]) => [who, of(result)]),
    );
    return { name, unit, ours, peers: others };
  };
  return [
    figure("connections for a watch and 1,000 calls", "connections", (result) => result.connections),
    figure("all connections cut → next change reconciled", "ms", (result) => result.recoveryMs),
  ];
}

async function wireOnce(argv: readonly string[], cluster: Cluster): Promise<WireResult> {
  const server = new URL(cluster.server);
  await using proxy = await startTcpProxy({ host: server.hostname, port: Number(server.port) });
  using folder = mkdtempDisposableSync(join(tmpdir(), "bench-"));
  const kubeconfig = join(folder.path, "kubeconfig");
  writeFileSync(kubeconfig, readFileSync(cluster.kubeconfig, "utf8").replaceAll(`:${server.port}`, `:${proxy.port}`));
  await using contender = new Contender(argv, kubeconfig);
  await contender.synced();
  await contender.calls();
  const { connections } = proxy;
  return { connections, recoveryMs: await recovery(contender, cluster, () => proxy.cut()) };
}

/** Cuts the connections, changes a pod meanwhile, and waits until the contender has reconciled the change. */
async function recovery(contender: Contender, cluster: Cluster, cut: () => void): Promise<number> {
  await using client = createClient({
    config: await loadConfig({ kubeconfig: cluster.kubeconfig }),
    environment: systemEnvironment(),
  });
  contender.reset();
  await contender.report();
  const since = performance.now();
  cut();
  const { name, namespace } = podOf(0).metadata;
  const annotations = { "bench/at": `${performance.timeOrigin + since}` };
  await client.patch(Pod, { name, namespace }, { type: "merge", body: { metadata: { annotations } } });
  while ((await contender.report()).changes === 0) {
    if (performance.now() - since > 120_000) return Number.POSITIVE_INFINITY;
    await new Promise((done) => setTimeout(done, 20));
  }
  return performance.now() - since;
}
