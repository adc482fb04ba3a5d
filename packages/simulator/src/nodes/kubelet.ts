// The loop of all hollow nodes together: a controller on @memhog/runtime whose objects are pods. For each pod of one of our
// nodes it lets happen what was to happen until now, tells the API server what became of it, and looks again when the next
// thing is due. One loop instead of one per node, so that a thousand nodes need one watch and not a thousand.
import {
  type Controller,
  checkAgainIn,
  controller,
  done,
  indexBy,
  keyOf,
  may,
  Node,
  NotFoundError,
  type ObjectRef,
  type Outcome,
  Pod,
  refOf,
  type Stored,
  waitForChange,
} from "@memhog/runtime";
import { isFinished, type NodeRun } from "./node-run.ts";
import type { PodRun } from "./pod-run.ts";
import { type StatusTools, statusOf } from "./pod-status.ts";
import { statusPatch } from "./status-patch.ts";

export interface KubeletOptions {
  readonly nodes: ReadonlyMap<string, NodeRun>;
  readonly environment: StatusTools["environment"];
  /** Pods that are told to the API server at the same time. */
  readonly concurrency: number;
}

const podsByNode = indexBy(Pod, (pod) => pod.spec.nodeName);

/** What the loop does to the API server. */
interface Doings {
  patchStatus(body: object): Promise<unknown>;
  remove(): Promise<unknown>;
}

export function kubelet({ nodes, environment, concurrency }: KubeletOptions): Controller {
  const nodeOf = (pod: Stored<Pod>) => nodes.get(pod.spec.nodeName ?? "");
  /** Who has which pod, by the key of the pod: a pod that is gone cannot tell us where it was. */
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
      may: [may(Pod, "delete"), may(Pod, "patch", { subresource: "status" })],
      when: ({ object }) => nodeOf(object) !== undefined,
      watches: [
        // Whatever changes on a node may make room for those who wait for it.
        { kind: Pod, map: (pod) => waitingBeside(pod, nodeOf(pod)) },
        // A node that comes back says so in its own object, and its pods go on.
        { kind: Node, map: ({ metadata }, pods) => atBoot(nodes.get(metadata.name), pods) },
      ],
    },
    async (ref, ctx) => {
      const pod = ctx.get(Pod, ref);
      forgetNamesake(keyOf(ref), pod?.metadata.uid);
      const node = pod && nodeOf(pod);
      if (pod === undefined || node === undefined) return done();
      if (!node.hasPower) return waitForChange("the node has no power");
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
    if (!(error instanceof NotFoundError)) throw error; // somebody did not want to wait for the end: fine
  }
  const due = run.due();
  return Number.isFinite(due)
    ? checkAgainIn(Math.max(0, due - clock.monotonic()), "something is due")
    : waitForChange("all is quiet");
}

function atBoot(node: NodeRun | undefined, pods: { objects(): Iterable<Stored<Pod>> }): readonly ObjectRef[] {
  if (!node?.takeBoot()) return [];
  return [...pods.objects()].filter(({ spec }) => spec.nodeName === node.name).map(refOf);
}

/** A pod that ended before we came: nothing is left of it here, and nothing to wait for. */
async function bury({ metadata }: Stored<Pod>, { remove }: Doings): Promise<Outcome> {
  if (metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds !== 0) await remove();
  return done();
}

/** The pods of a node whose resize waits for room. */
function waitingBeside(pod: Stored<Pod>, node: NodeRun | undefined): readonly ObjectRef[] {
  const waiting: ObjectRef[] = [];
  // Called for every change of every pod, and hardly ever does one wait.
  for (const run of node?.pods.values() ?? []) {
    if (run.resize.pending?.reason === "Deferred" && run.uid !== pod.metadata.uid) waiting.push(refOf(run.pod));
  }
  return waiting;
}
