// npm run demo: the memhog-operator at work, from nothing, in less than a minute. A cluster comes up, a program that wastes memory
// runs on it, and before the kernel would kill it, it is given more. The cluster is the simulator, or with --real a real node of this
// machine; the demo says which.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { hogManifests } from "@memhog/hog";
import { AppMemory, AppMonitor, intervalMsOf, memhogFlags, memhogKinds, memhogOperator } from "@memhog/memhog-operator";
import { Deployment, type Operator, silentLogger } from "@memhog/runtime";
import { parse } from "yaml";
import { barLines } from "./demo/bars.ts";
import { type DemoCluster, openDemoCluster } from "./demo/cluster.ts";
import { Live } from "./demo/live.ts";
import { Memories, podsOf, type Shown } from "./demo/memories.ts";
import { top } from "./process.ts";

const usage = `Usage: npm run demo [-- FLAGS]

Shows the memhog-operator at work on a simulated cluster (any machine, a minute), or on a real one.
  --real               a real node with real containers on this machine (Linux, root; minutes the first time)
  --strategy redeploy  the other road: a bigger copy first, then the original goes (auto, inplace, redeploy, recommend)
  --speed N            simulated time is so many times as fast (default 20); with --real the program wastes so many MiB per second (default 4)
  --keep               leave the cluster up at the end, and say what to try with kubectl
  --help               this
`;

const strategies = { auto: "Auto", inplace: "InPlace", redeploy: "Redeploy", recommend: "Recommend" } as const;
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
  const options = optionsIn(process.argv.slice(2));
  if (typeof options === "string") {
    console.log(options);
    return options === usage ? 0 : 2;
  }
  process.once("SIGINT", () => interrupted.abort(new Error("interrupted")));
  process.once("SIGTERM", () => interrupted.abort(new Error("interrupted")));
  const live = new Live();
  try {
    await using cluster = await openDemoCluster(options, live);
    return await demo(options, cluster, live);
  } catch (error) {
    live.show([]);
    live.say(`\nthe demo did not get to its end: ${(error as Error).message}`);
    return interrupted.signal.aborted ? 130 : 1;
  }
}

/** The options, or what to say instead. */
function optionsIn(argv: readonly string[]): Options | string {
  try {
    const flag = { type: "boolean", default: false } as const;
    const { values } = parseArgs({
      args: [...argv],
      options: { real: flag, keep: flag, help: { ...flag, short: "h" }, speed: { type: "string" }, strategy: { type: "string" } },
    });
    const { real, keep, help, speed: told, strategy: named = "auto" } = values;
    if (help) return usage;
    const speed = Number(told ?? (real ? 4 : 20));
    const strategy = strategies[named.toLowerCase() as keyof typeof strategies];
    if (!(speed >= 1 && speed <= 100)) return `--speed: expected a number from 1 to 100, found ${told}\n\n${usage}`;
    if (strategy === undefined) return `--strategy: expected ${Object.keys(strategies).join(", ")}, found ${named}\n\n${usage}`;
    return { real, keep, speed, strategy };
  } catch (error) {
    return `${(error as Error).message}\n\n${usage}`;
  }
}

async function demo(options: Options, cluster: DemoCluster, live: Live): Promise<number> {
  const { clock } = cluster.environment;
  live.say(`A cluster is up after ${live.seconds()} s: ${cluster.what}.\n`);

  // The seeds' flags, and a look at memory every 5 s instead of every 15.
  const flags = ["-v2", `--prometheus-addr=${cluster.prometheusUrl}`, `--kubeconfig=${cluster.kubeconfig}`];
  const command = [...flags, "--interval=5s", "--install-crds"];
  live.say(`$ memhog-operator ${command.join(" ")}`);
  const began = clock.monotonic();
  const seconds = () => `${Math.round((clock.monotonic() - began) / 1000)} s`.padStart(6);
  const memories = new Memories((pod, { kind, reason, text }) => {
    live.say(`${seconds()}  ${kind === "raise" ? bold(live, "raise") : "hold "}  ${pod}  ${reason}: ${text}`);
  });
  const pageAt = Promise.withResolvers<number>();
  const operator = startOperator(command, cluster, { onPass: memories.note, onPage: pageAt.resolve });
  await using _ = operator;
  await untilServed(cluster);
  live.say(`A page shows the same: http://127.0.0.1:${await pageAt.promise}/\n`);

  await applySeeds(options, cluster, live);
  const story = await watchIt(options, cluster, live, memories);
  live.show([]);
  live.say(`\n${closing(story, live)}`);
  if (options.keep && story.grown) await keep(cluster, live);
  return story.grown ? 0 : 1;
}

interface Hooks {
  readonly onPass: Memories["note"];
  readonly onPage: (port: number) => void;
}

