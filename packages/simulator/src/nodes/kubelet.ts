// The loop of all hollow nodes: a controller that reconciles pods. For each pod on one of the nodes it applies the changes that
// are due, reports the status, and requeues for the time of the next change. One loop serves all nodes, so a thousand nodes need
// one watch.
import {
  allow,
  awaitChange,
  type CacheReader,
  type Controller,
  controller,
  done,
  indexBy,
  keyOf,
  Node,
  NotFoundError,
  type ObjectRef,
  type Outcome,
  Pod,
  refOf,
  requeueAfter,
  type Stored,
} from "@memhog/runtime";
import { isFinished, type NodeRun } from "./hollow-node.ts";
import type { PodRun } from "./pod-run.ts";
import { type StatusTools, statusOf, statusPatch } from "./pod-status.ts";

interface KubeletOptions {
  readonly nodes: ReadonlyMap<string, NodeRun>;
  readonly environment: StatusTools["environment"];
  /** The number of pods whose status is written concurrently. */
  readonly concurrency: number;
}

const podsByNode = indexBy(Pod, (pod) => pod.spec.nodeName);

/** The requests of the loop to the API server. */
interface Doings {
  patchStatus(body: object): Promise<unknown>;
  remove(): Promise<unknown>;
}

export function kubelet({ nodes, environment, concurrency }: KubeletOptions): Controller {
  const nodeOf = (pod: Stored<Pod>) => nodes.get(pod.spec.nodeName ?? "");
  /** The node of each pod, by the key of the pod: a deleted pod no longer says where it ran. */
  const residents = new Map<string, { readonly uid: string; readonly node: NodeRun }>();
  const forgetNamesake = (key: string, uid: string | undefined) => {
    const resident = residents.get(key);
    if (resident === undefined || resident.uid === uid) return;
    resident.node.forget(resident.uid);
    residents.delete(key);
  };
  return controller(
    Pod,
    {
      name: "kubelet",
      concurrency,
      resyncMs: 0,
      permissions: [allow(Pod, "delete"), allow(Pod, "patch", { subresource: "status" })],
      predicate: ({ object }) => nodeOf(object) !== undefined,
      watches: [
        // Any change on a node may make room for a deferred resize.
        { kind: Pod, map: (pod) => waitingBeside(pod, nodeOf(pod)) },
        // A node that returns updates its Node object, and its pods continue.
        { kind: Node, map: ({ metadata }, cached) => atBoot(nodes.get(metadata.name), cached) },
      ],
    },
    async (ref, ctx) => {
      const pod = ctx.get(Pod, ref);
      forgetNamesake(keyOf(ref), pod?.metadata.uid);
      const node = pod && nodeOf(pod);
      if (pod === undefined || node === undefined) return done();
      if (!node.hasPower) return awaitChange("the node has no power");
      const { uid } = pod.metadata;
      const doings: Doings = {
        patchStatus: (status) =>
          ctx.client.patch(Pod, ref, { type: "strategic", body: { metadata: { uid }, status } }, { subresource: "status" }),
        remove: () => ctx.client.delete(Pod, ref, { uid, gracePeriodSeconds: 0 }),
      };
      if (isFinished(pod) && !node.pods.has(uid)) return bury(pod, doings);
      residents.set(keyOf(ref), { uid, node });
      const run = node.runOf(pod, () => ctx.lookup(podsByNode, node.name));
      return sync(run, pod, { hostIp: node.spec.address, environment, ...doings });
    },
  );
}

async function sync(run: PodRun, pod: Stored<Pod>, { patchStatus, remove, ...tools }: Doings & StatusTools): Promise<Outcome> {
  const { clock } = tools.environment;
  run.advance(clock.monotonic());
  run.observe(pod);
  const patch = statusPatch(pod.status ?? {}, statusOf(run, tools));
  try {
    if (patch !== undefined) await patchStatus(patch);
    if (run.isOver && run.isDeleted && !run.isRemoved) await remove();
    run.isRemoved = run.isOver && run.isDeleted;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error; // already deleted, for example with grace period 0
  }
  const due = run.due();
  return Number.isFinite(due)
    ? requeueAfter(Math.max(0, due - clock.monotonic()), "something is due")
    : awaitChange("all is quiet");
}

function atBoot(node: NodeRun | undefined, cached: CacheReader): readonly ObjectRef[] {
  if (!node?.takeBoot()) return [];
  return cached
    .list(Pod)
    .filter(({ spec }) => spec.nodeName === node.name)
    .map(refOf);
}

/** A pod that terminated before this process started: nothing runs here. */
async function bury({ metadata }: Stored<Pod>, { remove }: Doings): Promise<Outcome> {
  if (metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds !== 0) await remove();
  return done();
}

/** The pods of a node with a deferred resize. */
function waitingBeside(pod: Stored<Pod>, node: NodeRun | undefined): readonly ObjectRef[] {
  const waiting: ObjectRef[] = [];
  // Called for every change of every pod, but deferred resizes are rare.
  for (const run of node?.pods.values() ?? []) {
    if (run.resize.pending?.reason === "Deferred" && run.uid !== pod.metadata.uid) waiting.push(refOf(run.pod));
  }
  return waiting;
}
