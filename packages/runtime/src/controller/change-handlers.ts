// The triggers of reconciles, from the moment the caches of a controller are synced until it drains: the objects that exist,
// every change, the sources of the controller, and a periodic resync. Each trigger adds a key to the queue.
//
// User-defined predicates and map functions run here, between the watch and the queue. If one throws, the error is logged, the
// change counts as relevant, and the watch continues.
import type { Cache } from "../cache/cache.ts";
import type { Change } from "../cache/store.ts";
import { Backoff } from "../concurrency/backoff.ts";
import type { Cancel, Environment, Logger } from "../concurrency/environment.ts";
import type { AddOptions } from "../concurrency/work-queue.ts";
import {
  controllerOf,
  isReferenceTo,
  type Kind,
  type KubernetesObject,
  keyOf,
  type Stored,
  trackingAnnotation,
  trackingLabel,
} from "../objects/object.ts";
import type { CacheReader } from "./context.ts";
import { type AnyPredicate, type AnyWatch, asDeclared, type Controller, type Source, type SourceContext } from "./controller.ts";

export interface ChangeHandlerOptions {
  readonly controller: Controller;
  readonly cacheOf: (kind: Kind) => Cache;
  readonly cached: CacheReader;
  readonly environment: Environment;
  readonly log: Logger;
  /** Aborts when the controller drains. */
  readonly signal: AbortSignal;
  add(key: string, options: AddOptions): void;
  /** Returns undefined to continue, or a promise to await first. */
  yieldIfDue(): Promise<void> | undefined;
}

/** Changed objects are reconciled before objects that were only listed. */
const priorities = { event: 0, listed: -10 } as const;

/** Call it when the caches are synced: a process that waits to become the leader needs no queue. */
export function startChangeHandlers(options: ChangeHandlerOptions): Cancel {
  const { signal, log } = options;
  const unlessStopped = (message: string) => (err: unknown) => signal.aborted || log.error({ err }, message);
  const handlers = attachHandlers(options);
  enqueueAll(handlers, options).catch(unlessStopped("could not enqueue all existing objects; changes still trigger reconciles"));
  void runSources(options);
  resync(options).catch(unlessStopped("resync stopped; only changes and sources trigger reconciles from now on"));
  return () => {
    for (const { cancel } of handlers) cancel();
  };
}

interface Handler {
  readonly cache: Cache;
  readonly handle: (change: Change) => void;
  readonly cancel: Cancel;
}

type KeysOf = (change: Change) => Iterable<string>;

/** One handler per cache: of the reconciled kind, the owned kinds and the watched kinds. */
function attachHandlers(options: ChangeHandlerOptions): readonly Handler[] {
  const { controller, cacheOf, add, log } = options;
  const { kind, plan } = controller;
  const attach = (source: Kind, keysOf: KeysOf, predicate: AnyPredicate | undefined): Handler => {
    const cache = cacheOf(source);
    const handle = (change: Change) => {
      if (!isRelevant(change, predicate, log)) return;
      const reason = change.initial ? "listed" : `${source.kind} ${keyOf(change.object.metadata)} ${change.type}`;
      for (const key of keysOf(change)) add(key, { reason, priority: change.initial ? priorities.listed : priorities.event });
    };
    return { cache, handle, cancel: cache.onChange(handle) };
  };
  return [
    attach(kind, ({ object }) => [keyOf(object.metadata)], plan.predicate),
    ...plan.owns.map((owned) => attach(owned.kind, (change) => ownersIn(kind, change), owned.predicate)),
    ...plan.watches.map((watch) => attach(watch.kind, mapped(watch, options), watch.predicate)),
  ];
}

/** Enqueues the objects that the caches already hold. */
async function enqueueAll(handlers: readonly Handler[], options: ChangeHandlerOptions): Promise<void> {
  for (const { cache, handle } of handlers)
    for (const object of cache.objects()) {
      const pause = pauseIn(options);
      if (pause !== undefined) await pause;
      handle({ type: "added", object, initial: true });
    }
}

