// npm run demo: starts a cluster, the operator and a workload that leaks memory on purpose, and shows the operator raising the
// workload's limit before the kernel kills it. The cluster is the simulator, or with --real a real node on this machine.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AppMemory, AppMonitor, intervalMsOf, memhogKinds, memhogOperator, program } from "@memhog/memhog-operator";
import { Deployment, type Operator } from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import { parseCommandLine } from "@memhog/runtime/operator";
import { parse } from "yaml";
import { barLines } from "./demo/bars.ts";
import { type DemoCluster, openDemoCluster } from "./demo/cluster.ts";
import { DecisionLog, type LatestDecision, listPods, type PodState } from "./demo/pods.ts";
import { Terminal } from "./demo/terminal.ts";
import { top } from "./process.ts";

const usage = `Usage: npm run demo [-- FLAGS]

Shows memhog-operator raising a workload's memory limit, on a simulated cluster (any machine, under a minute) or a real one.

Flags:
  --real               run on a real node with real containers on this machine (Linux, root; takes minutes the first time)
  --strategy STRATEGY  auto, inplace, redeploy or recommend (default: auto)
  --speed N            simulated cluster: N times real time (default: 20)
                       real cluster: the workload allocates N MiB per second (default: 4)
  --keep               keep the cluster running at the end, until Ctrl-C, and print commands to try
  -h, --help           print this help
`;

const strategies = { auto: "Auto", inplace: "InPlace", redeploy: "Redeploy", recommend: "Recommend" } as const;
const samples = "operators/memhog/deploy/samples";
const namespace = "default";
const interrupted = new AbortController();

interface Options {
  readonly real: boolean;
  readonly keep: boolean;
  readonly speed: number;
  readonly strategy: (typeof strategies)[keyof typeof strategies];
}

process.exitCode = await main();

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (typeof options === "string") {
    (options === usage ? console.log : console.error)(options);
    return options === usage ? 0 : 2;
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => interrupted.abort(new Error("interrupted")));
  const terminal = new Terminal();
  try {
    await using cluster = await openDemoCluster(options, terminal);
    return await demo(options, cluster, terminal);
  } catch (error) {
    terminal.redraw([]);
    terminal.print(`\nThe demo did not finish: ${(error as Error).message}`);
    return interrupted.signal.aborted ? 130 : 1;
  }
}

/** Returns the options, or the help or usage error to print instead. */
function parseOptions(argv: readonly string[]): Options | string {
  try {
    const flag = { type: "boolean", default: false } as const;
    const { values } = parseArgs({
      args: [...argv],
      options: { real: flag, keep: flag, help: { ...flag, short: "h" }, speed: { type: "string" }, strategy: { type: "string" } },
    });
    const { real, keep, help, speed: given, strategy: named = "auto" } = values;
    if (help) return usage;
    const speed = Number(given ?? (real ? 4 : 20));
    const strategy = strategies[named.toLowerCase() as keyof typeof strategies];
    if (!(speed >= 1 && speed <= 100)) return `--speed: expected a number from 1 to 100, found ${given}\n\n${usage}`;
    if (strategy === undefined) return `--strategy: expected ${Object.keys(strategies).join(", ")}, found ${named}\n\n${usage}`;
    return { real, keep, speed, strategy };
  } catch (error) {
    return `${(error as Error).message}\n\n${usage}`;
  }
}

async function demo(options: Options, cluster: DemoCluster, terminal: Terminal): Promise<number> {
  terminal.print(`Cluster     ${cluster.name}, ready after ${terminal.elapsed()} s`);
  terminal.print(`              ${cluster.details}`);
  const { clock } = cluster.environment;
  const began = clock.monotonic();
  const decisions = new DecisionLog((pod, { kind, reason, message }) => {
    const at = `${Math.round((clock.monotonic() - began) / 1000)} s`.padStart(6);
    terminal.print(`${at}  ${kind === "raise" ? bold(terminal, "raise") : "hold "}  ${reason.padEnd(18)}  ${pod}`);
    terminal.printWrapped(message, 15);
  });
  const dashboardPort = Promise.withResolvers<number>();
  await using _ = startOperator(cluster, { onPass: decisions.record, onDashboard: dashboardPort.resolve }, terminal);
  await untilServed(cluster);
  terminal.print(`Dashboard   http://127.0.0.1:${await dashboardPort.promise}/`);
  await applySamples(options, cluster, terminal);

  const result = await watch(options, cluster, terminal, decisions);
  terminal.redraw([]);
  terminal.print("");
  terminal.printWrapped(summary(result), 0);
  terminal.print(`The demo took ${terminal.elapsed()} s.`);
  if (options.keep && result.succeeded) await keep(cluster, terminal);
  return result.succeeded ? 0 : 1;
}

