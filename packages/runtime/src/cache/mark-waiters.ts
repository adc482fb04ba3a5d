// Those who wait for a cache to reach a mark (own-writes.ts). Events come by the thousand and waiting keys may, too, so an
// event looks only at those it can concern: marks with versions stand in line by version, and the first one that is not
// reached ends the look. The others (deletions, unknown outcomes, versions without an order) are few.
import { Heap } from "../concurrency/heap.ts";
import type { Mark } from "./own-writes.ts";
import { compareVersions, isAtLeast } from "./versions.ts";

interface Waiter {
  readonly version: string | undefined;
  /** Looks, and if the mark is reached ends the waiting. */
  readonly look: () => boolean;
  gone: boolean;
}

export class MarkWaiters {
  readonly #inLine = new Heap<Waiter>((a, b) => (compareVersions(a.version ?? "", b.version ?? "") ?? 0) < 0);
  readonly #others = new Set<Waiter>();

  /** Calls back once, when a look finds the mark reached. The result ends the waiting. */
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

  /** The cache has come this far. */
  passed(position: string | undefined): void {
    for (const waiter of this.#others) if (waiter.look()) this.#others.delete(waiter);
    for (let next = this.#inLine.peek(); next !== undefined; next = this.#inLine.peek()) {
      if (position === undefined || !isAtLeast(position, next.version ?? "") || !next.look()) return;
      this.#inLine.pop();
    }
  }

  /** Anything may have changed: a listing is complete. */
  lookAtAll(): void {
    const left: Waiter[] = [];
    for (let next = this.#inLine.pop(); next !== undefined; next = this.#inLine.pop()) if (!next.look()) left.push(next);
    for (const waiter of left) this.#inLine.push(waiter);
    for (const waiter of this.#others) if (waiter.look()) this.#others.delete(waiter);
  }
}
