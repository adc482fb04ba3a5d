// The objects of one kind, as far as an operator may see them, always at hand: reads are synchronous and cost nothing.
// A cache is a store and whoever keeps it equal to the server: one reflector for all namespaces, or one for each of
// several. A folder tour:
//
//     projection.ts    which objects and which of their fields are kept (views)
//     store.ts         the objects and their changes; object-index.ts their indexes; sharing.ts what replicas have in common
//     reflector.ts     list + watch, for ever; after-session.ts what follows which fault; snapshot.ts listing and diff;
//                      freshness.ts whether the store may be believed
//     own-writes.ts    read your own writes; mark-waiters.ts who waits for that; versions.ts the order of resource versions
//     shared-caches.ts one cache per kind and scope in a process, however many controllers want it

import type { Client } from "../client/client.ts";
import { anySignal } from "../concurrency/abort.ts";
import type { Cancel, Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { type KubernetesObject, keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import type { CacheState } from "./freshness.ts";
import { MarkWaiters } from "./mark-waiters.ts";
import type { IndexValues } from "./object-index.ts";
import { isReached, type Mark } from "./own-writes.ts";
import { type Projection, projectionOf, type View } from "./projection.ts";
import { Reflector } from "./reflector.ts";
import { type ChangeListener, ObjectStore } from "./store.ts";
import { defaultTiming, type ReflectorTiming } from "./timing.ts";

export interface CacheOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, "list" | "watch" | "scan" | "follow">;
  /** The kind, or a view of it. */
  readonly kind: View<T>;
  /** Namespaces to look into; "all" for all, and for kinds that have none. */
  readonly namespaces: readonly string[] | "all";
  readonly environment: Environment;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
}

/** For readiness, metrics and people. */
export interface CacheStatus {
  /** The kind, as in URLs: "pods" or "deployments.apps". */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly state: CacheState;
  readonly objects: number;
  readonly lastEventAgeMs: number;
}

export class Cache<T extends KubernetesObject = KubernetesObject> {
  readonly kind: View<T>;
  /** What this cache would keep of an object. */
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
      options.log.error({ err, watch: kind.plural }, "projection failed; this object is kept whole"),
    );
    this.#store = new ObjectStore((err, { type, object }) => {
      const fields = { err, watch: kind.plural, object: keyOf(object.metadata) };
      options.log.error(fields, `a listener failed; it may not have noticed that this object was ${type}`);
    });
    this.#environment = environment;
    this.#timing = { ...defaultTiming, ...options.timing };
    const scopes = namespaces === "all" || !kind.namespaced ? [undefined] : namespaces;
    this.#reflectors = scopes.map((namespace) => this.#reflector(options, namespace));
  }

  /** Begins to follow the server. */
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

  /** The objects that name this UID among their owners. */
  ownedBy(uid: string): readonly Stored<T>[] {
    return this.#store.ownedBy(uid);
  }

  /** What an index (see `indexBy`) finds under a value. */
  lookup(values: IndexValues<T>, value: string): readonly Stored<T>[] {
    return this.#store.lookup(values, value);
  }

  onChange(listener: ChangeListener<T>): Cancel {
    return this.#store.onChange(listener);
  }

  // State.

  /** The store is complete and follows the server. While it is not, nothing may be concluded from what is missing in it. */
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

  /** One entry for each namespace that is followed on its own. */
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

  /** This object, at this version, is our own doing. */
  written(object: Stored<KubernetesObject>): Mark {
    const { uid, resourceVersion } = object.metadata;
    return { ...this.#mark(object.metadata), type: "written", uid, resourceVersion };
  }

  /** This object was deleted by us. */
  deleted(ref: ObjectRef, uid: string): Mark {
    return { ...this.#mark(ref), type: "deleted", uid };
  }

  /** We tried to write this object (a name that the server was to make up: "") and do not know what came of it. */
  unknown(ref: ObjectRef): Mark {
    return { ...this.#mark(ref), type: "unknown" };
  }

  reached(mark: Mark): boolean {
    const reflector = this.#reflectorOf(mark.ref);
    // Written where this cache does not look: it will never be seen here, and nothing here can be older than it.
    return reflector === undefined || isReached(mark, reflector);
  }

  /** Waits until the mark is reached; if that takes long, the cache is listed again. */
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

  /** Waits for what `begin` begins, and ends it either way. */
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
      knownFieldsOnly: kind.project !== undefined,
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