interface Hooks {
  readonly onPass: DecisionLog["record"];
  readonly onDashboard: (port: number) => void;
}

/** Runs the operator in this process, configured by command-line flags, so that the demo can show each decision. */
function startOperator(cluster: DemoCluster, hooks: Hooks, terminal: Terminal): AsyncDisposable {
  const { client, environment, prometheus, prometheusUrl, kubeconfig } = cluster;
  const argv = ["-v2", `--prometheus-addr=${prometheusUrl}`, `--kubeconfig=${kubeconfig}`, "--interval=5s", "--install-crds"];
  terminal.print("Operator    memhog-operator, in this process, as started by:");
  for (const flag of ["memhog-operator", ...argv]) terminal.print(`              ${flag}${flag === argv.at(-1) ? "" : " \\"}`);
  const { values } = parseCommandLine(program, argv);
  const stop = new AbortController();
  const operator: Operator = memhogOperator({
    ...{ client, environment, prometheus, namespaces: [namespace], intervalMs: intervalMsOf(values), log: silentLogger },
    ...{ installCrds: memhogKinds, metricsBindAddress: "0", healthProbeBindAddress: "0", dashboardBindAddress: "127.0.0.1:0" },
    // The demo handles signals itself. Otherwise, the operator would take its stop after a signal for a second request
    // and exit at once.
    process: { onStop: () => () => {}, onUnhandledRejection: () => () => {}, exit: () => {} },
    ...hooks,
  });
  const running = operator.run(stop.signal);
  running.catch((error) => interrupted.abort(error));
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running.catch(() => {}); // `interrupted` carries the error
    },
  };
}

async function untilServed({ client }: DemoCluster): Promise<void> {
  for (;;) {
    interrupted.signal.throwIfAborted();
    if ((await client.discovery.serves(AppMonitor)) && (await client.discovery.serves(AppMemory))) return;
    client.discovery.forget();
    await pause(100);
  }
}

/** Applies the sample manifests of the repository. Prints the values that flags override. */
async function applySamples({ real, speed, strategy }: Options, { client }: DemoCluster, terminal: Terminal): Promise<void> {
  const monitor = await readManifest(`${samples}/app-monitor.yaml`);
  const { memThresholdPercent, memMultiplier } = monitor.spec;
  const monitorSpec = { ...monitor.spec, ...(strategy !== "Auto" && { strategy }) };
  await client.apply(AppMonitor, { metadata: { ...monitor.metadata, namespace }, spec: monitorSpec }, { fieldManager: "demo" });
  terminal.print(`Applied     ${samples}/app-monitor.yaml`);
  terminal.print(
    `              at ${memThresholdPercent} % of the limit, multiply memory by ${memMultiplier} (strategy ${strategy})`,
  );

  const { metadata, spec } = await readManifest(`${samples}/memhog.yaml`);
  const [container] = spec.template.spec.containers;
  if (real) container.args = ["--ramp", `${speed}Mi/s`, "--to", "500Mi"];
  await client.apply(Deployment, { metadata: { ...metadata, namespace }, spec }, { fieldManager: "demo" });
  const { requests, limits } = container.resources;
  terminal.print(`Applied     ${samples}/memhog.yaml`);
  terminal.print(`              request ${requests.memory}, limit ${limits.memory}, ${container.args.join(" ")}\n`);
}

// biome-ignore lint/suspicious/noExplicitAny: a manifest of this repository
async function readManifest(path: string): Promise<any> {
  return parse(await readFile(join(top, path), "utf8"));
}

