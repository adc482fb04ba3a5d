// A binary heap: the least element is always at hand. Timers by due time, nothing else; hence no delete and no update
// (owners mark what is void and skip it when it comes up).

/** Keeps the least element first, by the given order. */
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

  /** Puts an item at the top and moves it down to its place. */
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
