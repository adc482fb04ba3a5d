// Read your own writes (W1 in docs/invariants.md). A cache lags behind the server, so a reconciler that reads it right after a write
// would not see that write and repeat it. Every write therefore leaves a mark, and a key is not reconciled again before the cache has
// reached all of its marks.
//
//     written   the server returned a version: reached when the cache has seen that version or a newer one. Any event or bookmark of
//               the kind counts, because versions of a kind are ordered; of versions without an order only the same one counts.
//     deleted   reached when the object with that UID is gone or has a deletionTimestamp.
//     unknown   the response was lost (C2): only a list that began after the write can tell.
//
// A list that began after the write reaches every mark. If a mark is overdue (the selection excludes the object, the watch is dead),
// the cache lists again.

import { Heap } from "../concurrency/collections.ts";
import type { KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";

/** A write that a cache must have seen before its key is reconciled again. */
export type Mark = {
  readonly ref: ObjectRef;
  /** How many lists had begun when the write ended. Any later list includes the write. */
  readonly listingsBegun: number;
} & (
  | { readonly type: "written"; readonly uid: string; readonly resourceVersion: string }
  | { readonly type: "deleted"; readonly uid: string }
  | { readonly type: "unknown" }
);

/** How far a cache has come. */
export interface Progress {
  get(ref: ObjectRef): Stored<KubernetesObject> | undefined;
  /** The newest version received on the watch. */
  readonly position: string | undefined;
  /** The number of the newest complete list. Lists are numbered when they begin. */
  readonly listingDone: number;
}

export function isReached(mark: Mark, progress: Progress): boolean {
  if (progress.listingDone > mark.listingsBegun) return true;
  if (mark.type === "unknown") return false;
  const there = progress.get(mark.ref)?.metadata;
  if (mark.type === "deleted") return there?.uid !== mark.uid || there.deletionTimestamp !== undefined;
  if (progress.position !== undefined && isAtLeast(progress.position, mark.resourceVersion)) return true;
  // A write that changes nothing returns a version that the cache already has, or has passed long ago.
  return there?.uid === mark.uid && (compareVersions(there.resourceVersion ?? "", mark.resourceVersion) ?? -1) >= 0;
}

interface Waiter {
  readonly version: string | undefined;
  /** Checks the mark. If it is reached, calls back and returns true. */
  readonly look: () => boolean;
  gone: boolean;
}

/**
 * Callbacks that wait for a cache to reach a mark. There may be thousands of events and of waiting keys, so each event checks only
 * the marks it can affect: marks with a version are in a heap, and the first one that is not reached ends the check. The others
 * (deletions, unknown outcomes, versions without an order) are few and are checked with every event.
 */
export class MarkWaiters {
  readonly #inLine = new Heap<Waiter>((a, b) => (compareVersions(a.version ?? "", b.version ?? "") ?? 0) < 0);
  readonly #others = new Set<Waiter>();

  /** Calls back once, when the mark is reached. Call the returned function to stop waiting. */
  add(mark: Mark, reached: () => boolean, callback: () => void): () => void {
    const version =
      mark.type === "written" && compareVersions(mark.resourceVersion, "1") !== undefined ? mark.resourceVersion : undefined;
    const look = () => {
      if (waiter.gone || !reached()) return waiter.gone;
      waiter.gone = true;
      callback();
      return true;
    };
    const waiter: Waiter = { version, look, gone: false };
    if (version === undefined) this.#others.add(waiter);
    else this.#inLine.push(waiter);
    return () => {
      waiter.gone = true;
      this.#others.delete(waiter);
    };
  }

  /** The watch has reached this version. */
  passed(position: string | undefined): void {
    for (const waiter of this.#others) if (waiter.look()) this.#others.delete(waiter);
    for (let next = this.#inLine.peek(); next !== undefined; next = this.#inLine.peek()) {
      if (position === undefined || !isAtLeast(position, next.version ?? "") || !next.look()) return;
      this.#inLine.pop();
    }
  }

  /** Checks every mark, after a list or a change of state. */
  lookAtAll(): void {
    const left: Waiter[] = [];
    for (let next = this.#inLine.pop(); next !== undefined; next = this.#inLine.pop()) if (!next.look()) left.push(next);
    for (const waiter of left) this.#inLine.push(waiter);
    for (const waiter of this.#others) if (waiter.look()) this.#others.delete(waiter);
  }
}

// The order of resource versions. Since Kubernetes 1.35 the API guarantees that those of built-in kinds and custom resources are
// increasing decimal numbers; earlier servers behaved the same way without the guarantee. Aggregated API servers may use any format:
// such versions have no order and can only be compared for equality.

/** Decimal, no sign, no leading zero. Anything else is opaque. */
const decimal = /^[1-9][0-9]*$/;

/**
 * Negative, zero or positive if `a` is older than, the same as or newer than `b`; undefined if they have no order.
 * Versions may exceed 2^53, so they are compared as strings: the longer number is the larger one.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether `a` is known to be older than `b`. */
export function isOlder(a: string, b: string): boolean {
  const order = compareVersions(a, b);
  return order !== undefined && order < 0;
}

/** Whether `a` is known to be `b` or newer. */
export function isAtLeast(a: string, b: string): boolean {
  const order = compareVersions(a, b);
  return order !== undefined && order >= 0;
}
