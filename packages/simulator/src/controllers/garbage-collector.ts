// The garbage collector: watches every kind that the server serves, including custom ones, and deletes objects whose owners are
// all gone. It is not a `controller`, because that reconciles one kind.
//
// A change queues the objects it may affect. Caches can be behind, so a missing owner is looked up on the server before anything is
// deleted.
import {
  type Client,
  ConflictError,
  type Environment,
  type Kind,
  type KubernetesObject,
  type Logger,
  NotFoundError,
  refOf,
  type Stored,
  view,
} from "@memhog/runtime";
import { type Change, metadataOnly, SharedCaches } from "@memhog/runtime/cache";
import type { Cancel } from "@memhog/runtime/concurrency";
import { CustomResourceDefinition } from "@memhog/runtime/kinds";
import { equals, type OwnerReference } from "@memhog/runtime/objects";
import {
  decideDependent,
  decideOwner,
  foreground,
  isOfInterest,
  isOwnedTheSame,
  type OwnerState,
  type Ownership,
  orphan,
  stateOf,
} from "./garbage-decisions.ts";
import { kindDefinedBy, resourceOf, servedKinds } from "./served-kinds.ts";

type Any = Stored<KubernetesObject>;
type OpenCache = ReturnType<SharedCaches["open"]>;

interface Followed extends AsyncDisposable {
  readonly cache: Pick<OpenCache["cache"], "lookup" | "ownedBy" | "whenSynced">;
  readonly kind: Kind;
  readonly cancel: Cancel;
}

/** A queued object, as it was when it was queued. */
interface Item {
  readonly kind: Kind;
  readonly object: Any;
}

interface GarbageCollectorOptions {
  readonly client: Client;
  readonly environment: Environment;
  readonly log: Logger;
}

const byUid = ({ metadata }: Any) => metadata.uid;
const retryMs = 1_000;

/**
 * Garbage collection is not urgent, and most kinds change rarely. So a broken connection may go unnoticed for some minutes,
 * which avoids reopening every watch each minute.
 */
const patience = { quietTimeoutSeconds: 300, idleMs: 330_000 };

