// Simulated clusters, and simulated nodes that join a real control plane. This package depends on no other package of the
// repository, so the simulator is a program that LOCALCLUSTER_SIMULATOR names, and a component like any other:
//
//     PROGRAM cluster --kubeconfig FILE --nodes N [--port PORT]    a cluster; writes FILE when it is ready
//     PROGRAM nodes --kubeconfig FILE --nodes N                    nodes that join the cluster of FILE
//     … --prometheus-port PORT --scrape-interval 5s                with a Prometheus that scrapes those nodes
import { resolve } from "node:path";
import { eventually } from "./api/eventually.ts";
import { isConditionTrue, type KubernetesObject } from "./api/objects.ts";
import { connectTo } from "./cluster.ts";
import { InvalidOptionsError, NoSimulatorError } from "./errors.ts";
import { type Component, host, startComponent } from "./process/component.ts";
import { withFreePort } from "./process/sockets.ts";
import type { ClusterDirectory } from "./state/directory.ts";

/** What is simulated of a cluster. */
export interface SimulatedOptions {
  /** Absolute path of the simulator, a script for this Node. */
  readonly program: string;
  /** Whether the control plane is simulated, too. */
  readonly controlPlane: boolean;
  /** The number of simulated nodes. */
  readonly nodes: number;
}

/** The options of startCluster() that matter here. */
export interface SimulatableOptions {
  readonly nodes?: "none" | "real" | { readonly simulated: number };
  readonly simulated?: boolean;
  readonly audit?: boolean;
  readonly admissionPlugins?: readonly string[];
  readonly kubernetes?: string;
}

const maxNodes = 5_000;

/** Undefined if nothing is simulated. */
export function resolveSimulated(options: SimulatableOptions, env: NodeJS.ProcessEnv): SimulatedOptions | undefined {
  const { nodes, simulated: controlPlane = false } = options;
  const hasSimulatedNodes = typeof nodes === "object";
  if (!hasSimulatedNodes && !controlPlane) return undefined;
  const count = hasSimulatedNodes ? nodes.simulated : nodes === "none" ? 0 : 1;
  if (!Number.isInteger(count) || count < 0 || count > maxNodes)
    throw new InvalidOptionsError("nodes", `a number of simulated nodes from 0 to ${maxNodes}`, count);
  if (controlPlane) rejectUnsupported(options);
  if (!env.LOCALCLUSTER_SIMULATOR) throw new NoSimulatorError();
  return { program: resolve(env.LOCALCLUSTER_SIMULATOR), controlPlane, nodes: count };
}

/** Options that need a real API server. */
function rejectUnsupported({ nodes, audit = false, admissionPlugins = [], kubernetes }: SimulatableOptions): void {
  if (nodes === "real") throw new InvalidOptionsError("nodes", "simulated=N or none in a simulated cluster", nodes);
  if (audit) throw new InvalidOptionsError("audit", "no audit log in a simulated cluster", audit);
  if (admissionPlugins.length > 0)
    throw new InvalidOptionsError("admissionPlugins", "no admission plugins in a simulated cluster", admissionPlugins);
  if (kubernetes !== undefined)
    throw new InvalidOptionsError("kubernetes", "no version for a simulated cluster, which is always the newest", kubernetes);
}

export interface SimulatorOptions {
  readonly simulated: SimulatedOptions;
  readonly directory: ClusterDirectory;
  /** Of a simulated API server. */
  readonly port?: number | undefined;
  /** A Prometheus duration; without it there is no Prometheus. */
  readonly scrapeInterval?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface StartedSimulator {
  readonly component: Component;
  /** http://127.0.0.1:PORT */
  readonly prometheus?: string;
}

/** Resolves when the cluster answers and all simulated nodes are Ready. */
export async function startSimulator(options: SimulatorOptions): Promise<StartedSimulator> {
  const { scrapeInterval } = options;
  if (scrapeInterval === undefined) return { component: await start(options, []) };
  return withFreePort(async (port) => {
    const component = await start(options, ["--prometheus-port", String(port), "--scrape-interval", scrapeInterval]);
    return { component, prometheus: `http://127.0.0.1:${port}` };
  });
}

function start({ simulated, directory, port, signal }: SimulatorOptions, more: readonly string[]): Promise<Component> {
  const { program, controlPlane, nodes } = simulated;
  const flags = ["--kubeconfig", directory.kubeconfig, "--nodes", String(nodes), ...more];
  if (controlPlane && port !== undefined) flags.push("--port", String(port));
  const argv = [process.execPath, program, controlPlane ? "cluster" : "nodes", ...flags];
  const name = controlPlane ? "simulator" : "hollow-nodes";
  return startComponent({ name, argv, context: host, ready: nodesAreReady(nodes, directory), signal }, directory);
}

function nodesAreReady(count: number, directory: ClusterDirectory): (signal: AbortSignal) => Promise<void> {
  const readyNodes = async () => {
    const { api } = await connectTo(directory);
    try {
      const { items } = await api.request<{ items: readonly KubernetesObject[] }>("GET", "/api/v1/nodes");
      return items.filter((node) => isConditionTrue(node, "Ready")).length;
    } finally {
      api.close();
    }
  };
  return async (signal) => {
    const what = `${count} simulated nodes are Ready`;
    await eventually(readyNodes, (ready) => ready >= count, { what, logs: directory.logs, timeoutMs: 120_000, signal });
  };
}
