// Leader election: the replica that holds a Lease reconciles and the others wait. The defaults are client-go's:
//
//     every 2 s   the leader renews; the others check the Lease (every 2 to 4.4 s, with jitter, so that they do not synchronize)
//     10 s        without a renewal the leader stops
//     15 s        without a renewal another replica takes over
//
// The gap between stopping and taking over lets requests in flight finish. It does not exclude a second leader: a process that was
// suspended for a minute resumes believing that it leads. Therefore two leaders must do no harm (L1 in docs/invariants.md): every
// write is a compare-and-swap. This file ensures that a leader that lost the Lease notices and stops (L2).
import type { Client } from "../client/client.ts";
import { AlreadyExistsError, ConflictError, NotFoundError } from "../client/errors.ts";
import { anySignal } from "../concurrency/abort.ts";
import { jittered } from "../concurrency/backoff.ts";
import type { Clock, Environment, Logger } from "../concurrency/environment.ts";
import { Lease, type LeaseSpec } from "../objects/kinds/access.ts";
import { keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import { formatMicroTime } from "../objects/time.ts";
import { LeadershipLostError } from "./errors.ts";

export interface LeaderElectionOptions {
  readonly client: Pick<Client, "find" | "create" | "update">;
  /** The Lease that candidates compete for. */
  readonly lease: ObjectRef;
  /** Identifies this process: must differ between processes, even two of the same pod. */
  readonly identity: string;
  /** How long other candidates wait after the last renewal they saw before they take over. @default 15 s */
  readonly leaseDurationMs?: number;
  /** How long the leader continues without a renewal. Must be less than `leaseDurationMs`. @default 10 s */
  readonly renewDeadlineMs?: number;
  /** Time between two attempts to acquire or renew. @default 2 s */
  readonly retryPeriodMs?: number;
  readonly environment: Environment;
  readonly log: Logger;
  /** Called when this process starts or stops leading, for `leader_election_master_status`. */
  readonly onChange?: (leading: boolean) => void;
}

/** Held by the leader until it is lost or released. */
export interface Leadership {
  /** Aborts with a LeadershipLostError as soon as leadership is no longer certain. All work in flight must observe it. */
  readonly lost: AbortSignal;
  /** Stops renewing and releases the Lease. Stop all work first: a successor may start immediately. */
  release(): Promise<void>;
}

/** Waits until this process leads. Rejects only if the signal aborts. */
export async function acquireLeadership(options: LeaderElectionOptions, signal: AbortSignal): Promise<Leadership> {
  const timing = timingOf(options);
  const { environment, lease, identity, log } = options;
  const { clock, random } = environment;
  const lock = new LeaseLock({ ...options, durationMs: timing.leaseDurationMs, clock });
  let holder: string | undefined;
  for (;;) {
    const triedAt = clock.monotonic();
    try {
      const holding = await lock.acquire({ signal, timeoutMs: timing.callTimeoutMs });
      if (holding.ours) {
        log.info({ lease: keyOf(lease), identity }, "became leader");
        return new HeldLeadership(options, lock, triedAt);
      }
      if (holder !== holding.holder) log.info({ lease: keyOf(lease), holder: holding.holder }, "another replica leads; waiting");
      holder = holding.holder;
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ err, lease: keyOf(lease) }, "could not acquire the lease; retrying");
    }
    await clock.sleep(jittered(timing.retryPeriodMs, 1.2, random), signal);
  }
}

class HeldLeadership implements Leadership {
  readonly #options: LeaderElectionOptions;
  readonly #timing: Timing;
  readonly #lock: LeaseLock;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  readonly #renewing: Promise<void>;
  /** When the request of the last successful renewal was sent: other candidates cannot have seen it earlier. */
  #renewedAt: number;
  #cancelDeadline: () => void = () => {};

