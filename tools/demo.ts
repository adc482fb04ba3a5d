// npm run demo [-- --real]: an operator at work, from nothing to gone, in less than a minute.
//
// Today that operator is the smallest of the house, gordon: it keeps as many pods as it is told. The cluster is the simulator,
// or with --real a real node of this machine; everything else is the same, down to the operator's command line.
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { connect, dynamicKind, NotFoundError, Pod, type Stored, systemEnvironment } from "@memhog/runtime";
import { openDemoCluster } from "./demo/cluster.ts";
import { startScreen } from "./demo/screen.ts";
import { top } from "./process.ts";

const usage = `Usage: npm run demo [-- --real]

Shows an operator at work on a simulated cluster (any machine, a minute), or on a real one:
  --real   a real node with real containers on this machine (Linux, root; minutes the first time)
  --help   this
`;

const Gordon = dynamicKind({ group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true });
const gordon = { namespace: "default", name: "gordoncluster" };
const replicas = (count: number) => ({ spec: { gordon: { replicas: count } } });

const options = parseOptions();
if (options.help) console.log(usage);
else process.exitCode = await demo(options.real ?? false);

function parseOptions() {
  try {
    return parseArgs({ options: { real: { type: "boolean" }, help: { type: "boolean", short: "h" } } }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

async function demo(real: boolean): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort(new Error("interrupted")));
  const screen = startScreen();
  try {
    await using cluster = await openDemoCluster(real, screen);
    await using client = await connect({ kubeconfig: cluster.kubeconfig, environment: systemEnvironment() });
    screen.say(`$ npm run gordon -- --kubeconfig … --install-crds`);
    await using _operator = startOperator(cluster.kubeconfig, cluster.operatorFlags);

    const pods = async () => {
      const { items } = await client.list(Pod, { namespace: "default" });
      return items.filter((pod) => pod.metadata.name.startsWith("gordon-"));
    };
    const until = (what: string, holds: (pods: readonly Stored<Pod>[]) => boolean) =>
      screen.until(what, pods, holds, stop.signal);
    const served = () => client.list(Gordon, { namespace: "default" }).then(() => true, isMissing);
    await screen.until("the operator has installed its kind", served, (there) => there, stop.signal);

    screen.say("\n$ kubectl apply -f gordon.yaml          three gordons, please");
    await client.apply(Gordon, { metadata: gordon, ...replicas(3) }, { fieldManager: "demo" });
    await until("three are ready", (all) => all.length === 3 && all.every(isReady));

    const [victim] = await pods();
    screen.say(`\n$ kubectl delete pod ${victim?.metadata.name}   somebody kills one`);
    if (victim !== undefined)
      await client.delete(Pod, { namespace: "default", name: victim.metadata.name }, { gracePeriodSeconds: 1 });
    const isNew = (pod: Stored<Pod>) => pod.metadata.uid !== victim?.metadata.uid;
    await until("it has been replaced", (all) => all.length === 3 && all.every((pod) => isReady(pod) && isNew(pod)));

    screen.say("\n$ kubectl scale gn/gordoncluster --replicas=5");
    await client.apply(Gordon, { metadata: gordon, ...replicas(5) }, { fieldManager: "demo" });
    await until("five are ready", (all) => all.length === 5 && all.every(isReady));

    screen.say("\n$ kubectl delete gn gordoncluster       and all of them go with it");
    await client.delete(Gordon, gordon);
    await until("none is left", (all) => all.length === 0);
    screen.say(`\ndone in ${screen.seconds()} s, on ${cluster.what}`);
    return 0;
  } catch (error) {
    screen.say(`\nthe demo did not get to its end: ${(error as Error).message}`);
    return 1;
  } finally {
    screen.stop();
  }
}

/** The program, as a person would start it; what it logs is for them, not for this screen. */
function startOperator(kubeconfig: string, more: readonly string[]): AsyncDisposable {
  const args = [
    "--kubeconfig",
    kubeconfig,
    "--install-crds",
    "--metrics-bind-address=0",
    "--health-probe-bind-address=0",
    ...more,
  ];
  const child = spawn(process.execPath, ["operators/gordon/src/main.ts", ...args], { cwd: top, stdio: "ignore" });
  const exited = new Promise((done) => child.on("exit", done));
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

function isMissing(error: unknown): false {
  if (error instanceof NotFoundError) return false;
  throw error;
}

function isReady({ metadata, status }: Stored<Pod>): boolean {
  const ready = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  return ready && metadata.deletionTimestamp === undefined;
}
