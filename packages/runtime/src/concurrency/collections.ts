/** A binary heap: the least element comes first. It has no delete and no update; callers mark outdated elements and skip them. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!this.#before(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const least = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return least;
  }

  clear(): void {
    this.#items.length = 0;
  }

  /** Inserts an item at the root and moves it down. */
  #sink(item: T): void {
    const items = this.#items;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && this.#before(items[below + 1] as T, items[below] as T)) below += 1;
      const child = items[below] as T;
      if (!this.#before(child, item)) break;
      items[at] = child;
      at = below;
    }
    items[at] = item;
  }
}

/**
 * A first-in, first-out queue with constant cost per element. `Array.shift` moves all remaining elements and a Map iterates over its
 * deleted entries; both are slow with tens of thousands of keys.
 */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined; // do not keep it alive
    this.#head += 1;
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

interface Taker<T> {
  readonly take: (thing: T | undefined) => void;
  gone: boolean;
}

/** Callers that wait for an item, first come, first served. A caller that aborts leaves the line. */
export class Takers<T> {
  readonly #line = new Fifo<Taker<T>>();

  /** Whether a caller waits. */
  get present(): boolean {
    while (this.#line.peek()?.gone) this.#line.shift();
    return this.#line.length > 0;
  }

  /** Waits for an item. Rejects with the signal's reason; resolves with undefined after `sendAway`. */
  wait(signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        taker.gone = true;
        reject(signal?.reason);
      };
      const take = (thing: T | undefined) => {
        signal?.removeEventListener("abort", onAbort);
        resolve(thing);
      };
      const taker: Taker<T> = { take, gone: false };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#line.push(taker);
    });
  }

  /** Passes an item to the first caller; check `present` first. */
  give(thing: T): void {
    if (this.present) this.#line.shift()?.take(thing);
  }

  /** Resolves all waiting callers with undefined. */
  sendAway(): void {
    while (this.present) this.#line.shift()?.take(undefined);
  }
}