export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #caches: SharedCaches;
  readonly #followed = new Map<string, Followed>();
  /** By UID, in queue order. */
  readonly #list = new Map<string, Item>();
  readonly #stop = new AbortController();
  readonly #retries = new Set<Cancel>();
  #working: Promise<void> | undefined;

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
    this.#caches = new SharedCaches({ ...options, timing: patience });
  }

  /** Starts the watches. Work begins when the caches are synced. */
  async start(): Promise<void> {
    for (const kind of await servedKinds(this.#options.client, this.#stop.signal)) this.#follow(kind);
    const definitions = this.#caches.open(CustomResourceDefinition);
    const cancel = definitions.cache.onChange(({ type, object }) => this.#define(type, object));
    for (const object of definitions.cache.objects()) this.#define("added", object);
    this.#followed.set("definitions", { ...definitions, kind: CustomResourceDefinition, cancel });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    for (const cancel of this.#retries) cancel();
    await this.#working;
    for (const { cancel, [Symbol.asyncDispose]: close } of this.#followed.values()) {
      cancel();
      await close();
    }
  }

  // Watches.

  #define(type: Change["type"], definition: Stored<CustomResourceDefinition>): void {
    const kind = kindDefinedBy(definition);
    if (type !== "removed" && kind !== undefined) this.#follow(kind);
    if (type === "removed") this.#forget(`${definition.spec.names.plural}.${definition.spec.group}`);
  }

  #follow(kind: Kind): void {
    const resource = resourceOf(kind);
    if (this.#followed.has(resource)) return;
    const open = this.#caches.open(view(kind, { project: metadataOnly })) as OpenCache;
    const cancel = open.cache.onChange((change) => this.#changed(kind, change));
    this.#followed.set(resource, { ...open, kind, cancel });
  }

  #forget(resource: string): void {
    const followed = this.#followed.get(resource);
    this.#followed.delete(resource);
    followed?.cancel();
    void followed?.[Symbol.asyncDispose]();
  }

  /** A change may affect the object, its dependents, and owners that wait for it. */
  #changed(kind: Kind, { type, object, previous }: Change): void {
    if (type === "changed" && previous !== undefined && isOwnedTheSame(object, previous)) return;
    const owners = [...(object.metadata.ownerReferences ?? []), ...(previous?.metadata.ownerReferences ?? [])];
    for (const { uid } of owners) this.#consider(this.#withUid(uid));
    if (type === "removed") for (const item of this.#dependentsOf(object)) this.#consider(item);
    else this.#consider({ kind, object });
  }

  #consider(item: Item | undefined): void {
    if (item === undefined || !isOfInterest(item.object)) return;
    this.#list.set(item.object.metadata.uid, item);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  #withUid(uid: string): Item | undefined {
    for (const { cache, kind } of this.#followed.values()) {
      const [object] = cache.lookup(byUid, uid);
      if (object !== undefined) return { kind, object };
    }
    return undefined;
  }

  #dependentsOf({ metadata }: Any): readonly Item[] {
    return [...this.#followed.values()].flatMap(({ cache, kind }) =>
      cache.ownedBy(metadata.uid).map((object) => ({ kind, object })),
    );
  }

  // Work.

  async #work(): Promise<void> {
    const { signal } = this.#stop;
    // While a cache is not synced, a missing object means nothing.
    await Promise.all([...this.#followed.values()].map(({ cache }) => cache.whenSynced(signal).catch(() => {})));
    for (const [uid, item] of this.#list) {
      if (signal.aborted) return;
      this.#list.delete(uid);
      await this.#attend(item).catch((error) => this.#failed(item, error));
    }
  }

  #failed(item: Item, err: unknown): void {
    if (this.#stop.signal.aborted) return;
    const { clock } = this.#options.environment;
    const { kind, object } = item;
    const expected = err instanceof ConflictError || err instanceof NotFoundError;
    if (!expected) this.#options.log.warn({ err, kind: kind.kind, object: object.metadata.name }, "not collected yet");
    const cancel = clock.after(expected ? 10 : retryMs, () => {
      this.#retries.delete(cancel);
      this.#consider(this.#withUid(object.metadata.uid));
    });
    this.#retries.add(cancel);
  }

  async #attend({ kind, object: { metadata } }: Item): Promise<void> {
    const item = this.#withUid(metadata.uid);
    if (item === undefined) return;
    await this.#attendOwner(item);
    await this.#attendDependent({ kind, object: item.object });
  }

  async #attendOwner(item: Item): Promise<void> {
    const decision = decideOwner(
      item.object,
      this.#dependentsOf(item.object).map(({ object }) => object),
    );
    if (decision.kind === "nothing") return;
    if (decision.kind === "orphan") {
      for (const dependent of this.#dependentsOf(item.object)) await this.#release(dependent, [item.object.metadata.uid]);
      await this.#removeFinalizer(item, orphan);
      return;
    }
    for (const { metadata } of decision.visit) this.#consider(this.#withUid(metadata.uid));
    if (!decision.blocked) await this.#removeFinalizer(item, foreground);
  }

  async #attendDependent(item: Item): Promise<void> {
    const { kind, object } = item;
    const owners: Ownership[] = [];
    for (const reference of object.metadata.ownerReferences ?? []) {
      owners.push({ reference, state: await this.#stateOf(reference, object) });
    }
    const decision = decideDependent(object, owners, this.#dependentsOf(object).length > 0);
    if (decision.kind === "release") await this.#release(item, decision.from);
    if (decision.kind !== "delete") return;
    const { uid } = object.metadata;
    // The cache may be stale: the object may have been released or adopted, and its change is still to come.
    const latest = await this.#options.client.find(kind, refOf(object), { signal: this.#stop.signal });
    if (latest === undefined || !equals(latest.metadata.ownerReferences, object.metadata.ownerReferences)) return;
    await this.#options.client.delete(kind, refOf(object), { uid, propagationPolicy: decision.propagationPolicy });
  }

  /** The state of an owner, from the cache or, if it is missing there, from the server. */
  async #stateOf(reference: OwnerReference, { metadata: { namespace } }: Any): Promise<OwnerState> {
    const known = this.#withUid(reference.uid)?.object;
    // Owners are in the same namespace or cluster-scoped.
    if (known?.metadata.namespace !== undefined && known.metadata.namespace !== namespace) return "gone";
    if (known !== undefined) return stateOf(known, reference.uid);
    const { client } = this.#options;
    const { signal } = this.#stop;
    const kind = await client.discovery.kindOf(reference, { signal });
    // A kind that is not served may be served again: a missing CRD must not cause deletions.
    if (kind === undefined) return "there";
    const ref = kind.namespaced && namespace !== undefined ? { namespace, name: reference.name } : { name: reference.name };
    return stateOf(await client.find(kind, ref, { signal }), reference.uid);
  }

  /** Removes references to these owners from an object, if it is unchanged. */
  async #release({ kind, object }: Item, uids: readonly string[]): Promise<void> {
    const { uid, resourceVersion, ownerReferences = [] } = object.metadata;
    const kept = ownerReferences.filter((reference) => !uids.includes(reference.uid));
    const body = { metadata: { uid, resourceVersion, ownerReferences: kept.length > 0 ? kept : null } };
    await this.#options.client.patch(kind, refOf(object), { type: "merge", body });
  }

  async #removeFinalizer({ kind, object }: Item, name: string): Promise<void> {
    const { uid, resourceVersion, finalizers = [] } = object.metadata;
    if (!finalizers.includes(name)) return;
    const kept = finalizers.filter((each) => each !== name);
    const body = { metadata: { uid, resourceVersion, finalizers: kept.length > 0 ? kept : null } };
    await this.#options.client.patch(kind, refOf(object), { type: "merge", body });
  }
}
