// A controller at work: its caches are open, its queue fills, its workers run. Taking part in a cluster has two steps,
// because a process that is not the leader should be ready to become it: `start` opens and listens, `work` works.
//
// A key that comes up is not always reconciled at once. While a cache of the controller is not synced nothing is (promise
// W3), and a key whose own writes the caches have not seen yet is set aside until they have (W1); the worker meanwhile
// takes the next key.
import type { SharedCaches } from "../cache/shared-caches.ts";
import type { Client } from "../client/client.ts";
import type { Cancel, Environment } from "../concurrency/environment.ts";
import { runKeyed } from "../concurrency/keyed-runner.ts";
import type { Logger } from "../concurrency/logger.ts";
import { type AddOptions, type Lease, WorkQueue } from "../concurrency/work-queue.ts";
import { type Kind, keyOf, type ObjectRef } from "../objects/object.ts";
import { narrow } from "../schema/narrowed-client.ts";
import { Breather } from "./breather.ts";
import type { Controller } from "./definition.ts";
import { ReconcileEndedError } from "./errors.ts";
import { History, type HistoryOptions, type ReconcileRecord } from "./explain.ts";
import { type Figures, figuresFor } from "./figures.ts";
import { type KeyState, KeyStates } from "./key-states.ts";
import type { Metrics } from "./metrics.ts";
import type { EventSink } from "./object-events.ts";
import { OpenCaches } from "./open-caches.ts";
import { type Result, reconcileOnce } from "./reconcile.ts";
import type { Workshop } from "./run.ts";
import { Outcomes, Settled } from "./settled.ts";
import { Strangers } from "./strangers.ts";
import { untilSeen } from "./until-seen.ts";
import { wakeUps } from "./wake-ups.ts";

export interface ControllerDependencies {
  readonly client: Client;
  readonly caches: SharedCaches;
  readonly environment: Environment;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: EventSink;
  readonly history?: HistoryOptions;
}

export class ControllerRunner {
  readonly controller: Controller;
  readonly #dependencies: ControllerDependencies;
  readonly #log: Logger;
  readonly #queue: WorkQueue;
  readonly #history: History;
  readonly #figures: Figures;
  readonly #states = new KeyStates();
  readonly #caches: OpenCaches;
  readonly #settled = new Settled();
  readonly #reported = new Outcomes();
  readonly #strangers = new Strangers();
  readonly #workshop: Workshop;
  readonly #cancels: Cancel[] = [];
  readonly #breather: Breather;
  /** No new work. */
  readonly #draining = new AbortController();
  /** No old work, either. */
  readonly #aborting = new AbortController();
  #working: Promise<void> | undefined;

