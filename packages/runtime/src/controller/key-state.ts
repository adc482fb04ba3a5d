// The state of a key between two reconciles: its consecutive failures, and its writes that the caches have not seen yet. A key
// is not reconciled again before they have (W1). A write whose outcome is unknown, or that failed because the cache was stale,
// is read back from the server first (C2, A1), so that the next reconcile decides from a state at least that new. Most keys
// have no such state.
import type { Cache } from "../cache/cache.ts";
import type { Mark } from "../cache/own-writes.ts";
import type { Client } from "../client/client.ts";
import { Backoff } from "../concurrency/backoff.ts";
import type { Environment, Logger } from "../concurrency/environment.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";

/** Why a key was enqueued, and how long and for what it waited. */
export interface Waited {
  readonly because: readonly string[];
  readonly waitedMs: number;
  readonly waitedFor?: readonly DelayCause[];
}

export type DelayCause = "caches" | "own writes";

export class KeyState {
  failures = 0;
  readonly writes = new PendingWrites();
  /** Why the key was enqueued while it waited for its own writes to be seen; undefined: it does not wait. */
  #aside: Set<string> | undefined;
  #delayed: { readonly since: number; readonly by: Set<DelayCause> } | undefined;

  /** Whether there is no state to keep. */
  get isIdle(): boolean {
    return this.failures === 0 && this.#aside === undefined && this.writes.seen;
  }

  /** Records that the key left the queue and has to wait. The first call sets the time since which it waits. */
  delay(since: number, by: DelayCause): void {
    this.#delayed ??= { since, by: new Set() };
    this.#delayed.by.add(by);
  }

  /** Starts to wait for the key's own writes. Returns false if it waits already; the reasons are added. */
  setAside(reasons: Iterable<string>): boolean {
    const first = this.#aside === undefined;
    this.#aside ??= new Set();
    for (const reason of reasons) this.#aside.add(reason);
    return first;
  }

  /** Ends the wait. Returns undefined if another trigger came first: that reconcile covered these reasons, too. */
  resume(): ReadonlySet<string> | undefined {
    const because = this.#aside;
    this.#aside = undefined;
    return because;
  }

  /** Begins a reconcile, for these reasons and those that were set aside. */
  begin(reasons: readonly string[], since: number, now: number): Waited {
    const delayed = this.#delayed;
    this.#delayed = undefined;
    const earlier = this.resume();
    return {
      because: earlier === undefined ? reasons : [...new Set([...earlier, ...reasons])],
      waitedMs: now - (delayed?.since ?? since),
      ...(delayed && { waitedFor: [...delayed.by] }),
    };
  }
}

export class KeyStates {
  readonly #states = new Map<string, KeyState>();
  /** The size at which idle keys are removed from the map. */
  #sweepAt = 64;

  of(key: string): KeyState {
    return this.#states.get(key) ?? new KeyState();
  }

  get size(): number {
    return this.#states.size;
  }

  /** Stores the state of a key unless it is idle. */
  keep(key: string, state: KeyState): void {
    if (state.isIdle) this.#states.delete(key);
    else this.#states.set(key, state);
    if (this.#states.size > this.#sweepAt) this.#sweep();
  }

  /** Call it when the object is gone. Its writes stay pending until the caches have seen them: a new object can take its name. */
  forget(key: string): void {
    const state = this.#states.get(key);
    if (state === undefined) return;
    state.failures = 0;
    if (state.isIdle) this.#states.delete(key);
  }

  /**
   * The caches see most writes after `keep`, and a key that is gone may never be reconciled again. Searching whenever the map
   * has doubled costs a constant per key.
   */
  #sweep(): void {
    for (const [key, state] of this.#states) if (state.isIdle) this.#states.delete(key);
    this.#sweepAt = Math.max(64, 2 * this.#states.size);
  }
}

/** Reads an object from the server. */
export type LiveRead = (kind: Kind, ref: ObjectRef, signal: AbortSignal) => Promise<Stored<KubernetesObject> | undefined>;

interface UnknownWrite {
  readonly kind: Kind;
  readonly ref: ObjectRef;
  readonly caches: readonly Cache[];
}

interface Expectation {
  readonly cache: Cache;
  readonly mark: Mark;
}

export class PendingWrites {
  #inFlight = 0;
  #answered: PromiseWithResolvers<void> | undefined;
  #unknown: UnknownWrite[] = [];
  #expected: Expectation[] = [];

