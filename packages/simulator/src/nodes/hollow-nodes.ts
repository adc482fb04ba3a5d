// Hollow nodes: kubelets that run no containers. They register, renew their Leases and take pods through the whole pod lifecycle,
// with the status, events and metrics of a real kubelet. They use a client, so they can join the simulator or a real API server.
//
//     hollow-nodes.ts   options, start and stop, as a component of the simulator, joining another cluster
//     kubelet.ts        the loop: a controller that reconciles pods
//     hollow-node.ts    one node and its pods                heartbeat.ts     registration and Lease
//     node-spec.ts      the Node object                      node-events.ts   the events a node records
//     pod-run.ts        one pod: container order, endings    resize.ts        in-place resize (amounts.ts)
//     container-run.ts  one container and its restarts       life.ts          one run of a container
//     pod-status.ts     the status that the API server gets
//     program.ts        what a container does                memory-model.ts  how much memory it uses; probes.ts, hog.ts
//     cadvisor.ts       container metrics
//
// Nothing polls. Every future change has a time, and the loop sleeps until the first of them: a simulated day of fifty idle pods
// costs no more than their heartbeats.
import { type Client, type Environment, type Logger, type Operator, operator } from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import { serve } from "../prometheus/http.ts";
import { startPrometheus } from "../prometheus/prometheus.ts";
import { serviceUnavailable } from "../server/status-error.ts";
import type { Component } from "../simulator.ts";
import { Cadvisor, cadvisorTarget, metricsOf } from "./cadvisor.ts";
import { Heartbeat } from "./heartbeat.ts";
import { HollowNode, NodeRun } from "./hollow-node.ts";
import { kubelet } from "./kubelet.ts";
import type { MemoryModel } from "./memory-model.ts";
import { NodeEvents } from "./node-events.ts";
import { type NodeSpec, type ResolvedNode, resolveNode, someNodes } from "./node-spec.ts";
import { defaultTiming, type Pull, type Timing } from "./pod-tools.ts";
import type { ProgramOf } from "./program.ts";

export interface HollowNodes extends AsyncDisposable {
  readonly all: readonly HollowNode[];
  /** @throws RangeError if no node has this name */
  node(name: string): HollowNode;
  /** Stops the nodes without updating the cluster, as if all of them had lost power. */
  stop(): Promise<void>;
}

/**
 * Starts nodes and resolves when they are registered.
 *
 *     await using nodes = await startHollowNodes({ client, environment, count: 3 });
 *     nodes.node("node-1").losePower();
 */
export async function startHollowNodes(options: HollowNodesOptions): Promise<HollowNodes> {
  const resolved = resolveOptions(options);
  const { client, environment, log } = resolved;
  const events = new NodeEvents({ client, environment, log });
  const runs = new Map(resolved.specs.map((spec) => [spec.name, nodeRun(resolved, spec, events)] as const));
  const loop = operator({
    name: "hollow-nodes",
    controllers: [kubelet({ nodes: new Map([...runs].map(([name, { run }]) => [name, run])), ...resolved })],
    ...{ client, environment, log, process: nobody, metricsBindAddress: "0", healthProbeBindAddress: "0" },
  });
  await Promise.all([...runs.values()].map(({ heartbeat }) => heartbeat.start()));
  const all = [...runs.values()].map(({ run }) => new HollowNode(run, new Cadvisor(run, resolved), resolved));
  return running({ loop, all, events, heartbeats: [...runs.values()].map(({ heartbeat }) => heartbeat) });
}

function nodeRun(resolved: ResolvedOptions, spec: ResolvedOptions["specs"][number], events: NodeEvents) {
  const heartbeat = new Heartbeat({ ...resolved, node: spec });
  return { heartbeat, run: new NodeRun({ ...resolved, spec, events, heartbeat }) };
}

interface Parts {
  readonly loop: Operator;
  readonly all: readonly HollowNode[];
  readonly heartbeats: readonly Heartbeat[];
  readonly events: NodeEvents;
}

function running({ loop, all, heartbeats, events }: Parts): HollowNodes {
  const end = new AbortController();
  const working = loop.run(end.signal);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    end.abort();
    await Promise.all([working, ...heartbeats.map((heartbeat) => heartbeat.stop())]);
    await events.settled();
  };
  const node = (name: string) => {
    const found = all.find((each) => each.name === name);
    if (found === undefined) throw new RangeError(`expected a node, found none called ${name}: ${all.map((it) => it.name)}`);
    return found;
  };
  const stopOnce = () => {
    stopped ??= stop();
    return stopped;
  };
  return { all, node, stop: stopOnce, [Symbol.asyncDispose]: stopOnce };
}

/** The loop ends on request, not with the process. */
const nobody = { onStop: () => () => {}, onUnhandledRejection: () => () => {}, exit: () => {} };

// Options of hollow nodes and their defaults.

