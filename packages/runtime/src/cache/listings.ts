// The listings of a reflector, counted: so that whoever wants one can tell a listing that began after they asked from one that was
// under way.
import type { Clock } from "../concurrency/environment.ts";
import type { Listing } from "./after-session.ts";

export class Listings {
  readonly #clock: Clock;
  #wanted = 0;
  #begun = 0;
  #done = 0;
  #lastDoneAt = 0;
  #underWay: Listing | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many have begun. */
  get begun(): number {
    return this.#begun;
  }

  /** The last one that was complete: the first is 1. */
  get done(): number {
    return this.#done;
  }

  /** How everything is being listed now. */
  get underWay(): Listing | undefined {
    return this.#underWay;
  }

  /** Somebody asked for a listing, perhaps while one was under way: that one may have begun before what they want to see. */
  get wanted(): boolean {
    return this.#wanted > this.#begun;
  }

  /** Everything is to be listed, in a listing that begins after this call. */
  want(): void {
    this.#wanted = this.#begun + 1;
  }

  begin(how: Listing): void {
    this.#underWay = how;
    this.#begun += 1;
  }

  finish(): void {
    this.#underWay = undefined;
    this.#done = this.#begun;
    this.#lastDoneAt = this.#clock.monotonic();
  }

  /** What was under way, if anything, has failed. */
  giveUp(): void {
    this.#underWay = undefined;
  }

  isDueAfter(relistMs: number): boolean {
    return this.#clock.monotonic() - this.#lastDoneAt >= relistMs;
  }
}