/** The program in this process, from its own command line, so that what it decides can be shown as it does. */
function startOperator(
  command: readonly string[],
  { client, environment, prometheus }: DemoCluster,
  hooks: Hooks,
): AsyncDisposable {
  const { own } = memhogFlags(command, {});
  const stop = new AbortController();
  const operator: Operator = memhogOperator({
    ...{ client, environment, prometheus, namespaces: [namespace], intervalMs: intervalMsOf(own), log: silentLogger },
    ...{ installCrds: memhogKinds, metricsBindAddress: "0", healthProbeBindAddress: "0", pageBindAddress: "127.0.0.1:0" },
    ...hooks,
  });
  const running = operator.run(stop.signal);
  running.catch((error) => interrupted.abort(error));
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running.catch(() => {}); // told already
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

async function applySeeds({ real, speed, strategy }: Options, { client }: DemoCluster, live: Live): Promise<void> {
  const monitor = await manifest(join(top, "operators/memhog/deploy/samples/app-monitor.yaml"));
  const deployment = await manifest(hogManifests.deployment);
  const [container] = deployment.spec.template.spec.containers;
  if (real) container.args = ["--ramp", `${speed}Mi/s`, "--to", "500Mi"];
  live.say(`$ kubectl apply -f johnny-cache.yaml     at 75 % of the limit, twice the memory (strategy ${strategy})`);
  const spec = { ...monitor.spec, strategy };
  await client.apply(AppMonitor, { metadata: { ...monitor.metadata, namespace }, spec }, { fieldManager: "demo" });
  live.say(
    `$ kubectl apply -f memhog.yaml           256Mi requested, 384Mi allowed; it runs: memhog ${container.args.join(" ")}\n`,
  );
  const metadata = { ...deployment.metadata, namespace };
  await client.apply(Deployment, { metadata, spec: deployment.spec }, { fieldManager: "demo" });
}

// biome-ignore lint/suspicious/noExplicitAny: a file of ours, read as it is
async function manifest(path: string): Promise<any> {
  return parse(await readFile(path, "utf8"));
}

interface Story {
  readonly grown: boolean;
  readonly first: Shown | undefined;
  readonly last: Shown | undefined;
  readonly tookSeconds: number;
  readonly restarts: number;
  readonly oomKills: number;
}

/** Shows the pods until one has grown and all is calm again; gives up after so long. */
async function watchIt(options: Options, { client, environment }: DemoCluster, live: Live, memories: Memories): Promise<Story> {
  const { clock } = environment;
  const patienceMs = options.strategy === "Recommend" ? 400_000 : 900_000;
  const began = clock.monotonic();
  const restarts = new Map<string, number>();
  const killed = new Set<string>();
  let first: Shown | undefined;
  let told = began;
  for (;;) {
    interrupted.signal.throwIfAborted();
    const pods = await podsOf(client, namespace);
    for (const { pod, restarts: count, oomKilled } of pods) {
      restarts.set(pod, count);
      if (oomKilled) killed.add(pod);
    }
    first ??= pods.find(({ limit }) => limit > 0);
    const scale = Math.max((first?.limit ?? 1) * 2, ...pods.map(({ limit }) => limit));
    const lines = barLines(memories.bars(pods), scale, live.colours);
    live.show(["", ...lines]);
    // Where nothing moves on the screen, a line now and then says how it stands.
    if (!live.isTerminal && clock.monotonic() - told > 60_000) {
      told = clock.monotonic();
      for (const line of lines) live.say(line);
    }
    const [last, ...others] = pods;
    const grown = first !== undefined && last !== undefined && others.length === 0 && hasGrown(first, last);
    const tookMs = clock.monotonic() - began;
    if (grown || tookMs > patienceMs) {
      for (const line of lines) live.say(line);
      const total = [...restarts.values()].reduce((sum, count) => sum + count, 0);
      return { grown, first, last, tookSeconds: Math.round(tookMs / 1000), restarts: total, oomKills: killed.size };
    }
    await pause(100);
  }
}

function hasGrown(first: Shown, last: Shown): boolean {
  return last.ready && !last.deleting && last.limit > first.limit && last.request > first.request;
}

function closing({ grown, first, last, tookSeconds, restarts, oomKills }: Story, live: Live): string {
  const mib = (bytes = 0) => `${Math.round(bytes / 1024 / 1024)}Mi`;
  const memory = (shown: Shown | undefined) => `${mib(shown?.request)}/${mib(shown?.limit)}`;
  const counts = `${restarts} restarts, ${oomKills} OOM kills`;
  if (!grown) return `memhog did not grow within ${tookSeconds} s of the cluster's time: it has ${memory(last)}; ${counts}.`;
  const how = first?.pod === last?.pod ? "in place, the same pod" : `by a bigger copy, ${last?.pod}`;
  return (
    `memhog grew from ${memory(first)} to ${memory(last)}, ${how}: after ${tookSeconds} s of the cluster's time; ${counts}.\n` +
    `The demo took ${live.seconds()} s.`
  );
}

/** Leaves everything running until Ctrl-C. */
async function keep({ kubeconfig, howToEnd }: DemoCluster, live: Live): Promise<void> {
  live.say(`\nThe cluster stays up until ${howToEnd}. Try:

  export KUBECONFIG=${kubeconfig}
  kubectl get pods,appmonitors,appmemories
  kubectl describe appmonitor johnny-cache
  kubectl get events --field-selector reason=MemoryRaised
  kubectl explain appmonitor.spec
  kubectl patch appmonitor johnny-cache --type merge -p '{"spec": {"paused": true}}'`);
  await new Promise((stopped) => interrupted.signal.addEventListener("abort", stopped, { once: true }));
}

function bold({ colours }: Live, text: string): string {
  return colours ? `\u001b[1;32m${text}\u001b[0m` : text;
}

function pause(ms: number): Promise<void> {
  return new Promise((turn) => setTimeout(turn, ms));
}
