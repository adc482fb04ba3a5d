// Measures the latency from an event on the wire to the start of its reconcile at 1,000 events per second, and the
// maximum throughput.
import { spawn } from "node:child_process";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Figure } from "../report.ts";
import type { Contenders } from "./build.ts";
import { Contender } from "./contender.ts";

const pods = 5_000;
const steady = { rate: 1_000, total: 20_000 };
const flatOut = 50_000;

interface EventResult {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

export async function measureEvents(contenders: Contenders): Promise<readonly Figure[]> {
  const results: Record<string, EventResult> = {};
  for (const [name, argv] of Object.entries({ ours: contenders.ours, ...contenders.peers })) {
    console.error(`events: ${name}`);
    results[name] = await eventsOnce(argv);
  }
  const figure = (name: string, unit: string, of: (result: EventResult) => number) => {
    const { ours = Number.NaN, ...peers } = Object.fromEntries(Object.entries(results).map(([who, result]) => [who, of(result)]));
    return { name, unit, ours, peers };
  };
  const p99 = figure("event → reconcile at 1,000/s, p99", "ms", (result) => result.p99);
  return [
    figure("event → reconcile at 1,000/s, p50", "ms", (result) => result.p50),
    { ...p99, goal: "≤ 10", holds: p99.ours <= 10 },
    figure("events through cache and queue", "events/s", (result) => result.perSecond),
  ];
}

async function eventsOnce(argv: readonly string[]): Promise<EventResult> {
  const server = spawn(process.execPath, [join(import.meta.dirname, "event-server.ts"), "--pods", `${pods}`], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? "{}") as Record<string, number>;
    const { port } = await next();
    using folder = mkdtempDisposableSync(join(tmpdir(), "bench-"));
    const kubeconfig = join(folder.path, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigFor(`http://127.0.0.1:${port}`));
    await using contender = new Contender(argv, kubeconfig);
    await contender.synced();
    await settle(contender);
    contender.reset();
    server.stdin.write(`rate ${steady.rate} ${steady.total}\n`);
    await next();
    await settle(contender);
    const { p50, p99, changes } = await contender.report();
    if (changes === 0) throw new Error(`${argv.join(" ")} reconciled none of ${steady.total} changes`);
    contender.reset();
    const since = performance.now();
    server.stdin.write(`rate 0 ${flatOut}\n`);
    await next();
    // The queue deduplicates changes of a pod, so the end is when no more changes are reconciled.
    const quiet = await settle(contender);
    return { p50, p99, perSecond: (flatOut * 1000) / (quiet - since) };
  } finally {
    server.stdin.end();
  }
}

/** Waits until no change has been reconciled for half a second. Returns the time of the last one. */
async function settle(contender: Contender): Promise<number> {
  let last = performance.now();
  for (let before = -1; ; ) {
    const { changes } = await contender.report();
    if (changes !== before) last = performance.now();
    else if (performance.now() - last > 500) return last;
    before = changes;
    await new Promise((done) => setTimeout(done, 20));
  }
}

// client-node rejects plain HTTP unless TLS verification is disabled.
function kubeconfigFor(server: string): string {
  const context = { cluster: "bench", user: "bench" };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bench", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "bench", user: {} }],
    contexts: [{ name: "bench", context }],
    "current-context": "bench",
  });
}
