// What was heard of the server, and when: in this session (`SessionEnd` is made of it), and before.
import type { Clock } from "../concurrency/environment.ts";
import type { SessionEnd } from "./after-session.ts";

export class Hearing {
  readonly #clock: Clock;
  #lastHeard: number;
  #began = 0;
  #openedAt: number | undefined;
  #heard = false;
  #mute = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastHeard = clock.monotonic();
  }

  /** Milliseconds since anything was heard. */
  get ageMs(): number {
    return this.#clock.monotonic() - this.#lastHeard;
  }

  /** A session begins. */
  begin(): void {
    this.#began = this.#clock.monotonic();
    this.#openedAt = undefined;
    this.#heard = false;
    this.#mute = false;
  }

  /** Its watch is open. @param politely It ends by its own time limit before it could be silent for too long. */
  opened(politely: boolean): void {
    this.#openedAt = this.#clock.monotonic();
    this.#mute = politely;
  }

  hear(): void {
    this.#heard = true;
    this.#mute = false;
    this.#lastHeard = this.#clock.monotonic();
  }

  /** The session has ended. */
  end(): Pick<SessionEnd, "lastedMs" | "openMs" | "heard" | "mute"> {
    const now = this.#clock.monotonic();
    return { lastedMs: now - this.#began, openMs: now - (this.#openedAt ?? now), heard: this.#heard, mute: this.#mute };
  }
}
