// One cache per kind and view in a process, however many controllers want it. Who opens one first starts it; it stops
// when the last one has closed it. Which namespaces are looked into is the operator's business, the same for all.

import type { Client } from "../client/client.ts";
import type { Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { KubernetesObject } from "../objects/object.ts";
import { Cache, type CacheStatus } from "./cache.ts";
import type { View } from "./projection.ts";
import type { ReflectorTiming } from "./timing.ts";

export interface SharedCachesOptions {
  readonly client: Pick<Client, "list" | "watch" | "scan" | "follow">;
  /** Namespaces to look into. @default "all" */
  readonly namespaces?: readonly string[] | "all";
  readonly environment: Environment;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
}

/** The use of a cache; disposing of it ends the use. */
export interface OpenCache<T extends KubernetesObject> extends AsyncDisposable {
  readonly cache: Cache<T>;
}

interface Entry {
  readonly view: View;
  readonly cache: Cache;
  users: number;
}

export class SharedCaches {
  readonly #options: SharedCachesOptions;
  readonly #entries: Entry[] = [];

  constructor(options: SharedCachesOptions) {
    this.#options = options;
  }

  /** The cache of a kind, started if it was not yet. */
  open<T extends KubernetesObject>(kind: View<T>): OpenCache<T> {
    const entry = this.#entries.find(({ view }) => holdTheSame(view, kind)) ?? this.#start(kind);
    entry.users += 1;
    let open = true;
    return {
      cache: entry.cache as unknown as Cache<T>,
      [Symbol.asyncDispose]: async () => {
        if (!open) return;
        open = false;
        entry.users -= 1;
        if (entry.users === 0) await this.#stop(entry);
      },
    };
  }

  /** Every cache can be trusted: for readiness. */
  get synced(): boolean {
    return this.#entries.every(({ cache }) => cache.synced);
  }

  status(): readonly CacheStatus[] {
    return this.#entries.flatMap(({ cache }) => cache.status());
  }

  #start(kind: View): Entry {
    const { namespaces = "all", ...options } = this.#options;
    const entry: Entry = { view: kind, cache: new Cache({ ...options, namespaces, kind }), users: 0 };
    this.#entries.push(entry);
    entry.cache.start();
    return entry;
  }

  async #stop(entry: Entry): Promise<void> {
    this.#entries.splice(this.#entries.indexOf(entry), 1);
    await entry.cache.stop();
  }
}

/** Kinds are compared by what they are, since `dynamicKind` makes them on the fly; projections can only be compared by identity. */
function holdTheSame(a: View, b: View): boolean {
  return (
    a.group === b.group &&
    a.version === b.version &&
    a.plural === b.plural &&
    a.project === b.project &&
    a.selection?.labelSelector === b.selection?.labelSelector &&
    a.selection?.fieldSelector === b.selection?.fieldSelector
  );
}