interface Result {
  readonly succeeded: boolean;
  readonly first: PodState | undefined;
  readonly last: PodState | undefined;
  readonly recommendation: LatestDecision | undefined;
  readonly tookSeconds: number;
  readonly restarts: number;
  readonly oomKills: number;
}

/** Draws the pods until the limit is raised (or the raise recommended) and only the raised pod is left, or until the timeout. */
async function watch(
  options: Options,
  { client, environment }: DemoCluster,
  terminal: Terminal,
  log: DecisionLog,
): Promise<Result> {
  const { clock } = environment;
  const timeoutMs = 900_000;
  const began = clock.monotonic();
  const restarts = new Map<string, number>();
  const killed = new Set<string>();
  let first: PodState | undefined;
  let printedAt = began;
  for (;;) {
    interrupted.signal.throwIfAborted();
    const pods = await listPods(client, namespace);
    for (const { pod, restarts: count, oomKilled } of pods) {
      restarts.set(pod, count);
      if (oomKilled) killed.add(pod);
    }
    first ??= pods.find(({ limit }) => limit > 0);
    const scale = Math.max((first?.limit ?? 1) * 2, ...pods.map(({ limit }) => limit));
    const lines = barLines(log.bars(pods), { scale, columns: terminal.columns, colors: terminal.colors });
    terminal.redraw(["", ...lines]);
    if (!terminal.isTTY && clock.monotonic() - printedAt > 60_000) {
      printedAt = clock.monotonic();
      for (const line of lines) terminal.print(line);
    }
    const [last, ...others] = pods;
    const decision = last && log.get(last.pod);
    const recommendation = options.strategy === "Recommend" && decision?.reason === "RecommendOnly" ? decision : undefined;
    const raised = first !== undefined && last !== undefined && others.length === 0 && isRaised(first, last);
    const tookMs = clock.monotonic() - began;
    const succeeded = raised || recommendation !== undefined;
    if (succeeded || tookMs > timeoutMs) {
      for (const line of lines) terminal.print(line);
      const total = [...restarts.values()].reduce((sum, count) => sum + count, 0);
      const counts = { tookSeconds: Math.round(tookMs / 1000), restarts: total, oomKills: killed.size };
      return { succeeded, first, last, recommendation, ...counts };
    }
    await pause(100);
  }
}

function isRaised(first: PodState, last: PodState): boolean {
  return last.ready && !last.deleting && last.limit > first.limit && last.request > first.request;
}

function summary({ succeeded, first, last, recommendation, tookSeconds, restarts, oomKills }: Result): string {
  const mib = (bytes = 0) => `${Math.round(bytes / 1024 / 1024)}Mi`;
  const memory = (state: PodState | undefined) => `${mib(state?.request)}/${mib(state?.limit)}`;
  const counts = `after ${tookSeconds} s of cluster time; ${restarts} restarts, ${oomKills} OOM kills.`;
  if (recommendation !== undefined) return `The operator recommended a raise and changed nothing, ${counts}`;
  if (!succeeded) return `The limit was not raised: memhog still has ${memory(last)} ${counts}`;
  const how = first?.pod === last?.pod ? "in place, same pod" : `by a larger copy, ${last?.pod}`;
  return `memhog was raised from ${memory(first)} to ${memory(last)} (request/limit), ${how}, ${counts}`;
}

/** Keeps everything running until Ctrl-C. */
async function keep({ kubeconfig }: DemoCluster, terminal: Terminal): Promise<void> {
  terminal.print(`\nThe cluster keeps running until Ctrl-C. In another terminal:

  $ export KUBECONFIG=${kubeconfig}
  $ kubectl get pods,appmonitors,appmemories
  $ kubectl describe appmonitor johnny-cache
  $ kubectl get events --field-selector reason=MemoryRaised
  $ kubectl explain appmonitor.spec
  $ kubectl patch appmonitor johnny-cache --type merge -p '{"spec": {"paused": true}}'`);
  await new Promise((stopped) => interrupted.signal.addEventListener("abort", stopped, { once: true }));
}

function bold({ colors }: Terminal, text: string): string {
  return colors ? `\u001b[1;32m${text}\u001b[0m` : text;
}

function pause(ms: number): Promise<void> {
  return new Promise((turn) => setTimeout(turn, ms));
}
