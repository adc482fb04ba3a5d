// Of several replicas one works and the others wait: the one that holds a Lease. Times as client-go's:
//
//     every 2 s   the holder renews; the others look (at a random time up to 4.4 s, so that they do not all come at once)
//     10 s        without a renewal the holder gives up by itself
//     15 s        without a renewal the others take over
//
// The gap between giving up and taking over is for what is still in flight. It is a courtesy, not a fence: a process that
// the machine froze for a minute wakes up believing that it leads. Two leaders must be harmless (promise L1); that is why
// every write of ours is a compare-and-swap. What is promised here is that a loser notices and stops (L2).
import type { Client } from "../client/client.ts";
import { anySignal } from "../concurrency/abort.ts";
import { jittered } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { keyOf, type ObjectRef } from "../objects/object.ts";
import { LeadershipLostError } from "./errors.ts";
import { LeaseLock } from "./lease-lock.ts";

export interface LeaderElectionOptions {
  readonly client: Pick<Client, "find" | "create" | "update">;
  /** The Lease that candidates compete for. */
  readonly lease: ObjectRef;
  /** Who we are: unique to this process. */
  readonly identity: string;
  /** How long others wait, after the last renewal they saw, before they take over. @default 15 s */
  readonly leaseDurationMs?: number;
  /** How long we go on without a renewal. Must be shorter than the lease's duration. @default 10 s */
  readonly renewDeadlineMs?: number;
  /** Time between two tries. @default 2 s */
  readonly retryPeriodMs?: number;
  readonly environment: Environment;
  readonly log: Logger;
  /** Told when we begin and end to lead, for `leader_election_master_status`. */
  readonly onChange?: (leading: boolean) => void;
}

/** While this is held, we lead. */
export interface Leadership {
  /** Aborts, with a LeadershipLostError, the moment we may no longer assume to lead. Everything in flight hangs on it. */
  readonly lost: AbortSignal;
  /** Stops renewing and gives the Lease up. Stop taking work before: a successor may begin the moment we let go. */
  release(): Promise<void>;
}

/** Waits for our turn. Rejects only if the signal aborts. */
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
        return new Held(options, lock, triedAt);
      }
      if (holder !== holding.holder) log.info({ lease: keyOf(lease), holder: holding.holder }, "another leads; waiting");
      holder = holding.holder;
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ err, lease: keyOf(lease) }, "cannot take the lease; trying again");
    }
    await clock.sleep(jittered(timing.retryPeriodMs, 1.2, random), signal);
  }
}

class Held implements Leadership {
  readonly #options: LeaderElectionOptions;
  readonly #timing: Timing;
  readonly #lock: LeaseLock;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  readonly #renewing: Promise<void>;
  /** When the request of the last successful renewal was sent: from then on others count. */
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
      log.info({ lease: keyOf(lease) }, "gave up the lease");
    } catch (err) {
      log.warn({ err, lease: keyOf(lease) }, "could not give up the lease; a successor has to wait until it runs out");
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
      if (holding === undefined) return log.warn({ lease: keyOf(lease) }, "somebody else writes to the lease; trying again");
      if (!holding.ours) return this.#lose(`${holding.holder} holds it`);
      this.#renewedAt = sentAt;
      this.#setDeadline();
    } catch (err) {
      if (!signal.aborted) log.warn({ err, lease: keyOf(lease) }, "could not renew the lease; trying again");
    }
  }

  /** A timer of its own, so that not even a request that never ends can make us lead for too long. */
  #setDeadline(): void {
    const { clock } = this.#options.environment;
    const { renewDeadlineMs } = this.#timing;
    this.#cancelDeadline();
    const leftMs = this.#renewedAt + renewDeadlineMs - clock.monotonic();
    this.#cancelDeadline = clock.after(leftMs, () => this.#lose(`it could not be renewed for ${renewDeadlineMs / 1000} s`));
  }

  #lose(why: string): void {
    if (this.#lost.signal.aborted || this.#stop.signal.aborted) return;
    this.#cancelDeadline();
    this.#options.onChange?.(false);
    this.#lost.abort(new LeadershipLostError(`expected to hold lease ${keyOf(this.#options.lease)}, found that ${why}`));
  }
}

interface Timing {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** Half the deadline: a connection that swallows everything must leave time for a second try on another. */
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
