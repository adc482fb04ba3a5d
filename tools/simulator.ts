// Runs the simulator as a program, for `npm run localcluster -- up --simulated` and `--nodes simulated=20`. It logs to
// stdout and runs until it receives a signal.
//
//     node tools/simulator.ts cluster --kubeconfig FILE --nodes N [--port PORT]   a cluster; writes FILE once it is ready
//     node tools/simulator.ts nodes --kubeconfig FILE --nodes N                   nodes that join the cluster of FILE
//     … --prometheus-port PORT --scrape-interval 5s                               and a Prometheus that scrapes them
import { rename, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createClient, loadConfig, systemEnvironment } from "@memhog/runtime";
import { parseDuration } from "@memhog/runtime/objects";
import { fullCluster, joinHollowNodes, startSimulator } from "@memhog/simulator";

const flags = ["kubeconfig", "nodes", "port", "prometheus-port", "scrape-interval"] as const;
const { values, positionals } = parseArgs({
  options: Object.fromEntries(flags.map((flag) => [flag, { type: "string" }] as const)),
  allowPositionals: true,
});
const text = (flag: (typeof flags)[number]) => values[flag] as string | undefined;
const kubeconfig = text("kubeconfig") ?? "";
const prometheus = {
  port: Number(text("prometheus-port") ?? 0),
  intervalMs: parseDuration(text("scrape-interval") ?? "5s"),
};
const scrapes = text("prometheus-port") !== undefined;
const count = Number(text("nodes") ?? 1);
const environment = systemEnvironment();

const running = positionals[0] === "nodes" ? await joinNodes() : await startCluster();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void end(signal));

async function startCluster(): Promise<AsyncDisposable> {
  const http = { tls: true, port: Number(text("port") ?? 0) };
  const components = fullCluster({ nodes: { count }, ...(scrapes && { prometheus }) });
  const simulator = await startSimulator({ environment, http, components });
  // Written atomically: another process waits for the file and must not read a part of it.
  await writeFile(`${kubeconfig}.new`, simulator.kubeconfig ?? "", { mode: 0o600 });
  await rename(`${kubeconfig}.new`, kubeconfig);
  console.log(`a simulated cluster with ${count} nodes at ${simulator.url}`);
  return simulator;
}

async function joinNodes(): Promise<AsyncDisposable> {
  // All nodes share this client, so the default rate limit of a single client is too low.
  const rateLimit = { qps: 2_000, burst: 2_000 };
  const client = createClient({
    config: await loadConfig({ kubeconfig }),
    environment,
    userAgent: "hollow-nodes",
    rateLimit,
    highPriorityRateLimit: rateLimit,
  });
  const nodes = await joinHollowNodes({ client, environment, count, ...(scrapes && { prometheus }) });
  console.log(`${count} simulated nodes have joined`);
  return nodes;
}

async function end(signal: string): Promise<void> {
  console.log(`${signal}: the end`);
  await running[Symbol.asyncDispose]();
  process.exit(0);
}
