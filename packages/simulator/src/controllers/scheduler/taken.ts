// What the pods on each node request, kept change by change: adding it up for every placement would mean to walk all pods for
// every pod.
//
// A pod that has just been bound is not yet seen as bound, and must be counted all the same: otherwise two pods would get
// the last place. So it is assumed to be there until a change says more.
import type { Change, Pod, Stored } from "@memhog/runtime";
import { hasEnded, isGoing } from "../pods.ts";
import type { Room } from "./node-fit.ts";
import { type Amounts, add, requestsOf, subtract } from "./requests.ts";

type OnNode = Omit<Room, "node">;

const empty: OnNode = { pods: 0, taken: { cpu: 0, memory: 0 } };

interface Share {
  readonly node: string;
  readonly requests: Amounts;
}

export class Taken {
  /** By the UID of their pods. */
  readonly #shares = new Map<string, Share>();
  readonly #nodes = new Map<string, OnNode>();

  on(node: string): OnNode {
    return this.#nodes.get(node) ?? empty;
  }

  has({ metadata }: Stored<Pod>): boolean {
    return this.#shares.has(metadata.uid);
  }

  assume(pod: Stored<Pod>, node: string): void {
    this.#put(pod.metadata.uid, { node, requests: requestsOf(pod) });
  }

  /** Takes a change into account. True: it leaves room behind. */
  follow({ type, object }: Change<Pod>): boolean {
    const { uid } = object.metadata;
    const before = this.#shares.get(uid);
    const { nodeName } = object.spec;
    const goesNowhere = nodeName === undefined && isGoing(object);
    if (type === "removed" || hasEnded(object) || goesNowhere) this.#put(uid, undefined);
    else if (nodeName !== undefined) this.#put(uid, { node: nodeName, requests: requestsOf(object) });
    const after = this.#shares.get(uid);
    return before !== undefined && !(after !== undefined && equal(before.requests, after.requests));
  }

  #put(uid: string, share: Share | undefined): void {
    const before = this.#shares.get(uid);
    if (before !== undefined) {
      const { pods, taken } = this.on(before.node);
      this.#nodes.set(before.node, { pods: pods - 1, taken: subtract(taken, before.requests) });
    }
    if (share === undefined) {
      this.#shares.delete(uid);
      return;
    }
    this.#shares.set(uid, share);
    const { pods, taken } = this.on(share.node);
    this.#nodes.set(share.node, { pods: pods + 1, taken: add(taken, share.requests) });
  }
}

function equal(a: Amounts, b: Amounts): boolean {
  return a.cpu === b.cpu && a.memory === b.memory;
}
