// The scheduler: gives each pod a node that has room for what it requests (node-fit.ts, requests.ts), the emptiest first
// (decide.ts). A pod that fits nowhere waits until a node or a pod changes.
//
// A pod that has just been bound is not yet seen as bound, and must be counted all the same: otherwise two pods would get
// the last place. So what was bound is remembered until the cache shows it.
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
import type { Room } from "./node-fit.ts";
import { type Amounts, add, requestsOf } from "./requests.ts";

const byNode = indexBy(Pod, (pod) => (hasEnded(pod) ? undefined : pod.spec.nodeName));
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

/** A change of a pod that leaves room behind. */
function leavesRoom({ type, object, previous }: Change<Pod>): boolean {
  if (object.spec.nodeName === undefined) return false;
  return type === "removed" || hasEnded(object) || (previous !== undefined && !equals(requestsOf(previous), requestsOf(object)));
}

export const scheduler = () => {
  const assumed = new Assumed();
  const requests = memoized(requestsOf);
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
          when: leavesRoom,
          map: (_pod, pods) => pods.lookup(waiting.values, "waiting").map(({ metadata }) => metadata),
        },
      ],
      may: [may(Pod, "create", { subresource: "binding" })],
    },
    async (ref, ctx): Promise<Outcome> => {
      const pod = ctx.get(Pod, ref);
      assumed.forget((other) => isStillWaiting(ctx.get(Pod, other.metadata)));
      if (pod === undefined || !needsNode(pod) || assumed.has(pod)) return done();
      const rooms = ctx.list(Node).map((node): Room => {
        const there = [...ctx.lookup(byNode, node.metadata.name), ...assumed.on(node.metadata.name)];
        return { node, pods: there.length, taken: there.map(requests).reduce(add, { cpu: 0, memory: 0 }) };
      });
      const placement = decidePlacement(pod, requests(pod), rooms);
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
      assumed.add(pod, node);
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

function isStillWaiting(pod: Stored<Pod> | undefined): boolean {
  return pod !== undefined && needsNode(pod);
}

/** Pods that were bound and are not yet seen to be. */
class Assumed {
  readonly #nodes = new Map<string, { readonly pod: Stored<Pod>; readonly node: string }>();

  add(pod: Stored<Pod>, node: string): void {
    this.#nodes.set(pod.metadata.uid, { pod, node });
  }

  has({ metadata }: Stored<Pod>): boolean {
    return this.#nodes.has(metadata.uid);
  }

  on(name: string): readonly Stored<Pod>[] {
    return [...this.#nodes.values()].filter(({ node }) => node === name).map(({ pod }) => pod);
  }

  /** Those for which this no longer holds. */
  forget(unless: (pod: Stored<Pod>) => boolean): void {
    for (const [uid, { pod }] of this.#nodes) if (!unless(pod)) this.#nodes.delete(uid);
  }
}

/** Objects of a cache never change, so what was worked out about one stays right for as long as it lives. */
function memoized(work: (pod: Stored<Pod>) => Amounts): (pod: Stored<Pod>) => Amounts {
  const known = new WeakMap<Stored<Pod>, Amounts>();
  return (pod) => {
    const found = known.get(pod) ?? work(pod);
    known.set(pod, found);
    return found;
  };
}
