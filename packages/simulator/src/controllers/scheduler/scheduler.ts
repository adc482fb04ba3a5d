// The scheduler: binds each pod to the node with the most free resources that fits (decide.ts, requests.ts). A pod that fits
// nowhere waits for a change of a node, a pod or a claim.
import {
  allow,
  controller,
  done,
  findCondition,
  indexBy,
  minutes,
  Node,
  NotFoundError,
  type ObjectRef,
  type Outcome,
  Pod,
  requeueAfter,
  type Stored,
} from "@memhog/runtime";
import type { Change } from "@memhog/runtime/cache";
import { PersistentVolumeClaim, type PodCondition } from "@memhog/runtime/kinds";
import { equals, formatTime } from "@memhog/runtime/objects";
import { claimsMountedBy } from "../storage.ts";
import { hasEnded, isBeingDeleted } from "../workload.ts";
import { decidePlacement } from "./decide.ts";
import { requestsOf, Taken } from "./requests.ts";

const waiting = indexBy(Pod, (pod) => (needsNode(pod) ? "waiting" : undefined));

function needsNode(pod: Stored<Pod>): boolean {
  const { nodeName, schedulerName = "default-scheduler", schedulingGates = [] } = pod.spec;
  return (
    nodeName === undefined &&
    schedulerName === "default-scheduler" &&
    schedulingGates.length === 0 &&
    !isBeingDeleted(pod) &&
    !hasEnded(pod)
  );
}

/** Whether a change of a node could make a pod schedulable. Heartbeats cannot. */
function opensRoom({ object, previous }: Change<Node>): boolean {
  const relevant = ({ metadata, spec, status }: Stored<Node>) => [metadata.labels, spec, status?.allocatable];
  return previous === undefined || !equals(relevant(object), relevant(previous));
}

export const scheduler = () => {
  const taken = new Taken();
  return controller(
    Pod,
    {
      name: "scheduler",
      predicate: ({ object }) => needsNode(object),
      watches: [
        {
          kind: Node,
          predicate: opensRoom,
          map: (_node, cached) => cached.lookup(waiting, "waiting").map(({ metadata }) => metadata),
        },
        {
          kind: PersistentVolumeClaim,
          map: (claim, cached) =>
            cached
              .lookup(waiting, "waiting")
              .filter((pod) => claimsMountedBy(pod).some(({ namespace, name }) => isSame(claim, { namespace, name })))
              .map(({ metadata }) => metadata),
        },
        {
          kind: Pod,
          predicate: (change) => taken.follow(change),
          map: (_pod, cached) => cached.lookup(waiting, "waiting").map(({ metadata }) => metadata),
        },
      ],
      permissions: [allow(Pod, "create", { subresource: "binding" })],
    },
    async (ref, ctx): Promise<Outcome> => {
      const pod = ctx.get(Pod, ref);
      if (pod === undefined || !needsNode(pod) || taken.has(pod)) return done();
      const rooms = ctx.list(Node).map((node) => ({ node, ...taken.on(node.metadata.name) }));
      const claims = claimsMountedBy(pod).map((claim) => ({ name: claim.name, found: ctx.get(PersistentVolumeClaim, claim) }));
      const placement = decidePlacement(pod, requestsOf(pod), rooms, claims);
      if (placement.kind === "wait") {
        const { message } = placement;
        ctx.event(pod, { type: "Warning", reason: "FailedScheduling", action: "Scheduling", message: message });
        if (findCondition(pod.status?.conditions, "PodScheduled")?.message !== message) {
          const body = { status: { conditions: [unschedulable(pod, message, ctx.clock.now())] } };
          await ctx.client.patch(Pod, ref, { type: "strategic", body }, { subresource: "status" });
        }
        return requeueAfter(minutes(5), "no node has room for the pod");
      }
      const { name: node } = placement.node.metadata;
      try {
        await ctx.client.create(Pod, bindingOf(ref, node), { subresource: "binding" });
      } catch (error) {
        if (error instanceof NotFoundError) return done();
        throw error;
      }
      // The cache may have shown the binding or the deletion before the response arrived.
      const seen = ctx.get(Pod, ref);
      if (seen?.metadata.uid === pod.metadata.uid && needsNode(seen)) taken.assume(pod, node);
      const message = `Successfully assigned ${ref.namespace}/${ref.name} to ${node}`;
      ctx.event(pod, { reason: "Scheduled", action: "Binding", message });
      return done();
    },
  );
};

const isSame = (
  { metadata }: Stored<PersistentVolumeClaim>,
  ref: { readonly namespace?: string | undefined; readonly name: string },
) => metadata.namespace === ref.namespace && metadata.name === ref.name;

function bindingOf(ref: ObjectRef, node: string) {
  return { apiVersion: "v1", kind: "Binding", metadata: { ...ref }, target: { apiVersion: "v1", kind: "Node", name: node } };
}

function unschedulable({ metadata, status }: Stored<Pod>, message: string, nowMs: number): PodCondition {
  const said = findCondition(status?.conditions, "PodScheduled");
  const lastTransitionTime = (said?.status === "False" ? said.lastTransitionTime : undefined) ?? formatTime(nowMs);
  const observed = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const words = { type: "PodScheduled", status: "False", reason: "Unschedulable", message } as const;
  return { ...words, ...observed, lastProbeTime: null, lastTransitionTime };
}
