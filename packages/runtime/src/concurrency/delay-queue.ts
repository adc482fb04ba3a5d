// Delays keys until they are due. One timer serves all keys and is set to the earliest. A key is in the queue at most once; if it is
// added twice, the earlier due time wins.

import { Heap } from "./collections.ts";
import type { Cancel, Clock } from "./environment.ts";

interface Entry<V> {
  readonly key: string;
  readonly due: number;
  readonly value: V;
}

export interface DelayQueueOptions<V> {
  readonly clock: Clock;
  /** Called once per key, when it is due and no longer in the queue. */
  readonly onDue: (key: string, value: V) => void;
}

/** Holds keys until they are due. */
export class DelayQueue<V> {
  readonly #clock: Clock;
  readonly #onDue: (key: string, value: V) => void;
  readonly #entries = new Map<string, Entry<V>>();
  /** May contain entries that are no longer in #entries; they are skipped. */
  readonly #byDue = new Heap<Entry<V>>((a, b) => a.due < b.due);
  #timer: { readonly due: number; readonly cancel: Cancel } | undefined;

  constructor({ clock, onDue }: DelayQueueOptions<V>) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a key, unless it is already in the queue with the same or an earlier due time. */
  put(key: string, delayMs: number, value: V): void {
    const entry = { key, due: this.#clock.monotonic() + delayMs, value };
    if ((this.#entries.get(key)?.due ?? Number.POSITIVE_INFINITY) <= entry.due) return;
    this.#entries.set(key, entry);
    this.#byDue.push(entry);
    this.#compact();
    this.#setTimer();
  }

  /** The value of a key; undefined if the key is not in the queue. */
  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Removes a key. */
  delete(key: string): void {
    // The timer stays: at worst it fires once without a due key, which is cheaper than resetting it for each key.
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#byDue.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #setTimer(): void {
    const next = this.#next();
    if (next === undefined || (this.#timer !== undefined && this.#timer.due <= next.due)) return;
    this.#timer?.cancel();
    const cancel = this.#clock.after(next.due - this.#clock.monotonic(), () => this.#onTimer());
    this.#timer = { due: next.due, cancel };
  }

  #onTimer(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let entry = this.#next(); entry !== undefined && entry.due <= now; entry = this.#next()) {
      this.#entries.delete(entry.key);
      this.#onDue(entry.key, entry.value);
    }
    this.#setTimer();
  }

  #next(): Entry<V> | undefined {
    for (let entry = this.#byDue.peek(); entry !== undefined; entry = this.#byDue.peek()) {
      if (this.#entries.get(entry.key) === entry) return entry;
      this.#byDue.pop();
    }
    return undefined;
  }

  // A key that is added with a long delay and removed every second would otherwise fill the heap with outdated entries.
  #compact(): void {
    if (this.#byDue.size < 64 || this.#byDue.size < 2 * this.#entries.size) return;
    this.#byDue.clear();
    for (const entry of this.#entries.values()) this.#byDue.push(entry);
  }
}
