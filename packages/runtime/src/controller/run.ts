// One reconcile from the inside: the context that the reconciler is given, and the record of what it did with it.
import type { Cache } from "../cache/cache.ts";
import type { Index } from "../cache/object-index.ts";
import type { Client } from "../client/client.ts";
import { anySignal, type ScopedSignal } from "../concurrency/abort.ts";
import type { Clock } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import type { ListFilter } from "./context.ts";
import type { AnyContext, CachedObjects, Controller } from "./definition.ts";
import type { ReconcileEndedError } from "./errors.ts";
import { Lines, type ReconcileRecord } from "./explain.ts";
import { type EventSink, type Remark, referenceTo } from "./object-events.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { ReconcileContext } from "./reconcile-context.ts";
import type { Outcomes, Settled } from "./settled.ts";
import type { Strangers } from "./strangers.ts";
import { type Tracking, trackedClient } from "./tracked-client.ts";
import type { Work } from "./work.ts";

/** What all reconciles of a controller share. */
export interface Workshop {
  readonly controller: Controller;
  /** Limited to the grants of the controller. */
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly settled: Settled;
  readonly reported: Outcomes;
  readonly strangers: Strangers;
  /** What a call gets that comes after the end of its reconcile; made once, since every reconcile ends. */
  readonly ended: ReconcileEndedError;
  /** @throws KindNotCachedError */
  cacheOf(kind: Kind): Cache;
  /** All caches that see objects of this kind. */
  cachesOf(kind: Kind): readonly Cache[];
}

export interface RunOptions {
  readonly workshop: Workshop;
  /** Made when somebody asks, like everything that most reconciles do without: they find all in order in the caches. */
  readonly log: () => Logger;
  readonly writes: PendingWrites;
  readonly failures: number;
  /** The time limit, and the end of everything. */
  readonly limit: AbortSignal;
}

export class Run implements Work {
  readonly kind: Kind;
  readonly owns: readonly Kind[];
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly settled: Settled;
  readonly reported: Outcomes;
  readonly #options: RunOptions;
  #client: Client | undefined;
  #linked: LinkedSignal | undefined;
  #over = false;
  readonly #tracking: Tracking;
  readonly #read = new Lines();
  readonly #wrote = new Lines();
  readonly #notes = new Lines();

  constructor(options: RunOptions) {
    const { workshop, writes } = options;
    const { controller, clock, settled, reported, cachesOf } = workshop;
    this.#options = options;
    this.kind = controller.kind;
    this.owns = controller.plan.owns;
    this.fieldManager = controller.name;
    this.clock = clock;
    this.settled = settled;
    this.reported = reported;
    const noteRead = (line: string) => this.#read.add(line);
    const noteWrite = (line: string) => this.#wrote.add(line);
    this.#tracking = { writes, signal: () => this.signal, cachesOf, noteRead, noteWrite };
  }

  /** Can do what was declared and nothing else: this goes for the helpers of the runtime, too. */
  get client(): Client {
    this.#client ??= trackedClient(this.#options.workshop.client, this.#tracking);
    return this.#client;
  }

  /** Aborts with the time limit, and when the reconcile is over. */
  get signal(): AbortSignal {
    this.#linked ??= linkedTo(this.#options.limit);
    if (this.#over) this.#linked.abort(this.#options.workshop.ended);
    return this.#linked.signal;
  }

  /** What the reconciler is given. */
  get context(): AnyContext {
    return new ReconcileContext(this) as unknown as AnyContext;
  }

  get log(): Logger {
    return this.#options.log();
  }

  get failures(): number {
    return this.#options.failures;
  }

  get cached(): CachedObjects {
    const objects = (kind: Kind, namespace?: string) => this.list(kind, namespace === undefined ? {} : { namespace });
    const cached = { get: this.get.bind(this), lookup: this.lookup.bind(this), objects };
    return cached as unknown as CachedObjects;
  }

  get(kind: Kind, ref: ObjectRef): Stored<KubernetesObject> | undefined {
    const object = this.cacheOf(kind).get(ref);
    this.#read.add(`${kind.kind} ${keyOf(ref)}${object === undefined ? ": none" : `@${object.metadata.resourceVersion}`}`);
    return object;
  }

  list(kind: Kind, { namespace, labels, ownedBy }: ListFilter = {}): readonly Stored<KubernetesObject>[] {
    const cache = this.cacheOf(kind);
    const candidates = ownedBy === undefined ? cache.objects(namespace) : cache.ownedBy(ownedBy.metadata.uid);
    const found: Stored<KubernetesObject>[] = [];
    for (const object of candidates) {
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
      if (labels === undefined || hasLabels(object, labels)) found.push(object);
    }
    this.#read.add(`${kind.kind} ×${found.length}`);
    return found;
  }

  lookup(index: Index, value: string): readonly Stored<KubernetesObject>[] {
    const found = this.cacheOf(index.kind).lookup(index.values, value);
    this.#read.add(`${index.kind.kind} under ${value} ×${found.length}`);
    return found;
  }

  event(object: Stored<KubernetesObject>, remark: Remark, kind = this.kind): void {
    this.note(`told: ${remark.reason}: ${remark.note}`);
    this.#options.workshop.events.record({ regarding: referenceTo(kind, object), ...remark });
  }

  note(line: string): void {
    this.#notes.add(line);
  }

  whenGone(kind: Kind, ref: ObjectRef, owner: ObjectRef): void {
    this.#options.workshop.strangers.wait(kind, ref, owner);
  }

  cacheOf(kind: Kind): Cache {
    return this.#options.workshop.cacheOf(kind);
  }

  /** Nothing may begin after this, and what was begun and not awaited is given up. */
  end(): void {
    this.#over = true;
    this.#linked?.abort(this.#options.workshop.ended);
    this.#linked?.[Symbol.dispose]();
  }

  record(): Pick<ReconcileRecord, "read" | "wrote" | "notes"> {
    return { read: this.#read.list(), wrote: this.#wrote.list(), notes: this.#notes.list() };
  }
}

interface LinkedSignal extends ScopedSignal {
  abort(reason: unknown): void;
}

function linkedTo(limit: AbortSignal): LinkedSignal {
  const own = new AbortController();
  return { ...anySignal([limit, own.signal]), abort: (reason) => own.abort(reason) };
}

function hasLabels({ metadata }: Stored<KubernetesObject>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);
}
