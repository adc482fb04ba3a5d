// The loop of a controller: caches fill the queue, workers empty it. Starting has two steps, because a process
// that is not the leader must be ready to become it: `start` opens the caches, `work` reconciles.
//
// A key is not always reconciled at once. While a cache of the controller is not synced, none is (W3), and a key whose
// own writes the caches have not seen is set aside until they have (W1); meanwhile the worker takes the next key.
import type { SharedCaches } from "../cache/cache.ts";
import type { Client } from "../client/client.ts";
import type { Cancel, Clock, Environment, Logger } from "../concurrency/environment.ts";
import { type AddOptions, runKeyed, type WorkItem, WorkQueue } from "../concurrency/work-queue.ts";
import { type Kind, keyOf, type ObjectRef } from "../objects/object.ts";
import { grantedClient } from "../schema/restricted-client.ts";
import { startChangeHandlers } from "./change-handlers.ts";
import type { EventSink } from "./context.ts";
import { asDeclared, type Controller, kindsOf } from "./controller.ts";
import { ReconcileEndedError } from "./errors.ts";
import { History, type HistoryOptions, type ReconcileRecord } from "./explain.ts";
import { type KeyState, KeyStates, untilSeen } from "./key-state.ts";
import { type ControllerMetrics, controllerMetrics, type Metrics } from "./metrics.ts";
import { NameConflicts, OpenCaches } from "./open-caches.ts";
import { type Reconciled, type ReconcilerDeps, reconcileOnce } from "./reconcile.ts";
import { AppliedChildren, WriteResults } from "./settled.ts";

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
  readonly #metrics: ControllerMetrics;
  readonly #states = new KeyStates();
  readonly #deps: ReconcilerDeps;
  readonly #cancels: Cancel[] = [];
  readonly #yielder: EventLoopYielder;
  /** Aborts when no new work is to start. */
  readonly #draining = new AbortController();
  /** Aborts when running reconciles must end, too. */
  readonly #aborting = new AbortController();
  #working: Promise<void> | undefined;

  constructor(controller: Controller, dependencies: ControllerDependencies) {
    const { environment, metrics, client, events } = dependencies;
    this.controller = controller;
    this.#dependencies = dependencies;
    this.#yielder = new EventLoopYielder(environment.clock);
    this.#log = dependencies.log.child({ controller: controller.name });
    this.#history = new History(dependencies.history);
    this.#metrics = controllerMetrics(controller, metrics, () => this.#queue.stats());
    this.#queue = new WorkQueue({ environment, groupOf: namespaceOf, observer: this.#metrics.queue });
    this.#deps = {
      controller,
      client: grantedClient(client, controller.grants),
      clock: environment.clock,
      events,
      caches: new OpenCaches(controller.name),
      appliedChildren: new AppliedChildren(),
      writtenStatuses: new WriteResults(),
      nameConflicts: new NameConflicts(),
      ended: new ReconcileEndedError(controller.name),
      random: environment.random,
    };
  }

  /** Opens the caches. */
  start(): void {
    const { kind, plan } = this.controller;
    const { caches, writtenStatuses, appliedChildren, nameConflicts } = this.#deps;
    const owned = plan.owns.map((each) => each.kind);
    caches.open(kindsOf(this.controller), this.#dependencies.caches);
    const onRemoved = (of: Kind, forget: (uid: string, key: string) => void) =>
      caches.of(of).onChange(({ type, object: { metadata } }) => {
        if (type === "removed") forget(metadata.uid, keyOf(metadata));
      });
    const forgetObject = (uid: string, key: string) => {
      writtenStatuses.forget(uid);
      this.#states.forget(key);
    };
    this.#cancels.push(this.#metrics.close, onRemoved(kind, forgetObject));
    for (const each of owned) {
      const enqueue = (key: string, reason: string) => this.#add(key, { reason });
      this.#cancels.push(onRemoved(each, (uid) => appliedChildren.forget(uid)));
      this.#cancels.push(nameConflicts.attach(each, caches.of(each), enqueue));
    }
  }

  /** Whether every cache of the controller is synced. */
  get synced(): boolean {
    return this.#deps.caches.synced;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.#deps.caches.whenSynced(signal);
  }

  /** Reconciles, from the moment the caches are synced until `stop`. */
  work(): void {
    if (this.#working !== undefined) return;
    const { concurrency } = this.controller.plan;
    const onError = (err: unknown, { key }: WorkItem) => this.#log.error({ err, object: key }, "internal error");
    this.#working = runKeyed(this.#queue, { concurrency, work: (item) => this.#process(item), onError });
    void this.#fillQueue();
  }

  /** Takes no more work, lets running reconciles finish (until the signal aborts), and closes the caches. */
  async stop(signal?: AbortSignal): Promise<void> {
    this.#draining.abort();
    const abort = () => this.#aborting.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    await this.#queue.shutDown();
    await this.#working;
    signal?.removeEventListener("abort", abort);
    this.#yielder.stop();
    for (const cancel of this.#cancels.splice(0)) cancel();
    await this.#deps.caches[Symbol.asyncDispose]();
  }

  /** Reconciles an object, for triggers from outside the cluster. */
  enqueue(ref: ObjectRef, reason: string): void {
    this.#add(keyOf(ref), { reason });
  }

  /** The last reconciles of an object, newest last. */
  explain(ref: ObjectRef): readonly ReconcileRecord[] {
    return this.#history.of(keyOf(ref));
  }

  /** The objects that `explain` has records of. */
  explained(): readonly string[] {
    return this.#history.keys();
  }

  /** Never rejects. */
  async #fillQueue(): Promise<void> {
    const { signal } = this.#draining;
    if (!(await this.#isSynced()) || signal.aborted) return;
    const { caches } = this.#deps;
    this.#cancels.push(
      startChangeHandlers({
        controller: this.controller,
        cacheOf: (kind) => caches.of(kind),
        cached: caches,
        environment: this.#dependencies.environment,
        log: this.#log,
        signal,
        add: (key, options) => this.#add(key, options),
        yieldIfDue: () => this.#yielder.yieldIfDue(),
      }),
    );
  }

  /** Adds the priority that the controller's `priority` function returns for the object. */
  #add(key: string, { priority = 0, ...options }: AddOptions): void {
    this.#queue.add(key, { ...options, priority: priority + this.#priorityOf(key) });
  }

  #priorityOf(key: string): number {
    const { kind, plan } = this.controller;
    if (plan.priority === undefined) return 0;
    const object = this.#deps.caches.get(kind, refOfKey(key));
    if (object === undefined) return 0;
    try {
      return plan.priority(asDeclared(object));
    } catch (err) {
      this.#log.error({ err, object: key }, "priority function failed; the object gets priority 0");
      return 0;
    }
  }

  async #process(item: WorkItem): Promise<void> {
    const since = this.#dependencies.environment.clock.monotonic() - item.waitedMs;
    await this.#yielder.yieldIfDue();
    const { synced } = this;
    if (!synced && !(await this.#isSynced())) return;
    const state = this.#states.of(item.key);
    if (!synced) state.delay(since, "caches");
    if (state.writes.seen) return this.#reconcile(item, state, since);
    state.delay(since, "own writes");
    this.#setAside(item, state);
  }

  async #reconcile({ key, reasons }: WorkItem, state: KeyState, since: number): Promise<void> {
    const { clock, uuid } = this.#dependencies.environment;
    const began = clock.monotonic();
    const waited = state.begin(reasons, since, began);
    this.#metrics.begun(waited.waitedMs / 1_000);
    const atMs = clock.now();
    // Every log line of one reconcile carries the same ID. Created with the first line: most reconciles log nothing.
    let log: Logger | undefined;
    const logOnce = () => {
      log ??= this.#log.child({ object: key, reconcileID: uuid() });
      return log;
    };
    const reconciled = await reconcileOnce(this.#deps, {
      key,
      ref: refOfKey(key),
      log: logOnce,
      writes: state.writes,
      failures: state.failures,
      stopping: this.#aborting.signal,
    });
    const tookMs = clock.monotonic() - began;
    this.#history.add(key, { atMs, ...waited, tookMs, ...reconciled.record });
    this.#conclude(key, state, reconciled, tookMs);
    const { ending, next, record } = reconciled;
    const { againInMs } = next;
    const fields = { tookMs: Math.round(tookMs), ...(againInMs !== undefined && { againInMs: Math.round(againInMs) }) };
    if ("error" in ending && !ending.stopping) logOnce()[next.log]({ ...fields, err: ending.error }, "reconcile failed");
    else (log ?? this.#log).debug({ ...fields, object: key }, `reconciled: ${record.ended}`);
  }

  /** Waits until the caches are synced; returns false if the controller stops first. */
  async #isSynced(): Promise<boolean> {
    try {
      await this.whenSynced(this.#draining.signal);
      return true;
    } catch {
      return false;
    }
  }

  #conclude(key: string, state: KeyState, { ending, next, record }: Reconciled, tookMs: number): void {
    state.failures = next.failed ? state.failures + 1 : 0;
    this.#metrics.reconciled(next, ending, tookMs / 1_000);
    if (next.againInMs !== undefined) {
      const backoff = "error" in ending;
      const reason = backoff ? `retry ${state.failures}` : record.ended;
      this.#queue.addAfter(key, next.againInMs, { reason, priority: this.#priorityOf(key), backoff });
    }
    this.#states.keep(key, state);
  }

  /** Keeps the key out of the queue until the caches have seen its writes. */
  #setAside({ key, reasons, priority }: WorkItem, state: KeyState): void {
    if (!state.setAside(reasons)) return;
    const { client, environment } = this.#dependencies;
    const { signal } = this.#draining;
    void untilSeen(state.writes, { client, environment, log: this.#log, signal }).then(() => {
      for (const reason of state.resume() ?? []) this.#queue.add(key, { reason, priority });
    });
  }
}

