// The Lease object as a lock. Every write carries the version that was read, so of several who try to take it one wins.
// Whether somebody else's claim has run out is judged by our own monotonic clock: how long have *we* seen it unchanged?
// The times written into the Lease are for people; the clocks of two machines may be hours apart and it does not matter.
import type { Client } from "../client/client.ts";
import { AlreadyExistsError, ConflictError, NotFoundError } from "../client/errors.ts";
import type { Clock } from "../concurrency/environment.ts";
import { Lease, type LeaseSpec } from "../objects/kinds/coordination.ts";
import type { ObjectRef, Stored } from "../objects/object.ts";
import { formatMicroTime } from "../objects/time.ts";

export interface LeaseLockOptions {
  readonly client: Pick<Client, "find" | "create" | "update">;
  readonly lease: ObjectRef;
  /** Must differ between processes, also between two of the same pod. */
  readonly identity: string;
  /** How long others wait, after the last renewal they saw, before they take over. */
  readonly durationMs: number;
  readonly clock: Clock;
}

/** Who has it: we, or this somebody else. */
export type Holding = { readonly ours: true } | { readonly ours: false; readonly holder: string };

interface CallLimits {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /** The Lease as last seen, and since when we have seen its claim unchanged. */
  #seen: { readonly lease: Stored<Lease>; readonly sinceMs: number } | undefined;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
  }

  /** Takes the Lease if nobody has it, or nobody has had it for long enough. */
  async acquire(limits: CallLimits): Promise<Holding> {
    return (await this.#tryToTake(limits)) ?? { ours: false, holder: "somebody who was faster" };
  }

  async #tryToTake(limits: CallLimits): Promise<Holding | undefined> {
    const { client, lease, identity } = this.#options;
    const seen = await client.find(Lease, lease, limits);
    if (seen !== undefined) this.#see(seen);
    if (seen !== undefined && this.#isHeldByAnother()) return this.#holding();
    const spec = { ...this.#claim(), leaseTransitions: transitionsAfter(seen?.spec, identity), acquireTime: this.#now() };
    return this.#write(seen === undefined ? undefined : { ...seen, spec: { ...seen.spec, ...spec } }, spec, limits);
  }

  /**
   * Renews our claim. Says who has the Lease now; undefined if somebody wrote to it each time we tried, which may have been no more
   * than a label. Neither that nor a failure to reach the server, which is thrown, decides anything.
   */
  async renew(limits: CallLimits): Promise<Holding | undefined> {
    const known = this.#seen?.lease;
    if (known !== undefined && this.#isOurs()) {
      const holding = await this.#write({ ...known, spec: { ...known.spec, ...this.#claim() } }, {}, limits);
      if (holding?.ours) return holding;
    }
    // Somebody wrote to the Lease: look before concluding anything.
    return this.#renewAfterLooking(limits);
  }

  /** Gives it up, so that a successor need not wait for it to run out. Nothing happens if it is not ours any more. */
  async release(limits: CallLimits): Promise<void> {
    const seen = await this.#options.client.find(Lease, this.#options.lease, limits);
    if (seen === undefined || seen.spec?.holderIdentity !== this.#options.identity) return;
    const spec = { ...seen.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: this.#now() };
    await this.#options.client.update(Lease, { ...seen, spec }, limits);
  }

  /** Who has it, as last seen. */
  #holding(): Holding {
    return this.#isOurs() ? { ours: true } : { ours: false, holder: this.#seen?.lease.spec?.holderIdentity ?? "" };
  }

  async #renewAfterLooking(limits: CallLimits): Promise<Holding | undefined> {
    const { client, lease } = this.#options;
    const seen = await client.find(Lease, lease, limits);
    if (seen === undefined) return this.#tryToTake(limits); // deleted under us: as good as free
    this.#see(seen);
    if (!this.#isOurs()) return this.#holding();
    return this.#write({ ...seen, spec: { ...seen.spec, ...this.#claim() } }, {}, limits);
  }

  /** Updates what was read, or creates. Undefined if somebody else wrote first, or deleted it. */
  async #write(read: Stored<Lease> | undefined, fresh: LeaseSpec, limits: CallLimits): Promise<Holding | undefined> {
    const { client, lease } = this.#options;
    try {
      if (read === undefined) this.#see(await client.create(Lease, { metadata: lease, spec: fresh }, limits));
      else this.#see(await client.update(Lease, read, limits));
      return this.#holding();
    } catch (error) {
      const deleted = read !== undefined && error instanceof NotFoundError;
      const beaten = error instanceof ConflictError || error instanceof AlreadyExistsError;
      if (beaten || deleted) return undefined;
      throw error;
    }
  }

  #claim(): LeaseSpec {
    const { identity, durationMs } = this.#options;
    return { holderIdentity: identity, leaseDurationSeconds: Math.ceil(durationMs / 1000), renewTime: this.#now() };
  }

  #see(lease: Stored<Lease>): void {
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
    // The holder's own word on how long its claim is good for counts, not ours.
    const goodForMs = leaseDurationSeconds === undefined ? this.#options.durationMs : leaseDurationSeconds * 1000;
    return holderIdentity !== "" && this.#options.clock.monotonic() - this.#seen.sinceMs < goodForMs;
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

/** How often the Lease has changed hands. */
function transitionsAfter(spec: LeaseSpec | undefined, identity: string): number {
  if (spec === undefined) return 0;
  return (spec.leaseTransitions ?? 0) + (spec.holderIdentity === identity ? 0 : 1);
}
