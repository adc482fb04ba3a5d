// Priorities with aging. Each priority has one fair lane, and the highest goes first. Every second turn, however, goes to the item
// that has waited longest, if it has waited longer than `ageAfterMs`. This delays urgent work by at most one item and gives old
// low-priority work half of the workers, so nothing starves. (With strict priorities, the initial list of a busy cluster waited for
// tens of minutes.)
import { Fifo } from "./collections.ts";

/** The fields that the lanes require. */
export interface PrioritizedItem extends LaneItem {
  /** Higher goes first. */
  readonly priority: number;
  /** When it was queued, in milliseconds of the monotonic clock. */
  readonly since: number;
}

/** Waiting items by priority, age and group. */
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

  /** The number of waiting items by priority. */
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

  /** When the oldest waiting item was queued. */
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

  /** Priorities can be any number, so an empty lane is removed. */
  #tidy(priority: number): void {
    if (this.#lanes.get(priority)?.size === 0) this.#lanes.delete(priority);
  }
}

/** The fields that a lane requires. Only the lane sets `gone`. */
export interface LaneItem {
  readonly group: string;
  gone: boolean;
}

interface Group<T> {
  readonly name: string;
  readonly items: Fifo<T>;
}

/**
 * Groups (an operator's namespaces) take turns, one item each. Within a group, items are first in, first out. A group with ten
 * thousand items therefore delays another group's single item by one turn.
 */
export class FairLane<T extends LaneItem> {
  readonly #groups = new Map<string, Group<T>>();
  /** Groups with waiting items, the next one first. */
  readonly #turns = new Fifo<Group<T>>();
  /** All items in order of arrival, regardless of group. */
  readonly #arrivals = new Fifo<T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    let group = this.#groups.get(item.group);
    if (group === undefined) {
      group = { name: item.group, items: new Fifo() };
      this.#groups.set(item.group, group);
      this.#turns.push(group);
    }
    group.items.push(item);
    this.#arrivals.push(item);
    this.#size += 1;
  }

  /** Removes and returns the next item. */
  take(): T | undefined {
    for (let group = this.#turns.shift(); group !== undefined; group = this.#turns.shift()) {
      const item = nextOf(group.items);
      if (item !== undefined) this.withdraw(item);
      if (nextOf(group.items) === undefined) this.#groups.delete(group.name);
      else this.#turns.push(group);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** Removes an item. */
  withdraw(item: T): void {
    item.gone = true;
    this.#size -= 1;
    nextOf(this.#arrivals); // otherwise withdrawn items would accumulate until the next call of `oldest`
  }

  /** The item that has waited longest. */
  oldest(): T | undefined {
    return nextOf(this.#arrivals);
  }
}

/** The first item that was not withdrawn; drops those before it. */
function nextOf<T extends LaneItem>(items: Fifo<T>): T | undefined {
  while (items.peek()?.gone) items.shift();
  return items.peek();
}