/** Enqueues every object every `resyncMs`, plus or minus a tenth. */
async function resync(options: ChangeHandlerOptions): Promise<void> {
  const { controller, cacheOf, environment, signal, add } = options;
  const { resyncMs } = controller.plan;
  while (resyncMs > 0) {
    await environment.clock.sleep(resyncMs * (0.9 + 0.2 * environment.random()), signal);
    for (const { metadata } of cacheOf(controller.kind).objects()) {
      const pause = pauseIn(options);
      if (pause !== undefined) await pause;
      add(keyOf(metadata), { reason: "resync", priority: priorities.listed, respectBackoff: true });
    }
  }
}

/** Adding 20,000 keys at once would block the event loop. @throws when the controller drains */
function pauseIn({ signal, yieldIfDue }: ChangeHandlerOptions): Promise<void> | undefined {
  signal.throwIfAborted();
  return yieldIfDue();
}

function isRelevant(change: Change, predicate: AnyPredicate | undefined, log: Logger): boolean {
  try {
    return predicate?.(asDeclared(change)) ?? true;
  } catch (err) {
    log.error({ err, object: keyOf(change.object.metadata) }, "predicate failed; the change triggers a reconcile");
    return true;
  }
}

/** The owner of a child, by owner reference or by label, and the previous one if the change replaced it. */
function ownersIn(kind: Kind, { object, previous }: Change): Set<string> {
  const states = previous === undefined ? [object] : [object, previous];
  return new Set(states.map((state) => ownerKey(kind, state)).filter((key) => key !== undefined));
}

function ownerKey(kind: Kind, child: Stored<KubernetesObject>): string | undefined {
  const owner = controllerOf(child);
  if (owner === undefined || !isReferenceTo(kind, owner)) return trackingOwner(kind, child);
  const { namespace } = child.metadata;
  return keyOf(kind.namespaced && namespace !== undefined ? { namespace, name: owner.name } : { name: owner.name });
}

function trackingOwner(kind: Kind, { metadata }: Stored<KubernetesObject>): string | undefined {
  return metadata.labels?.[trackingLabel(kind)] === undefined ? undefined : metadata.annotations?.[trackingAnnotation(kind)];
}

function mapped({ map }: AnyWatch, { cached, log }: ChangeHandlerOptions): KeysOf {
  const addKeys = (object: Stored<KubernetesObject>, keys: Set<string>) => {
    try {
      for (const ref of map(asDeclared(object), cached)) keys.add(keyOf(ref));
    } catch (err) {
      log.error({ err, object: keyOf(object.metadata) }, "map function failed; objects it has not returned yet are not enqueued");
    }
  };
  return ({ object, previous }) => {
    const keys = new Set<string>();
    addKeys(object, keys);
    if (previous !== undefined) addKeys(previous, keys);
    return keys;
  };
}

/** Resolves after the signal aborts and all sources have ended. Never rejects. */
export async function runSources(options: ChangeHandlerOptions): Promise<void> {
  const { controller, cached, environment, log, signal, add } = options;
  const enqueue: SourceContext["enqueue"] = (ref, reason, enqueueOptions) => add(keyOf(ref), { ...enqueueOptions, reason });
  const context = { enqueue, cached, environment, log, signal };
  await Promise.all(controller.plan.sources.map((source) => keepRunning(source, context)));
}

const restartBackoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0.2 } as const;

/** Restarts a failed source without a limit: a source that stays down would go unnoticed. */
async function keepRunning({ name, run }: Source, context: SourceContext): Promise<void> {
  const { environment, signal } = context;
  const log = context.log.child({ source: name });
  const enqueue: SourceContext["enqueue"] = (ref, reason, enqueueOptions) =>
    context.enqueue(ref, `${name}: ${reason}`, enqueueOptions);
  const backoff = new Backoff(restartBackoff, environment);
  while (!signal.aborted) {
    try {
      return await run({ ...context, enqueue, log });
    } catch (err) {
      if (signal.aborted) return;
      log.error({ err }, "source failed; restarting it");
      await backoff.sleep(signal).catch(() => {}); // stopping: the loop checks the signal
    }
  }
}
