// Holds the objects of one kind in memory and follows the API server. Reads are synchronous. A cache consists of a store and of
// reflectors that keep it equal to the server: one for all namespaces, or one for each of several.
//
//     reflector.ts     lists and watches until it is stopped; next-session.ts decides what follows which failure
//     watch-state.ts   whether the store is current, when the last event arrived, what to log
//     store.ts         the objects, their changes and their indexes
//     projection.ts    which objects and which of their fields are kept (views)
//     own-writes.ts    read your own writes
//
// SharedCaches, at the end, keeps one cache per kind and view in a process, however many controllers use it.
import type { Client } from "../client/client.ts";
import { anySignal } from "../concurrency/abort.ts";
import type { Cancel, Environment, Logger } from "../concurrency/environment.ts";
import { type KubernetesObject, keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import { defaultTiming, type ReflectorTiming } from "./next-session.ts";
import { isReached, type Mark, MarkWaiters } from "./own-writes.ts";
import { type Projection, projectionOf, type View } from "./projection.ts";
import { Reflector } from "./reflector.ts";
import { type ChangeListener, type IndexValues, ObjectStore } from "./store.ts";
import type { CacheState } from "./watch-state.ts";

export interface CacheOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, "list" | "watch" | "scan" | "follow">;
  /** The kind, or a view of it. */
  readonly kind: View<T>;
  /** Namespaces to watch, or "all". Ignored for cluster-scoped kinds. */
  readonly namespaces: readonly string[] | "all";
  readonly environment: Environment;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
}

/** The state of one watch, for readiness checks, metrics and logs. */
export interface CacheStatus {
  /** The resource and its group: "pods" or "deployments.apps". */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly state: CacheState;
  readonly objects: number;
  readonly lastEventAgeMs: number;
}

