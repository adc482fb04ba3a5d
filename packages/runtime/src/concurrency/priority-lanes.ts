// Priorities that age. One fair lane per priority, the highest goes first; but every second turn belongs to whoever has
// waited longer than `ageAfterMs`, whatever its priority. So urgent work is delayed by at most one item, and work of no
// urgency gets half of the workers once it is old, however much urgent work keeps coming: nothing starves. (A queue that
// only ever takes the highest priority leaves the initial list of a busy cluster waiting for tens of minutes.)
import { FairLane, type LaneItem } from "./fair-lane.ts";

/** What the lanes need to know of their items. */
export interface PrioritizedItem extends LaneItem {
  /** Higher goes first. */
  readonly priority: number;
  /** When it began to wait, in milliseconds of the monotonic clock. */
  readonly since: number;
}

/** Waiting items, by priority, age and group. */
export class PriorityLanes<T extends PrioritizedItem> {
  readonly #ageAfterMs: number;
  readonly #lanes = new Map<number, FairLane<T>>();
  #size = 0;
  #turnOfTheOld = false;

  constructor(ageAfterMs: number) {
    this.#ageAfterMs = ageAfterMs;
  }

  get size(): number {
    return this.#size;
  }

  /** How many wait, by priority. */
  sizes(): ReadonlyMap<number, number> {
    return new Map(Array.from(this.#lanes, ([priority, lane]) => [priority, lane.size]));
  }

  add(item: T): void {
    let lane = this.#lanes.get(item.priority);
    if (lane === undefined) {
      lane = new FairLane();
      this.#lanes.set(item.priority, lane);
    }
    lane.add(item);
    this.#size += 1;
  }

  withdraw(item: T): void {
    this.#lanes.get(item.priority)?.withdraw(item);
    this.#size -= 1;
    this.#tidy(item.priority);
  }

  take(now: number): T | undefined {
    const lane = this.#chooseLane(now);
    const item = lane?.take();
    if (item === undefined) return undefined;
    this.#size -= 1;
    this.#tidy(item.priority);
    return item;
  }

  /** When the one that has waited longest began to. */
  oldestSince(): number | undefined {
    return this.#longestWaiting()?.oldest()?.since;
  }

  #chooseLane(now: number): FairLane<T> | undefined {
    this.#turnOfTheOld = !this.#turnOfTheOld;
    if (this.#lanes.size > 1 && this.#turnOfTheOld) {
      const lane = this.#longestWaiting();
      if (now - (lane?.oldest()?.since ?? now) >= this.#ageAfterMs) return lane;
    }
    return this.#lanes.get(Math.max(...this.#lanes.keys()));
  }

  #longestWaiting(): FairLane<T> | undefined {
    let longest: FairLane<T> | undefined;
    for (const lane of this.#lanes.values()) {
      const since = lane.oldest()?.since;
      if (since !== undefined && since < (longest?.oldest()?.since ?? Number.POSITIVE_INFINITY)) longest = lane;
    }
    return longest;
  }

  /** Priorities may be any number: a lane is kept only while something waits in it. */
  #tidy(priority: number): void {
    if (this.#lanes.get(priority)?.size === 0) this.#lanes.delete(priority);
  }
}
