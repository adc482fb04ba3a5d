// When a container that ended may start again, as the kubelet reckons: at once the first time, then 10 s after its end,
// 20 s, 40 s … 5 min; from the beginning after ten minutes without, and whenever its resources were changed.
//
//     ends by itself at     0 s    3 s    16 s    40 s
//     starts again at       0 s   13 s    36 s    80 s      (each up to half as much later: workers are called with jitter)
//
// A quirk of the kubelet that one meets: when it kills a container itself (a failed probe, a resize that needs a restart),
// the life it has just ended does not count yet, since it was still running when it looked. So the first two such kills are
// followed by a start at once.
const initialMs = 10_000;
const longestMs = 300_000;
const forgottenAfterMs = 2 * longestMs;

interface Entry {
  readonly delayMs: number;
  readonly lastStart: number;
}

export class CrashBackOff {
  readonly #random: () => number;
  #entry: Entry | undefined;
  #key = "";

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Another container than before, as far as the kubelet can tell: its past is forgotten. */
  become(key: string): void {
    if (key !== this.#key) this.#entry = undefined;
    this.#key = key;
  }

  /** The delay that is in force, in milliseconds; 0: none. */
  get delayMs(): number {
    return this.#entry?.delayMs ?? 0;
  }

  /** Whether a life that ended then must be waited for; undefined: none that counts. */
  holds(endedAt: number | undefined, now: number): boolean {
    const entry = this.#entryAt(now);
    return endedAt !== undefined && entry !== undefined && now - endedAt < entry.delayMs;
  }

  /** When to start again after a life that ended then; never before `now`. */
  startAfter(endedAt: number, now: number): number {
    const left = this.holds(endedAt, now) ? endedAt + this.delayMs - now : 0;
    return now + Math.ceil(left * (1 + 0.5 * this.#random()));
  }

  /** It starts again, after a life that counted: the next wait is longer. */
  started(now: number): void {
    const before = this.#entryAt(now);
    const delayMs = before === undefined ? initialMs : Math.min(before.delayMs * 2, longestMs);
    this.#entry = { delayMs, lastStart: now };
  }

  #entryAt(now: number): Entry | undefined {
    return this.#entry !== undefined && now - this.#entry.lastStart > forgottenAfterMs ? undefined : this.#entry;
  }
}