/** The objects of one kind in memory, kept up to date by list and watch. Reads are synchronous. */
export class Cache<T extends KubernetesObject = KubernetesObject> {
  readonly kind: View<T>;
  /** Reduces an object to the fields this cache stores. */
  readonly project: Projection<T>;
  readonly #store: ObjectStore<T>;
  readonly #reflectors: readonly Reflector<T>[];
  readonly #environment: Environment;
  readonly #timing: ReflectorTiming;
  /** Called when the state may have changed. */
  readonly #listeners = new Set<() => void>();
  readonly #marks = new Map<Reflector<T>, MarkWaiters>();
  readonly #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(options: CacheOptions<T>) {
    const { kind, environment, namespaces } = options;
    this.kind = kind;
    this.project = projectionOf(kind, (err) =>
      options.log.error({ err, watch: kind.plural }, "projection failed; storing the whole object"),
    );
    this.#store = new ObjectStore((err, { type, object }) => {
      const fields = { err, watch: kind.plural, object: keyOf(object.metadata) };
      options.log.error(fields, `change listener failed; it may have missed that this object was ${type}`);
    });
    this.#environment = environment;
    this.#timing = { ...defaultTiming, ...options.timing };
    const scopes = namespaces === "all" || !kind.namespaced ? [undefined] : namespaces;
    this.#reflectors = scopes.map((namespace) => this.#reflector(options, namespace));
  }

  /** Starts to list and watch. Calling it again has no effect. */
  start(): void {
    this.#running ??= Promise.all(this.#reflectors.map((reflector) => reflector.run(this.#stop.signal)));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  // Reading.

  get size(): number {
    return this.#store.size;
  }

  get(ref: ObjectRef): Stored<T> | undefined {
    return this.#store.get(ref);
  }

  /** All objects, or those of one namespace. */
  objects(namespace?: string): Iterable<Stored<T>> {
    return this.#store.objects(namespace);
  }

  /** The objects that have an owner reference to this UID. */
  ownedBy(uid: string): readonly Stored<T>[] {
    return this.#store.ownedBy(uid);
  }

  /** The objects that an index (see `indexBy`) lists under a value. */
  lookup(values: IndexValues<T>, value: string): readonly Stored<T>[] {
    return this.#store.lookup(values, value);
  }

  onChange(listener: ChangeListener<T>): Cancel {
    return this.#store.onChange(listener);
  }

  // State.

  /** Whether the cache is complete and its watches are connected. While false, a missing object may still exist on the server. */
  get synced(): boolean {
    return this.#reflectors.every(({ state }) => state === "live");
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.synced) return;
    await this.#until((resolve) => {
      const look = () => this.synced && resolve();
      this.#listeners.add(look);
      return () => this.#listeners.delete(look);
    }, signal);
  }

  /** One entry per watch: one for all namespaces, or one for each configured namespace. */
  status(): readonly CacheStatus[] {
    const { plural, group } = this.kind;
    return this.#reflectors.map((reflector) => ({
      resource: group === "" ? plural : `${plural}.${group}`,
      namespace: reflector.namespace,
      state: reflector.state,
      objects: this.#reflectors.length === 1 ? this.#store.size : [...this.#store.objects(reflector.namespace)].length,
      lastEventAgeMs: reflector.lastEventAgeMs,
    }));
  }

  // Read your own writes.

  /** The mark of a successful write that returned this object. */
  written(object: Stored<KubernetesObject>): Mark {
    const { uid, resourceVersion } = object.metadata;
    return { ...this.#mark(object.metadata), type: "written", uid, resourceVersion };
  }

  /** The mark of a successful delete. */
  deleted(ref: ObjectRef, uid: string): Mark {
    return { ...this.#mark(ref), type: "deleted", uid };
  }

  /** The mark of a write whose outcome is unknown. The name is "" if the server was to generate it. */
  unknown(ref: ObjectRef): Mark {
    return { ...this.#mark(ref), type: "unknown" };
  }

  /** Whether this cache includes the write. */
  reached(mark: Mark): boolean {
    const reflector = this.#reflectorOf(mark.ref);
    // The cache does not watch that namespace, so it will never contain the object.
    return reflector === undefined || isReached(mark, reflector);
  }

  /** Waits until the cache reaches the mark. If that takes longer than `overdueMs`, the cache lists again. */
  async whenReached(mark: Mark, signal?: AbortSignal): Promise<void> {
    const reflector = this.#reflectorOf(mark.ref);
    const overdueMs = mark.type === "unknown" ? 0 : this.#timing.overdueMs;
    if (reflector === undefined || this.reached(mark)) return;
    const cancel = this.#environment.clock.after(overdueMs, () => reflector.refresh());
    const waiters = this.#marks.get(reflector);
    try {
      await this.#until((resolve) => waiters?.add(mark, () => isReached(mark, reflector), resolve), signal);
    } finally {
      cancel();
    }
  }

  #mark(ref: ObjectRef) {
    return { ref, listingsBegun: this.#reflectorOf(ref)?.listingsBegun ?? 0 };
  }

  #reflectorOf(ref: ObjectRef): Reflector<T> | undefined {
    return this.#reflectors.find(({ namespace }) => namespace === undefined || namespace === ref.namespace);
  }

  /** Waits until `begin` calls `resolve`. Rejects when a signal aborts. Always calls the function that `begin` returned. */
  async #until(begin: (resolve: () => void) => Cancel | undefined, signal?: AbortSignal): Promise<void> {
    using either = anySignal([signal, this.#stop.signal]);
    either.signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    either.signal.addEventListener("abort", () => reject(either.signal.reason), { once: true });
    const end = begin(resolve);
    try {
      await promise;
    } finally {
      end?.();
    }
  }

  #reflector(options: CacheOptions<T>, namespace: string | undefined): Reflector<T> {
    const { client, kind, environment } = options;
    const log = options.log.child({ watch: kind.plural, ...(namespace !== undefined && { namespace }) });
    const waiters = new MarkWaiters();
    const reflector: Reflector<T> = new Reflector({
      client,
      kind,
      namespace,
      selection: kind.selection ?? {},
      project: this.project,
      store: this.#store,
      environment,
      log,
      timing: this.#timing,
      onEvent: () => waiters.passed(reflector.position),
      onState: () => {
        waiters.lookAtAll();
        for (const look of this.#listeners) look();
      },
    });
    this.#marks.set(reflector, waiters);
    return reflector;
  }
}

export interface SharedCachesOptions {
  readonly client: Pick<Client, "list" | "watch" | "scan" | "follow">;
  /** Namespaces to watch; the same for every cache. @default "all" */
  readonly namespaces?: readonly string[] | "all";
  readonly environment: Environment;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
}

/** A reference to a shared cache. Dispose of it when you no longer need the cache. */
export interface OpenCache<T extends KubernetesObject> extends AsyncDisposable {
  readonly cache: Cache<T>;
}

interface Entry {
  readonly view: View;
  readonly cache: Cache;
  users: number;
}

/** One cache per kind and view in a process. The first user starts it; it stops when the last user has disposed of it. */
export class SharedCaches {
  readonly #options: SharedCachesOptions;
  readonly #entries: Entry[] = [];

  constructor(options: SharedCachesOptions) {
    this.#options = options;
  }

  /** Returns the cache of a kind or view and starts it if needed. */
  open<T extends KubernetesObject>(kind: View<T>): OpenCache<T>;
  open(kind: View): OpenCache<KubernetesObject> {
    const entry = this.#entries.find(({ view }) => holdTheSame(view, kind)) ?? this.#start(kind);
    entry.users += 1;
    let open = true;
    return {
      cache: entry.cache,
      [Symbol.asyncDispose]: async () => {
        if (!open) return;
        open = false;
        entry.users -= 1;
        if (entry.users === 0) await this.#stop(entry);
      },
    };
  }

  /** Whether every open cache is synced; used for readiness. */
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

/** Compares kinds by value, because `dynamicKind` creates a new one on each call. Projections can only be compared by identity. */
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
