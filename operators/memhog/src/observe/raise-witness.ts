// When this process last raised a pod, by a clock that only ever goes forward. The record in the API says the same in wall-clock
// time and survives us; this one is not fooled when the wall clock steps (promise M5). The later of the two counts.
import type { Clock } from "@memhog/runtime";

/** Nothing looks back further: raises are counted by the hour, cooldowns last a day at most. */
const rememberMs = 24 * 3_600_000;

export class RaiseWitness {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By pod UID, oldest first. */
  readonly #raises = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** This pod was raised just now. */
  note(uid: string): void {
    this.#raises.delete(uid);
    this.#raises.set(uid, this.#clock.monotonic());
    for (const [old, at] of this.#raises) {
      if (this.#clock.monotonic() - at <= rememberMs) break;
      this.#raises.delete(old);
    }
  }

  /** Milliseconds since each of these pods was raised; those that were not are missing. */
  ago(uids: Iterable<string>): ReadonlyMap<string, number> {
    const known = [...uids].flatMap((uid) => {
      const at = this.#raises.get(uid);
      return at === undefined ? [] : [[uid, this.#clock.monotonic() - at] as const];
    });
    return new Map(known);
  }
}
