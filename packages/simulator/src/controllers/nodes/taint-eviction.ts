// Pods on a node with a NoExecute taint go, at once or after as long as they bear it. And pods of a node that is gone for good
// are removed: nobody else is left to do it.
import {
  checkAgainIn,
  controller,
  done,
  formatTime,
  may,
  Node,
  NotFoundError,
  type Outcome,
  Pod,
  parseTime,
  type Stored,
  seconds,
} from "@memhog/runtime";
import { isGoing } from "../pods.ts";
import { isAbout } from "../scheduler/node-fit.ts";

export const taintEviction = controller(
  Pod,
  {
    name: "taint-eviction",
    when: ({ object }) => object.spec.nodeName !== undefined,
    watches: [
      {
        kind: Node,
        when: ({ type, object, previous }) =>
          type === "removed" || isTainting(object) || (previous !== undefined && isTainting(previous)),
        map: ({ metadata }, pods) => pods.lookup(onNode, metadata.name).map(({ metadata }) => metadata),
      },
    ],
    may: [may(Pod, "delete")],
  },
  async (ref, ctx): Promise<Outcome> => {
    const pod = ctx.get(Pod, ref);
    if (pod?.spec.nodeName === undefined) return done();
    const node = ctx.get(Node, { name: pod.spec.nodeName });
    const now = ctx.clock.now();
    const goes =
      node === undefined
        ? { inMs: abandonedInMs(pod, now), force: true }
        : { inMs: decideEviction(pod, node, now), force: false };
    if (goes.inMs === undefined || (isGoing(pod) && !goes.force)) return done();
    if (goes.inMs > 0) return checkAgainIn(goes.inMs, "the pod bears its node for as long");
    if (!goes.force) {
      ctx.event(pod, { reason: "TaintManagerEviction", note: `Marking for deletion Pod ${ref.namespace}/${ref.name}` });
      const why = { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" };
      const condition = { type: "DisruptionTarget", status: "True", ...why, lastTransitionTime: formatTime(now) };
      await ctx.client.patch(
        Pod,
        ref,
        { type: "strategic", body: { status: { conditions: [condition] } } },
        { subresource: "status" },
      );
    }
    try {
      await ctx.client.delete(Pod, ref, { uid: pod.metadata.uid, ...(goes.force && { gracePeriodSeconds: 0 }) });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    return done();
  },
);

const onNode = ({ spec }: Stored<Pod>) => spec.nodeName;

function isTainting({ spec }: Stored<Node>): boolean {
  return spec?.taints?.some(({ effect }) => effect === "NoExecute") ?? false;
}

/** How long a pod may stay on its node; undefined: for ever. */
export function decideEviction({ spec }: Stored<Pod>, node: Stored<Node>, nowMs: number): number | undefined {
  const { tolerations = [] } = spec;
  const waits = (node.spec?.taints ?? [])
    .filter(({ effect }) => effect === "NoExecute")
    .map((taint) => {
      const borne = tolerations.filter((toleration) => isAbout(toleration, taint));
      if (borne.length === 0) return 0;
      const shortest = Math.min(...borne.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds));
      return Math.max(0, (parseTime(taint.timeAdded) ?? nowMs) + Math.max(0, shortest) * 1_000 - nowMs);
    });
  const first = Math.min(Number.POSITIVE_INFINITY, ...waits);
  return first === Number.POSITIVE_INFINITY ? undefined : first;
}

/** A pod may be there before its node is; but not for long. */
function abandonedInMs({ metadata }: Stored<Pod>, nowMs: number): number {
  return (parseTime(metadata.creationTimestamp) ?? nowMs) + seconds(60) - nowMs;
}