/** The inverse of keyOf: no name contains a slash. */
function refOfKey(key: string): ObjectRef {
  const slash = key.indexOf("/");
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Namespaces take turns: a busy one does not delay the others. */
function namespaceOf(key: string): string {
  return refOfKey(key).namespace ?? "";
}

/**
 * Reconciles that only read the caches never leave the microtask queue: twenty thousand of them at the start of an operator
 * would run for seconds, while no watch is read, no probe answered and no Lease renewed. So the runner checks before each key
 * whether to yield to the event loop.
 */
export class EventLoopYielder {
  readonly #clock: Clock;
  readonly #turnMs: number;
  /** A timer that fires in the next turn of the event loop. */
  #untilTurn: Cancel | undefined;
  #turnBegan = 0;

  /** @param turnMs The maximum duration of one turn of the event loop, not counting its last reconcile. */
  constructor(clock: Clock, turnMs = 3) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Returns undefined to continue, or a promise to await first. */
  yieldIfDue(): Promise<void> | undefined {
    if (this.#untilTurn === undefined) {
      this.#turnBegan = this.#clock.monotonic();
      this.#untilTurn = this.#clock.after(0, () => {
        this.#untilTurn = undefined;
      });
      return undefined;
    }
    if (this.#clock.monotonic() - this.#turnBegan < this.#turnMs) return undefined;
    return this.#clock.sleep(0);
  }

  stop(): void {
    this.#untilTurn?.();
    this.#untilTurn = undefined;
  }
}
