// Fairness: whoever has much to do must not make those wait who have little. Within a lane the groups (an operator's
// namespaces) take turns, one item each; within a group it is first come, first served. A group with ten thousand items
// delays another one's single item by one turn, not by ten thousand.
import { Fifo } from "./fifo.ts";

/** What a lane needs to know of its items. `gone` is the lane's own mark; leave it alone. */
export interface LaneItem {
  readonly group: string;
  gone: boolean;
}

interface Group<T> {
  readonly name: string;
  readonly items: Fifo<T>;
}

/** Items in groups that take turns. */
export class FairLane<T extends LaneItem> {
  readonly #groups = new Map<string, Group<T>>();
  /** The groups that have something, the one whose turn it is first. */
  readonly #turns = new Fifo<Group<T>>();
  /** Everything in order of arrival, whatever its group. */
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

  /** The next item, by turns. */
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

  /** Takes an item out of its place; its spot in the line closes by itself. */
  withdraw(item: T): void {
    item.gone = true;
    this.#size -= 1;
    nextOf(this.#arrivals); // or a lane that nobody asks for its oldest would remember everyone who ever came
  }

  /** Whoever has waited longest. */
  oldest(): T | undefined {
    return nextOf(this.#arrivals);
  }
}

/** The first that is still there; drops those before it. */
function nextOf<T extends LaneItem>(items: Fifo<T>): T | undefined {
  while (items.peek()?.gone) items.shift();
  return items.peek();
}