  constructor(options: LeaderElectionOptions, lock: LeaseLock, renewedAt: number) {
    this.#options = options;
    this.#timing = timingOf(options);
    this.#lock = lock;
    this.#renewedAt = renewedAt;
    this.#setDeadline();
    options.onChange?.(true);
    this.#renewing = this.#renewForever();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async release(): Promise<void> {
    const { log, lease, onChange } = this.#options;
    this.#cancelDeadline();
    this.#stop.abort();
    await this.#renewing;
    if (this.#lost.signal.aborted) return;
    onChange?.(false);
    try {
      await this.#lock.release({ timeoutMs: this.#timing.callTimeoutMs });
      log.info({ lease: keyOf(lease) }, "released the lease");
    } catch (err) {
      log.warn({ err, lease: keyOf(lease) }, "could not release the lease; a successor has to wait until it expires");
    }
  }

  async #renewForever(): Promise<void> {
    using over = anySignal([this.#stop.signal, this.#lost.signal]);
    const { signal } = over;
    while (!signal.aborted) {
      await this.#options.environment.clock.sleep(this.#timing.retryPeriodMs, signal).catch(() => {});
      if (!signal.aborted) await this.#renew(signal);
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { environment, log, lease } = this.#options;
    const sentAt = environment.clock.monotonic();
    try {
      const holding = await this.#lock.renew({ signal, timeoutMs: this.#timing.callTimeoutMs });
      if (holding === undefined) return log.warn({ lease: keyOf(lease) }, "the lease was modified concurrently; retrying");
      if (!holding.ours) return this.#lose(`${holding.holder} holds it`);
      this.#renewedAt = sentAt;
      this.#setDeadline();
    } catch (err) {
      if (!signal.aborted) log.warn({ err, lease: keyOf(lease) }, "could not renew the lease; retrying");
    }
  }

  /** Uses a separate timer, so that a request that never completes cannot extend leadership. */
  #setDeadline(): void {
    const { clock } = this.#options.environment;
    const { renewDeadlineMs } = this.#timing;
    this.#cancelDeadline();
    const leftMs = this.#renewedAt + renewDeadlineMs - clock.monotonic();
    this.#cancelDeadline = clock.after(leftMs, () => this.#lose(`it could not be renewed for ${renewDeadlineMs / 1000} s`));
  }

  #lose(reason: string): void {
    if (this.#lost.signal.aborted || this.#stop.signal.aborted) return;
    this.#cancelDeadline();
    this.#options.onChange?.(false);
    this.#lost.abort(new LeadershipLostError(`expected to hold lease ${keyOf(this.#options.lease)}, found that ${reason}`));
  }
}

interface Timing {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** Half the deadline: if a connection never answers, there is time for a second attempt on another one. */
  readonly callTimeoutMs: number;
}

function timingOf(options: LeaderElectionOptions): Timing {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs * 1.2))
    throw new RangeError(
      `expected leaseDurationMs > renewDeadlineMs > 1.2 × retryPeriodMs, found ${leaseDurationMs}, ${renewDeadlineMs}, ${retryPeriodMs}`,
    );
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs, callTimeoutMs: renewDeadlineMs / 2 };
}

// The Lease object as a lock. Every write carries the resourceVersion that was read, so of several candidates only one succeeds.
// Expiry is measured with our own monotonic clock, from when we last saw the claim change. The timestamps in the Lease are
// informational, so clock skew between machines does not matter.

interface LeaseLockOptions {
  readonly client: Pick<Client, "find" | "create" | "update">;
  readonly lease: ObjectRef;
  readonly identity: string;
  readonly durationMs: number;
  readonly clock: Clock;
}

/** Who holds the Lease: this process or another candidate. */
type Holding = { readonly ours: true } | { readonly ours: false; readonly holder: string };