  /** Whether no write is in flight, every outcome is known, and the caches have seen all writes. */
  get seen(): boolean {
    if (this.#inFlight > 0 || this.#unknown.length > 0 || !this.#expected.every(isMet)) return false;
    this.#expected = [];
    return true;
  }

  /** Records the start of a write; call the result when it has ended. */
  begin(): () => void {
    this.#inFlight += 1;
    return () => {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#answered?.resolve();
    };
  }

  /** Records that the server answered a write with this object. */
  written(caches: readonly Cache[], object: Stored<KubernetesObject>): void {
    for (const cache of caches) this.#expected.push({ cache, mark: cache.written(object) });
  }

  /** Records a deletion; without a UID, of the object that the cache holds. */
  deleted(caches: readonly Cache[], ref: ObjectRef, uid?: string): void {
    for (const cache of caches) {
      const gone = uid ?? cache.get(ref)?.metadata.uid;
      if (gone !== undefined) this.#expected.push({ cache, mark: cache.deleted(ref, gone) });
    }
  }

  /** Records a write with an unknown outcome: the object must be read back. */
  unknown(caches: readonly Cache[], kind: Kind, ref: ObjectRef): void {
    if (caches.length > 0) this.#unknown.push({ kind, ref, caches });
  }

  /** Resolves when all writes are seen. Rejects if a live read fails; the next call continues from there. */
  async settle(read: LiveRead, signal: AbortSignal): Promise<void> {
    while (!this.seen) {
      if (this.#inFlight > 0) await this.#whenAnswered();
      else if (this.#unknown[0] !== undefined) await this.#readBack(this.#unknown[0], read, signal);
      else await this.#whenMet(signal);
    }
  }

  async #readBack(write: UnknownWrite, read: LiveRead, signal: AbortSignal): Promise<void> {
    const { kind, ref, caches } = write;
    if (ref.name === "") {
      // The server generates the name, so the object cannot be read by name: wait for a new list.
      for (const cache of caches) this.#expected.push({ cache, mark: cache.unknown(ref) });
    } else {
      const found = await read(kind, ref, signal);
      if (found === undefined) this.deleted(caches, ref);
      else this.written(caches, found);
    }
    this.#unknown = this.#unknown.filter((other) => other !== write);
  }

  async #whenMet(signal: AbortSignal): Promise<void> {
    // All must hold at the same time: "deleted" also holds before the creation is seen.
    const missing = this.#expected.find((expectation) => !isMet(expectation));
    if (missing !== undefined) await missing.cache.whenReached(missing.mark, signal);
  }

  async #whenAnswered(): Promise<void> {
    this.#answered = Promise.withResolvers();
    await this.#answered.promise;
  }
}

function isMet({ cache, mark }: Expectation): boolean {
  return cache.reached(mark);
}

export interface UntilSeenOptions {
  readonly client: Pick<Client, "list">;
  readonly environment: Environment;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const readBackoff = { initialMs: 100, maxMs: 10_000, jitter: 0.2 } as const;

/** Resolves when the caches have seen all writes; retries failed reads. Never rejects. */
export async function untilSeen(writes: PendingWrites, { client, environment, log, signal }: UntilSeenOptions): Promise<void> {
  const backoff = new Backoff(readBackoff, environment);
  while (!signal.aborted) {
    try {
      return await writes.settle((kind, ref) => findByList(client, kind, ref, signal), signal);
    } catch (err) {
      if (signal.aborted) return;
      log.debug({ err }, "could not read back an object after a write with an unknown outcome; retrying");
      await backoff.sleep(signal).catch(() => {}); // stopping: the loop checks the signal
    }
  }
}

/**
 * Reads one object by a list with a field selector. Every controller that caches a kind has permission to list it; a get would
 * need one more permission per written kind. The server finds a single name without scanning the others.
 */
export async function findByList(
  client: Pick<Client, "list">,
  kind: Kind,
  { namespace, name }: ObjectRef,
  signal: AbortSignal,
): Promise<Stored<KubernetesObject> | undefined> {
  const fieldSelector = `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`; // names of Roles can contain almost any character
  const { items } = await client.list(kind, { namespace, fieldSelector, signal });
  return items[0];
}
