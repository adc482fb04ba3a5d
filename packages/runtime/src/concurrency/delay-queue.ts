// Keys that are due later. One timer for all of them, set to the earliest; a key is in here at most once, and of two
// wishes for one key the earlier is kept.
import type { Cancel, Clock } from "./environment.ts";
import { Heap } from "./heap.ts";

interface Entry<V> {
  readonly key: string;
  readonly due: number;
  readonly value: V;
}

export interface DelayQueueOptions<V> {
  readonly clock: Clock;
  /** Called once for each key, when its time has come and it has left the queue. */
  readonly onDue: (key: string, value: V) => void;
}

/** Holds keys back until they are due. */
export class DelayQueue<V> {
  readonly #clock: Clock;
  readonly #onDue: (key: string, value: V) => void;
  readonly #entries = new Map<string, Entry<V>>();
  /** May hold entries that #entries has no more: they are skipped when they come up. */
  readonly #byDue = new Heap<Entry<V>>((a, b) => a.due < b.due);
  #timer: { readonly due: number; readonly cancel: Cancel } | undefined;

  constructor({ clock, onDue }: DelayQueueOptions<V>) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Puts a key in, unless it is in here and due no later. */
  put(key: string, delayMs: number, value: V): void {
    const entry = { key, due: this.#clock.monotonic() + delayMs, value };
    if ((this.#entries.get(key)?.due ?? Number.POSITIVE_INFINITY) <= entry.due) return;
    this.#entries.set(key, entry);
    this.#byDue.push(entry);
    this.#compact();
    this.#setTimer();
  }

  /** Takes a key out; its time will not come. */
  delete(key: string): void {
    // The timer stays: at worst it wakes up for nothing once, which is cheaper than setting it again for each key.
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

  // A key that is put off for hours and taken out every second would fill the heap with its past selves.
  #compact(): void {
    if (this.#byDue.size < 64 || this.#byDue.size < 2 * this.#entries.size) return;
    this.#byDue.clear();
    for (const entry of this.#entries.values()) this.#byDue.push(entry);
  }
}
