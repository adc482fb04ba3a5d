// First in, first out. An array's own shift() moves all that is left, and a Map walks over the holes its deleted
// entries left; with tens of thousands of keys waiting both are felt. This one moves a finger along and tidies up
// behind it now and then, so each element is touched a constant number of times.

/** A queue of constant cost per element. */
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
    this.#items[this.#head] = undefined; // the caller owns it now; do not keep it alive
    this.#head += 1;
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
