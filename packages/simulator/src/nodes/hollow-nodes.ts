// Hollow nodes: kubelets that run nothing. They register, renew their Leases, and take pods through everything a pod goes
// through, with the status, events and metrics a real kubelet would show; only that behind it there is no container but a
// description of one. They speak through a client, so they join the simulator and a real API server alike.
//
// From the outside in:
//
//     hollow-nodes.ts   start and stop                       options.ts      everything that can be said
//     kubelet.ts        the loop: a controller whose objects are pods
//     heartbeat.ts      registration and Lease               node-spec.ts    what a node is like
//     node-run.ts       a node with its pods                 node-events.ts  what it tells
//     pod-run.ts        a pod: order of containers, ends     resize.ts       in-place resize; room.ts, amounts.ts
//     container-run.ts  a container over its lives           life.ts         one of its lives; crash-back-off.ts
//     pod-status.ts     what the API server hears            pod-conditions.ts, pod-phase.ts, container-status.ts
//     program/          what a container does, in words      memory/         how much memory it uses
//     cadvisor/         what a metrics scraper sees
//
// Nothing polls. Each thing that will happen has a time, and the loop sleeps until the first; so a day of fifty quiet pods
// costs what their heartbeats cost.
import { type Operator, operator } from "@memhog/runtime";
import { Cadvisor } from "./cadvisor/cadvisor.ts";
import { Heartbeat } from "./heartbeat.ts";
import { HollowNode } from "./hollow-node.ts";
import { kubelet } from "./kubelet.ts";
import { NodeEvents } from "./node-events.ts";
import { NodeRun } from "./node-run.ts";
import { type HollowNodesOptions, type ResolvedOptions, resolveOptions } from "./options.ts";

export interface HollowNodes extends AsyncDisposable {
  readonly all: readonly HollowNode[];
  /** @throws if there is none of this name */
  node(name: string): HollowNode;
  /** Stops them where they stand. Nothing is taken back: for the cluster it looks as if all of them had lost their power. */
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

/** The loop ends when it is told to, not with the process it runs in. */
const nobody = { onStop: () => () => {}, onForgotten: () => () => {}, exit: () => {} };
