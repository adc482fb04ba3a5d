// Those who stand in line for something that is not there yet. First come, first served; whoever aborts leaves.
import { Fifo } from "./fifo.ts";

interface Taker<T> {
  readonly take: (thing: T | undefined) => void;
  gone: boolean;
}

/** A line of promises to be kept. */
export class Takers<T> {
  readonly #line = new Fifo<Taker<T>>();

  /** Whether somebody is in line. */
  get present(): boolean {
    while (this.#line.peek()?.gone) this.#line.shift();
    return this.#line.length > 0;
  }

  /** Stands in line. Rejects with the signal's reason; undefined means that there will be nothing. */
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

  /** Gives a thing to whoever is first; ask `present` before. */
  give(thing: T): void {
    if (this.present) this.#line.shift()?.take(thing);
  }

  /** Tells everybody that there will be nothing. */
  sendAway(): void {
    while (this.present) this.#line.shift()?.take(undefined);
  }
}
