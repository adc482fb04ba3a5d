// What is simulated of a cluster: all of it, or nodes that join its real control plane. This package stands on nothing of ours,
// so that everything may stand on it; hence a program does it, which LOCALCLUSTER_SIMULATOR names and which is a component like
// any other: it ends with the cluster.
//
//     PROGRAM cluster --kubeconfig FILE --nodes N [--port PORT]    a whole cluster; it writes FILE once it answers
//     PROGRAM nodes --kubeconfig FILE --nodes N                    nodes that join the cluster of FILE
//     … --prometheus-port PORT --scrape-interval 5s                and a Prometheus that scrapes those nodes
import { resolve } from "node:path";
import { connectTo } from "./access.ts";
import { eventually } from "./api/eventually.ts";
import type { KubernetesObject } from "./api/objects.ts";
import { InvalidOptionsError, NoSimulatorError } from "./errors.ts";
import { type Component, startComponent } from "./process/component.ts";
import { host } from "./process/place.ts";
import { withFreePort } from "./process/ports.ts";
import type { ClusterDirectory } from "./state/directory.ts";

export interface SimulatedPlan {
  /** Absolute path of a script for this Node. */
  readonly program: string;
  /** The whole cluster is simulated, not only nodes of it. */
  readonly whole: boolean;
  /** How many. */
  readonly nodes: number;
}

/** What options can ask to be simulated. */
export interface Simulatable {
  readonly nodes?: "none" | "real" | { readonly simulated: number };
  readonly simulated?: boolean;
  readonly audit?: boolean;
  readonly admissionPlugins?: readonly string[];
  readonly kubernetes?: string;
}

const most = 5_000;

/** Undefined: nothing is simulated. */
export function simulatedPlanOf(options: Simulatable, env: NodeJS.ProcessEnv): SimulatedPlan | undefined {
  const { nodes, simulated: whole = false } = options;
  const some = typeof nodes === "object";
  if (!some && !whole) return undefined;
  const count = some ? nodes.simulated : nodes === "none" ? 0 : 1;
  if (!Number.isInteger(count) || count < 0 || count > most)
    throw new InvalidOptionsError("nodes", `a number of simulated nodes from 0 to ${most}`, count);
  if (whole) mustBePossible(options);
  if (!env.LOCALCLUSTER_SIMULATOR) throw new NoSimulatorError();
  return { program: resolve(env.LOCALCLUSTER_SIMULATOR), whole, nodes: count };
}

function mustBePossible({ nodes, audit = false, admissionPlugins = [], kubernetes }: Simulatable): void {
  if (nodes === "real") throw new InvalidOptionsError("nodes", "simulated=N or none, in a cluster that is simulated", nodes);
  if (audit) throw new InvalidOptionsError("audit", "a real API server; a simulated one keeps no audit log", audit);
  if (admissionPlugins.length > 0)
    throw new InvalidOptionsError("admissionPlugins", "a real API server; a simulated one has none", admissionPlugins);
  if (kubernetes !== undefined)
    throw new InvalidOptionsError("kubernetes", "no version for a simulated cluster, which is the newest there is", kubernetes);
}

export interface CompanionOptions {
  readonly plan: SimulatedPlan;
  readonly directory: ClusterDirectory;
  /** Of the API server. */
  readonly port?: number | undefined;
  /** With it there is a Prometheus. */
  readonly scrapeInterval?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Companion {
  readonly component: Component;
  /** http://127.0.0.1:PORT, if there is one. */
  readonly prometheus?: string;
}

/** Resolves when the cluster answers and all simulated nodes are Ready. */
export async function startCompanion(options: CompanionOptions): Promise<Companion> {
  const { scrapeInterval } = options;
  if (scrapeInterval === undefined) return { component: await start(options, []) };
  return withFreePort(async (port) => {
    const component = await start(options, ["--prometheus-port", String(port), "--scrape-interval", scrapeInterval]);
    return { component, prometheus: `http://127.0.0.1:${port}` };
  });
}

function start({ plan, directory, port, signal }: CompanionOptions, more: readonly string[]): Promise<Component> {
  const { program, whole, nodes } = plan;
  const flags = ["--kubeconfig", directory.kubeconfig, "--nodes", String(nodes)];
  const at = port === undefined ? [] : ["--port", String(port)];
  const argv = [process.execPath, program, whole ? "cluster" : "nodes", ...flags, ...(whole ? at : []), ...more];
  const spec = { name: whole ? "simulator" : "hollow-nodes", argv, place: host, ready: nodesAreReady(nodes, directory) };
  return startComponent(signal === undefined ? spec : { ...spec, signal }, directory);
}

function nodesAreReady(count: number, directory: ClusterDirectory): (signal: AbortSignal) => Promise<void> {
  const readyNodes = async () => {
    const { api } = await connectTo(directory);
    try {
      return (await api.request<{ items: readonly KubernetesObject[] }>("GET", "/api/v1/nodes")).items.filter(isReady).length;
    } finally {
      api.close();
    }
  };
  return async (signal) => {
    const what = `${count} simulated nodes are Ready`;
    await eventually(readyNodes, (ready) => ready >= count, { what, logs: directory.logs, timeoutMs: 120_000, signal });
  };
}

function isReady({ status }: KubernetesObject): boolean {
  return status?.conditions?.some((each: { type: string; status: string }) => each.type === "Ready" && each.status === "True");
}