  constructor(controller: Controller, dependencies: ControllerDependencies) {
    const { environment, metrics, client, events } = dependencies;
    this.controller = controller;
    this.#dependencies = dependencies;
    this.#breather = new Breather(environment.clock);
    this.#log = dependencies.log.child({ controller: controller.name });
    this.#history = new History(dependencies.history);
    this.#figures = figuresFor(controller, metrics, () => this.#queue.stats());
    this.#queue = new WorkQueue({ environment, groupOf: namespaceOf, observer: this.#figures.queue });
    this.#caches = new OpenCaches(controller.name);
    const cacheOf = (kind: Kind) => this.#caches.of(kind);
    const cachesOf = (kind: Kind) => this.#caches.allOf(kind);
    const narrowed = narrow(client, controller.grants) as unknown as Client;
    const { clock } = environment;
    const ended = new ReconcileEndedError(controller.name);
    const known = { settled: this.#settled, reported: this.#reported, strangers: this.#strangers };
    this.#workshop = { controller, client: narrowed, clock, events, ...known, ended, cacheOf, cachesOf };
  }

  /** Opens the caches. */
  start(): void {
    const { kind, plan } = this.controller;
    this.#caches.open([kind, ...plan.owns, ...plan.watches.map((watch) => watch.kind)], this.#dependencies.caches);
    const { cacheOf } = this.#workshop;
    this.#cancels.push(this.#figures.close, this.#forgetTheGone(kind, this.#reported));
    for (const owned of plan.owns) {
      const wake = (key: string, reason: string) => this.#queue.add(key, { reason });
      this.#cancels.push(this.#forgetTheGone(owned, this.#settled), this.#strangers.attach(owned, cacheOf(owned), wake));
    }
  }

  /** Every cache it looks at is right. */
  get synced(): boolean {
    return this.#caches.synced;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.#caches.whenSynced(signal);
  }

  /** Reconciles, from the moment the caches are right until `stop`. */
  work(): void {
    if (this.#working !== undefined) return;
    const { concurrency } = this.controller.plan;
    const onError = (err: unknown, { key }: Lease) => this.#log.error({ err, object: key }, "a bug of the runtime");
    this.#working = runKeyed(this.#queue, { concurrency, work: (lease) => this.#attend(lease), onError });
    void this.#fillQueue();
  }

  /** Never rejects. */
  async #fillQueue(): Promise<void> {
    const { signal } = this.#draining;
    if (!(await this.#held()) || signal.aborted) return;
    const { environment } = this.#dependencies;
    const add = (key: string, why: AddOptions) => this.#queue.add(key, why);
    const breathe = () => this.#breather.breathe();
    this.#cancels.push(wakeUps({ workshop: this.#workshop, environment, log: this.#log, signal, add, breathe }));
  }

  /** Takes no more work, lets what is under way finish (until the signal aborts), and closes the caches. */
  async stop(signal?: AbortSignal): Promise<void> {
    this.#draining.abort();
    const abort = () => this.#aborting.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    await this.#queue.shutDown();
    await this.#working;
    signal?.removeEventListener("abort", abort);
    this.#breather.stop();
    for (const cancel of this.#cancels.splice(0)) cancel();
    await this.#caches[Symbol.asyncDispose]();
  }

  /** Has an object looked at, whatever its changes: for triggers from outside the cluster. */
  enqueue(ref: ObjectRef, reason: string): void {
    this.#queue.add(keyOf(ref), { reason });
  }

  /** The last reconciles of an object, newest last. */
  explain(ref: ObjectRef): readonly ReconcileRecord[] {
    return this.#history.of(keyOf(ref));
  }

  /** The objects that `explain` knows something about. */
  explained(): readonly string[] {
    return this.#history.keys();
  }

  async #attend(lease: Lease): Promise<void> {
    const since = this.#dependencies.environment.clock.monotonic() - lease.waitedMs;
    await this.#breather.breathe();
    const { synced } = this;
    if (!synced && !(await this.#held())) return;
    const state = this.#states.of(lease.key);
    if (!synced) state.holdUp(since, "caches");
    if (state.writes.seen) return this.#reconcile(lease, state, since);
    state.holdUp(since, "own writes");
    this.#setAside(lease, state);
  }

  async #reconcile(lease: Lease, state: KeyState, since: number): Promise<void> {
    const { environment } = this.#dependencies;
    const { clock } = environment;
    const began = clock.monotonic();
    const { key, reasons } = lease;
    const waited = state.begin(reasons, since, began);
    this.#figures.begun(waited.waitedMs / 1_000);
    const atMs = clock.now();
    const result = await reconcileOnce({
      workshop: this.#workshop,
      key,
      ref: refOfKey(key),
      log: () => this.#log.child({ object: key }),
      writes: state.writes,
      failures: state.failures,
      stopping: this.#aborting.signal,
      random: environment.random,
    });
    const tookMs = clock.monotonic() - began;
    this.#history.add(key, { atMs, ...waited, tookMs, ...result.record });
    this.#conclude(key, state, result, tookMs);
  }

  /** Waits until the caches are right. False: we stop first. */
  async #held(): Promise<boolean> {
    try {
      await this.whenSynced(this.#draining.signal);
      return true;
    } catch {
      return false;
    }
  }

  #conclude(key: string, state: KeyState, { ending, verdict, record }: Result, tookMs: number): void {
    state.failures = verdict.failed ? state.failures + 1 : 0;
    this.#figures.reconciled(verdict, ending, tookMs / 1_000);
    const { againInMs } = verdict;
    if (againInMs !== undefined) {
      const reason = "outcome" in ending ? record.ended : `retry ${state.failures}`;
      this.#queue.addAfter(key, againInMs, { reason });
    }
    const fields = {
      object: key,
      tookMs: Math.round(tookMs),
      ...(againInMs !== undefined && { againInMs: Math.round(againInMs) }),
    };
    if ("error" in ending && !ending.stopping) this.#log[verdict.log]({ ...fields, err: ending.error }, "reconcile failed");
    else this.#log.debug(fields, `reconciled: ${record.ended}`);
    this.#states.keep(key, state);
  }

  /** The key waits, without a worker, until the caches have seen what it wrote. */
  #setAside({ key, reasons, priority }: Lease, state: KeyState): void {
    if (!state.setAside(reasons)) return;
    const { client, environment } = this.#dependencies;
    const { signal } = this.#draining;
    void untilSeen(state.writes, { client, environment, log: this.#log, signal }).then(() => {
      for (const reason of state.takeUp() ?? []) this.#queue.add(key, { reason, priority });
    });
  }

  #forgetTheGone(kind: Kind, memory: { forget(uid: string): void }): Cancel {
    return this.#caches.of(kind).onChange(({ type, object }) => {
      if (type === "removed") memory.forget(object.metadata.uid);
    });
  }
}

/** The inverse of keyOf: no name contains a slash. */
function refOfKey(key: string): ObjectRef {
  const slash = key.indexOf("/");
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Namespaces take turns: a busy one does not keep the others waiting. */
function namespaceOf(key: string): string {
  return refOfKey(key).namespace ?? "";
}
