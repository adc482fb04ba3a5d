// The scheduler: gives each pod a node that has room for what it requests (node-fit.ts, requests.ts) beside what is taken
// (taken.ts), the emptiest first (decide.ts). A pod that fits nowhere waits until a node or a pod changes.
import {
  type Change,
  checkAgainIn,
  controller,
  done,
  equals,
  findCondition,
  formatTime,
  indexBy,
  may,
  minutes,
  Node,
  NotFoundError,
  type ObjectRef,
  type Outcome,
  Pod,
  type PodCondition,
  type Stored,
} from "@memhog/runtime";
import { hasEnded, isGoing } from "../pods.ts";
import { decidePlacement } from "./decide.ts";
import { requestsOf } from "./requests.ts";
import { Taken } from "./taken.ts";

const waiting = indexBy(Pod, (pod) => (needsNode(pod) ? "waiting" : undefined));

function needsNode(pod: Stored<Pod>): boolean {
  const { nodeName, schedulerName = "default-scheduler", schedulingGates = [] } = pod.spec;
  return (
    nodeName === undefined &&
    schedulerName === "default-scheduler" &&
    schedulingGates.length === 0 &&
    !isGoing(pod) &&
    !hasEnded(pod)
  );
}

/** A change of a node that could let a pod in; that its heart beats does not. */
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
      when: ({ object }) => needsNode(object),
      watches: [
        {
          kind: Node,
          when: opensRoom,
          map: (_node, pods) => pods.lookup(waiting.values, "waiting").map(({ metadata }) => metadata),
        },
        {
          kind: Pod,
          when: (change) => taken.follow(change),
          map: (_pod, pods) => pods.lookup(waiting.values, "waiting").map(({ metadata }) => metadata),
        },
      ],
      may: [may(Pod, "create", { subresource: "binding" })],
    },
    async (ref, ctx): Promise<Outcome> => {
      const pod = ctx.get(Pod, ref);
      if (pod === undefined || !needsNode(pod) || taken.has(pod)) return done();
      const rooms = ctx.list(Node).map((node) => ({ node, ...taken.on(node.metadata.name) }));
      const placement = decidePlacement(pod, requestsOf(pod), rooms);
      if (placement.kind === "wait") {
        const { message } = placement;
        ctx.event(pod, { type: "Warning", reason: "FailedScheduling", action: "Scheduling", note: message });
        if (findCondition(pod.status?.conditions, "PodScheduled")?.message !== message) {
          const body = { status: { conditions: [unschedulable(pod, message, ctx.clock.now())] } };
          await ctx.client.patch(Pod, ref, { type: "strategic", body }, { subresource: "status" });
        }
        return checkAgainIn(minutes(5), "no node has room for the pod");
      }
      const { name: node } = placement.node.metadata;
      try {
        await ctx.client.create(Pod, bindingOf(ref, node), { subresource: "binding" });
      } catch (error) {
        if (error instanceof NotFoundError) return done();
        throw error;
      }
      // It may have been seen as bound, or as gone, before the answer came.
      const seen = ctx.get(Pod, ref);
      if (seen?.metadata.uid === pod.metadata.uid && needsNode(seen)) taken.assume(pod, node);
      const note = `Successfully assigned ${ref.namespace}/${ref.name} to ${node}`;
      ctx.event(pod, { reason: "Scheduled", action: "Binding", note });
      return done();
    },
  );
};

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