interface CallLimits {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** The Lease as last read, and since when its claim has not changed. */
  #seen: { readonly lease: Stored<Lease>; readonly sinceMs: number } | undefined;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Takes the Lease if it has no holder or has expired. */
  async acquire(limits: CallLimits): Promise<Holding> {
    return (await this.#tryAcquire(limits)) ?? { ours: false, holder: "another candidate" };
  }

  async #tryAcquire(limits: CallLimits): Promise<Holding | undefined> {
    const { client, lease, identity } = this.#options;
    const seen = await client.find(Lease, lease, limits);
    if (seen !== undefined) this.#remember(seen);
    if (seen !== undefined && this.#isHeldByAnother()) return this.#holding();
    const spec = { ...this.#claim(), leaseTransitions: transitionsAfter(seen?.spec, identity), acquireTime: this.#now() };
    return this.#write(seen === undefined ? undefined : { ...seen, spec: { ...seen.spec, ...spec } }, spec, limits);
  }

  /**
   * Renews the claim and returns the holder. Returns undefined if every attempt met a concurrent write, which may only have changed
   * a label. Leadership is lost in neither that case nor if the server cannot be reached, which throws.
   */
  async renew(limits: CallLimits): Promise<Holding | undefined> {
    const known = this.#seen?.lease;
    if (known !== undefined && this.#isOurs()) {
      const holding = await this.#write({ ...known, spec: { ...known.spec, ...this.#claim() } }, {}, limits);
      if (holding?.ours) return holding;
    }
    // The Lease was modified concurrently: read it before deciding.
    return this.#readAndRenew(limits);
  }

  /** Clears the holder, so that a successor need not wait for the Lease to expire. Does nothing if another process holds it. */
  async release(limits: CallLimits): Promise<void> {
    const seen = await this.#options.client.find(Lease, this.#options.lease, limits);
    if (seen === undefined || seen.spec?.holderIdentity !== this.#options.identity) return;
    const spec = { ...seen.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: this.#now() };
    await this.#options.client.update(Lease, { ...seen, spec }, limits);
  }

  /** The holder as last read. */
  #holding(): Holding {
    return this.#isOurs() ? { ours: true } : { ours: false, holder: this.#seen?.lease.spec?.holderIdentity ?? "" };
  }

  async #readAndRenew(limits: CallLimits): Promise<Holding | undefined> {
    const { client, lease } = this.#options;
    const seen = await client.find(Lease, lease, limits);
    if (seen === undefined) return this.#tryAcquire(limits); // deleted: anyone may take it
    this.#remember(seen);
    if (!this.#isOurs()) return this.#holding();
    return this.#write({ ...seen, spec: { ...seen.spec, ...this.#claim() } }, {}, limits);
  }

  /** Updates the Lease that was read, or creates it. Returns undefined if it was modified or deleted concurrently. */
  async #write(read: Stored<Lease> | undefined, fresh: LeaseSpec, limits: CallLimits): Promise<Holding | undefined> {
    const { client, lease } = this.#options;
    try {
      if (read === undefined) this.#remember(await client.create(Lease, { metadata: lease, spec: fresh }, limits));
      else this.#remember(await client.update(Lease, read, limits));
      return this.#holding();
    } catch (error) {
      const deleted = read !== undefined && error instanceof NotFoundError;
      const conflicted = error instanceof ConflictError || error instanceof AlreadyExistsError;
      if (conflicted || deleted) return undefined;
      throw error;
    }
  }

  #claim(): LeaseSpec {
    const { identity, durationMs } = this.#options;
    return { holderIdentity: identity, leaseDurationSeconds: Math.ceil(durationMs / 1000), renewTime: this.#now() };
  }

  #remember(lease: Stored<Lease>): void {
    const unchanged = this.#seen !== undefined && sameClaim(this.#seen.lease.spec, lease.spec);
    const sinceMs = unchanged && this.#seen !== undefined ? this.#seen.sinceMs : this.#options.clock.monotonic();
    this.#seen = { lease, sinceMs };
  }

  #isOurs(): boolean {
    return this.#seen?.lease.spec?.holderIdentity === this.#options.identity;
  }

  #isHeldByAnother(): boolean {
    if (this.#seen === undefined || this.#isOurs()) return false;
    const { holderIdentity = "", leaseDurationSeconds } = this.#seen.lease.spec ?? {};
    // The duration that the holder wrote applies, not ours.
    const validForMs = leaseDurationSeconds === undefined ? this.#options.durationMs : leaseDurationSeconds * 1000;
    return holderIdentity !== "" && this.#options.clock.monotonic() - this.#seen.sinceMs < validForMs;
  }

  #now(): string {
    return formatMicroTime(this.#options.clock.now());
  }
}

function sameClaim(a: LeaseSpec | undefined, b: LeaseSpec | undefined): boolean {
  return (
    a?.holderIdentity === b?.holderIdentity &&
    a?.renewTime === b?.renewTime &&
    a?.acquireTime === b?.acquireTime &&
    a?.leaseTransitions === b?.leaseTransitions
  );
}

/** How many times the holder has changed. */
function transitionsAfter(spec: LeaseSpec | undefined, identity: string): number {
  if (spec === undefined) return 0;
  return (spec.leaseTransitions ?? 0) + (spec.holderIdentity === identity ? 0 : 1);
}
