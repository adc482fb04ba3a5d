// What is known about keys between their reconciles. Most of them need nothing remembered: only those that failed, and those
// whose own writes the caches have not seen yet.
import { PendingWrites } from "./pending-writes.ts";

/** Why, since when and for what a key has waited for its turn. */
export interface Waited {
  readonly because: readonly string[];
  readonly waitedMs: number;
  readonly waitedFor?: readonly Hindrance[];
}

export type Hindrance = "caches" | "own writes";

export class KeyState {
  failures = 0;
  readonly writes = new PendingWrites();
  /** Why the key came up while it waited for its own writes to be seen; undefined: it does not wait. */
  #aside: Set<string> | undefined;
  #heldUp: { readonly since: number; readonly by: Set<Hindrance> } | undefined;

  /** Its turn has come and it has to wait. The first time counts: that is how long somebody has been waiting for this object. */
  holdUp(since: number, by: Hindrance): void {
    this.#heldUp ??= { since, by: new Set() };
    this.#heldUp.by.add(by);
  }

  /** It waits for its own writes to be seen. False: it does so already, and now for these reasons, too. */
  setAside(reasons: Iterable<string>): boolean {
    const first = this.#aside === undefined;
    this.#aside ??= new Set();
    for (const reason of reasons) this.#aside.add(reason);
    return first;
  }

  /** Its writes are seen. Undefined: something else brought it up first, and it was looked at for these reasons, too. */
  takeUp(): ReadonlySet<string> | undefined {
    const because = this.#aside;
    this.#aside = undefined;
    return because;
  }

  /** It is looked at now, for these reasons and for those for which it was set aside. */
  begin(reasons: readonly string[], since: number, now: number): Waited {
    const heldUp = this.#heldUp;
    this.#heldUp = undefined;
    const earlier = this.takeUp();
    return {
      because: earlier === undefined ? reasons : [...new Set([...earlier, ...reasons])],
      waitedMs: now - (heldUp?.since ?? since),
      ...(heldUp && { waitedFor: [...heldUp.by] }),
    };
  }
}

export class KeyStates {
  readonly #states = new Map<string, KeyState>();

  of(key: string): KeyState {
    return this.#states.get(key) ?? new KeyState();
  }

  /** Keeps what there is to be remembered. */
  keep(key: string, state: KeyState): void {
    if (state.failures === 0 && state.writes.seen) this.#states.delete(key);
    else this.#states.set(key, state);
  }
}
