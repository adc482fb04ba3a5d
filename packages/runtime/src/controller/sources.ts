// From a change to the keys it matters to. The functions of the user run here, between the watch and the queue: if one of
// them throws, that is logged and the change counts as one that matters as far as can be told; the watch goes on.

import type { Cache } from "../cache/cache.ts";
import type { Change } from "../cache/store.ts";
import type { Cancel } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { type Kind, type KubernetesObject, keyOf, type Stored } from "../objects/object.ts";
import { controllerOf, isReferenceTo } from "../objects/owner.ts";
import type { CachedObjects, CacheReader, Plan, Watch } from "./definition.ts";
import { cachedObjects } from "./open-caches.ts";

/** A key needs attention. `eager`: something has just happened to it; otherwise it is part of a listing. */
export type Enqueue = (key: string, reason: string, eager: boolean) => void;

export interface SourceOptions {
  readonly kind: Kind;
  readonly plan: Plan;
  readonly cacheOf: (kind: Kind) => Cache;
  readonly enqueue: Enqueue;
  readonly log: Logger;
}

export interface Listening {
  readonly cancel: Cancel;
  /** Tells what is in the caches already. Not in one go: twenty thousand keys would hold up the event loop. */
  tellAll(pause: () => Promise<void> | undefined): Promise<void>;
}

/** Listens to every cache of a controller until cancelled. */
export function listen({ kind, plan, cacheOf, enqueue, log }: SourceOptions): Listening {
  const primary = cacheOf(kind);
  const cached = cachedObjects(cacheOf);
  const attach = (source: Kind, keysOf: KeysOf, when?: (change: Change) => boolean) => {
    const cache = cacheOf(source);
    const tell = (change: Change) => {
      if (!matters(change, when, log)) return;
      const reason = change.initial ? "listed" : `${source.kind} ${keyOf(change.object.metadata)} ${change.type}`;
      for (const key of keysOf(change)) enqueue(key, reason, !change.initial);
    };
    return { cache, tell, cancel: cache.onChange(tell) };
  };
  const sources = [
    attach(kind, ({ object }) => [keyOf(object.metadata)], plan.when),
    ...plan.owns.map((owned) => attach(owned, (change) => ownersIn(kind, change), plan.whenOwned)),
    ...plan.watches.map((watch) => attach(watch.kind, mapped(watch, primary, cached, log), watch.when)),
  ];
  return {
    cancel: () => {
      for (const { cancel } of sources) cancel();
    },
    tellAll: async (pause) => {
      for (const { cache, tell } of sources)
        for (const object of cache.objects()) {
          const rest = pause();
          if (rest !== undefined) await rest;
          tell({ type: "added", object, initial: true });
        }
    },
  };
}

type KeysOf = (change: Change) => Iterable<string>;

function matters(change: Change, when: ((change: Change) => boolean) | undefined, log: Logger): boolean {
  try {
    return when?.(change) ?? true;
  } catch (err) {
    log.error({ err, object: keyOf(change.object.metadata) }, "predicate failed; the change is looked at");
    return true;
  }
}

/** The owner that controls the child, and the one that did before the change. */
function ownersIn(kind: Kind, { object, previous }: Change): Set<string> {
  const states = previous === undefined ? [object] : [object, previous];
  return new Set(states.map((state) => ownerKey(kind, state)).filter((key) => key !== undefined));
}

function ownerKey(kind: Kind, child: Stored<KubernetesObject>): string | undefined {
  const owner = controllerOf(child);
  if (owner === undefined || !isReferenceTo(kind, owner)) return undefined;
  const { namespace } = child.metadata;
  return keyOf(kind.namespaced && namespace !== undefined ? { namespace, name: owner.name } : { name: owner.name });
}

function mapped({ map }: Watch<Kind, Kind>, primary: CacheReader<KubernetesObject>, cached: CachedObjects, log: Logger): KeysOf {
  const addKeys = (object: Stored<KubernetesObject>, keys: Set<string>) => {
    try {
      for (const ref of map(object, primary, cached)) keys.add(keyOf(ref));
    } catch (err) {
      log.error({ err, object: keyOf(object.metadata) }, "mapping failed; what it has not named by now is not looked at");
    }
  };
  return ({ object, previous }) => {
    const keys = new Set<string>();
    addKeys(object, keys);
    if (previous !== undefined) addKeys(previous, keys);
    return keys;
  };
}