export interface HollowNodesOptions {
  /** A client of the simulator or of a real API server, with a high rate limit: all nodes and pods use it. */
  readonly client: Client;
  readonly environment: Environment;
  /** The number of nodes with the default spec: node-1, node-2 … @default 1 */
  readonly count?: number;
  /** The nodes one by one. Takes precedence over `count`. */
  readonly specs?: readonly NodeSpec[];
  /** The programs of containers. Takes precedence over annotations and commands, property by property. See program.ts. */
  readonly programOf?: ProgramOf;
  /** The memory usage of containers, as a model or text: `() => "ramp 1Mi/s to 500Mi"`. Takes precedence over `programOf`. */
  readonly memoryOf?: (...asked: Parameters<ProgramOf>) => MemoryModel | string | undefined;
  /** The result of an image pull. @default every image is present */
  readonly pull?: Pull;
  /** Durations of the steps of a pod. */
  readonly timing?: Partial<Timing>;
  /** Milliseconds between two renewals of a node's Lease. @default 10 s, as the kubelet */
  readonly leaseRenewMs?: number;
  /** Milliseconds for which cAdvisor still exposes a terminated container. @default 0: containerd removes its cgroup */
  readonly deadSeriesMs?: number;
  /** The number of pods whose status is written concurrently. @default 16 */
  readonly concurrency?: number;
  /** @default no logs */
  readonly log?: Logger;
}

export interface ResolvedOptions {
  readonly client: Client;
  readonly environment: Environment;
  readonly specs: readonly ResolvedNode[];
  readonly programOf: ProgramOf | undefined;
  readonly pull: Pull;
  readonly timing: Timing;
  readonly leaseRenewMs: number;
  readonly deadSeriesMs: number;
  readonly concurrency: number;
  readonly log: Logger;
}

export function resolveOptions(options: HollowNodesOptions): ResolvedOptions {
  const { client, environment, count = 1, specs = someNodes(count) } = options;
  const { pull = () => undefined, timing, leaseRenewMs = 10_000, deadSeriesMs = 0 } = options;
  const { concurrency = 16, log = silentLogger } = options;
  return {
    ...{ client, environment, pull, leaseRenewMs, deadSeriesMs, concurrency, log },
    specs: specs.map(resolveNode),
    programOf: programIn(options),
    timing: { ...defaultTiming, ...timing },
  };
}

function programIn({ programOf, memoryOf }: HollowNodesOptions): ProgramOf | undefined {
  if (memoryOf === undefined) return programOf;
  return (pod, container) => {
    const memory = memoryOf(pod, container);
    return { ...programOf?.(pod, container), ...(memory !== undefined && { memory }) };
  };
}

// Hollow nodes as a component of the simulator. The API server proxies their metrics:
//
//     kubectl get --raw /api/v1/nodes/node-1/proxy/metrics/cadvisor

export interface HollowNodesComponent extends Component {
  /** Available once the simulator has started. */
  readonly nodes: HollowNodes;
}

export type HollowNodesComponentOptions = Omit<HollowNodesOptions, "client" | "environment">;

export function hollowNodes(options: HollowNodesComponentOptions = {}): HollowNodesComponent {
  let started: HollowNodes | undefined;
  const nodes = () => {
    if (started === undefined) throw new TypeError("expected hollow nodes that were started with a simulator, found none");
    return started;
  };
  return {
    name: "hollow nodes",
    get nodes() {
      return nodes();
    },
    prepare(core) {
      core.connects.set("nodes/proxy", ({ object, rest }) => {
        const node = nodes().all.find(({ name }) => name === object.metadata.name);
        if (node?.hasPower !== true) throw serviceUnavailable(`dial tcp: ${object.metadata.name} does not answer`);
        if (rest !== "/metrics/cadvisor") return { status: 404, headers: {}, body: "404 page not found\n" };
        return metricsOf(node);
      });
    },
    async start(simulator) {
      const { environment } = simulator;
      started = await startHollowNodes({ ...options, environment, client: simulator.client({ userAgent: "kubelet" }) });
      return started.stop;
    },
  };
}

// Hollow nodes that join another cluster, such as a real API server, for scale tests.
//
// Their addresses are loopback addresses: a real API server connects to the address of a node for logs and metrics, and no such
// request must leave this machine.

export interface JoinOptions {
  /** A client of the cluster, with a high rate limit: all nodes and pods use it. */
  readonly client: Client;
  readonly environment: Environment;
  /** node-1, node-2 … */
  readonly count: number;
  /** Starts a Prometheus that scrapes the nodes, on this port of 127.0.0.1. @default none */
  readonly prometheus?: { readonly port: number; readonly intervalMs?: number } | undefined;
}

export async function joinHollowNodes({ client, environment, count, prometheus }: JoinOptions): Promise<HollowNodes> {
  const specs = someNodes(count).map((spec, at) => ({ ...spec, address: `127.32.${Math.floor(at / 250)}.${(at % 250) + 1}` }));
  const nodes = await startHollowNodes({ client, environment, specs });
  if (prometheus === undefined) return nodes;
  const { port, ...interval } = prometheus;
  const scraping = startPrometheus({ environment, targets: () => nodes.all.map(cadvisorTarget), ...interval });
  const endpoint = await serve((request) => scraping.request(request), port);
  const stop = async () => {
    scraping.stop();
    await endpoint[Symbol.asyncDispose]();
    await nodes.stop();
  };
  return { ...nodes, stop, [Symbol.asyncDispose]: stop };
}
