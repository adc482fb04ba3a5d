// Reconciles that need nothing but the cache never leave the queue of microtasks: twenty thousand of them at the start of an
// operator would run one after the other for seconds, and meanwhile no watch is read, no probe answered and no Lease
// renewed. So whoever works through keys asks, before each, whether it is time to let the event loop turn.
import type { Cancel, Clock } from "../concurrency/environment.ts";

export class Breather {
  readonly #clock: Clock;
  readonly #turnMs: number;
  /** A timer that fires as soon as the loop turns; while it has not, we are in the turn in which it was set. */
  #untilTurn: Cancel | undefined;
  #turnBegan = 0;

  /** @param turnMs How long one turn may last; one reconcile more at most. */
  constructor(clock: Clock, turnMs = 3) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Undefined: go on. A promise: wait for it first. */
  breathe(): Promise<void> | undefined {
    if (this.#untilTurn === undefined) {
      this.#turnBegan = this.#clock.monotonic();
      this.#untilTurn = this.#clock.after(0, () => {
        this.#untilTurn = undefined;
      });
      return undefined;
    }
    if (this.#clock.monotonic() - this.#turnBegan < this.#turnMs) return undefined;
    return this.#clock.sleep(0);
  }

  stop(): void {
    this.#untilTurn?.();
    this.#untilTurn = undefined;
  }
}
