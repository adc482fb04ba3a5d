// The simulator as a program, for `npm run localcluster -- up --simulated` and `--nodes simulated=20`. It writes what it is up to
// to its output, which is its log, and runs until it is told to end.
//
//     node tools/simulator.ts cluster --kubeconfig FILE --nodes N [--port PORT]   a cluster; writes FILE once it answers
//     node tools/simulator.ts nodes --kubeconfig FILE --nodes N                   nodes that join the cluster of FILE
//     … --prometheus-port PORT --scrape-interval 5s                               and a Prometheus that scrapes them
import { rename, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { connect, parseDuration, systemEnvironment } from "@memhog/runtime";
import { joinHollowNodes, startSimulator, wholeCluster } from "@memhog/simulator";

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
  const parts = wholeCluster({ nodes: { count }, ...(scrapes && { prometheus }) });
  const simulator = await startSimulator({ environment, http, parts });
  // As a whole, under its name: whoever waits for the file must not read half of it.
  await writeFile(`${kubeconfig}.new`, simulator.kubeconfig ?? "", { mode: 0o600 });
  await rename(`${kubeconfig}.new`, kubeconfig);
  console.log(`a simulated cluster with ${count} nodes at ${simulator.url}`);
  return simulator;
}

async function joinNodes(): Promise<AsyncDisposable> {
  // Everything of all nodes goes through this one client, at the pace of the server and not of a single well-behaved guest.
  const rateLimit = { qps: 2_000, burst: 2_000 };
  const client = await connect({
    environment,
    kubeconfig,
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
