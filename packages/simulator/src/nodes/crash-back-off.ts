// When a container that ended may start again, as the kubelet reckons: at once the first time, then 10 s after its end,
// 20 s, 40 s … 5 min; from the beginning after ten minutes without, and whenever its resources were changed.
//
//     ends by itself at     0 s    3 s    16 s    40 s
//     starts again at       0 s   13 s    36 s    80 s      (each up to half as much later: workers are called with jitter)
//
// A quirk of the kubelet that one meets: when it kills a container itself (a failed probe, a resize that needs a restart),
// it counts from the end of the life *before*, since the one it has just killed was still running when it looked. So such
// a container is started at once more often than one that crashes.
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

  /** When to start again, given when the life that counts ended (undefined: none did); never before `now`. */
  startAfter(endedAt: number | undefined, now: number): number {
    const entry = this.#entryAt(now);
    const left = endedAt === undefined || entry === undefined ? 0 : endedAt + entry.delayMs - now;
    return left <= 0 ? now : now + Math.ceil(left * (1 + 0.5 * this.#random()));
  }

  /** It starts again: the next wait is longer. Not called for the very first start. */
  started(now: number): void {
    const before = this.#entryAt(now);
    const delayMs = before === undefined ? initialMs : Math.min(before.delayMs * 2, longestMs);
    this.#entry = { delayMs, lastStart: now };
  }

  #entryAt(now: number): Entry | undefined {
    return this.#entry !== undefined && now - this.#entry.lastStart > forgottenAfterMs ? undefined : this.#entry;
  }
}
