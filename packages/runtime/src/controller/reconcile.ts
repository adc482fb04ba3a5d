// One reconcile: the scope that the reconcile function receives, the call with its time limit, and the result as a value. A
// function that ignores its signal is abandoned: its scope rejects every further call, and its worker continues.

import type { Cache } from "../cache/cache.ts";
import type { Index } from "../cache/store.ts";
import { ApiError } from "../client/errors.ts";
import { abortable, anySignal, type ScopedSignal, timeoutSignal } from "../concurrency/abort.ts";
import type { Clock, Logger } from "../concurrency/environment.ts";
import type { ObjectReference } from "../objects/kinds/kind.ts";
import { apiVersionOf, type Kind, type KubernetesObject, keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import type { GrantedClient } from "../schema/restricted-client.ts";
import { applyChildren } from "./apply-children.ts";
import type { Child, ChildrenOptions } from "./children.ts";
import type { Context, EventInput, EventSink, ListFilter } from "./context.ts";
import { asDeclared, type Controller } from "./controller.ts";
import { type ReconcileEndedError, TerminalError } from "./errors.ts";
import { Lines, type ReconcileRecord } from "./explain.ts";
import { finalize } from "./finalizer.ts";
import type { PendingWrites } from "./key-state.ts";
import type { NameConflicts, OpenCaches } from "./open-caches.ts";
import { afterReconcile, describeOutcome, type Ending, type NextStep, type Outcome } from "./outcome.ts";
import type { AppliedChildren, WriteResults } from "./settled.ts";
import { patchStatus, type StatusPatch, type StatusToSet, setStatus } from "./status.ts";
import { trackedClient } from "./tracked-client.ts";

/** The dependencies that all reconciles of a controller share. */
export interface ReconcilerDeps {
  readonly controller: Controller;
  /** Restricted to the permissions of the controller. */
  readonly client: GrantedClient;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly caches: OpenCaches;
  readonly appliedChildren: AppliedChildren;
  readonly writtenStatuses: WriteResults;
  readonly nameConflicts: NameConflicts;
  /** The error of a call after the end of its reconcile. Created once, because every reconcile ends. */
  readonly ended: ReconcileEndedError;
  random(): number;
}

export interface ReconcileRequest {
  readonly key: string;
  readonly ref: ObjectRef;
  /** Created on demand, like everything that most reconciles do not use. */
  readonly log: () => Logger;
  readonly writes: PendingWrites;
  readonly failures: number;
  /** Aborts when the operator stops. */
  readonly stopping: AbortSignal;
}

export interface Reconciled {
  readonly ending: Ending;
  readonly next: NextStep;
  readonly record: Pick<ReconcileRecord, "read" | "wrote" | "notes" | "ended">;
}

/** Never rejects. */
export async function reconcileOnce(deps: ReconcilerDeps, request: ReconcileRequest): Promise<Reconciled> {
  const { key, failures, stopping } = request;
  const { timeoutMs, backoff } = deps.controller.plan;
  using limit = timeoutSignal({ clock: deps.clock, timeoutMs, signal: stopping, what: `reconcile of ${key}` });
  const scope = new ReconcileScope(deps, request, limit.signal);
  let ending: Ending;
  try {
    ending = { outcome: await abortable(callReconcile(scope, request.ref), limit.signal) };
  } catch (error) {
    ending = { error, failures, stopping: stopping.aborted };
  }
  const next = afterReconcile(ending, backoff, () => deps.random());
  if (next.stuck && "error" in ending) await report(scope, request, ending.error);
  scope.end();
  return { ending, next, record: { ...scope.record(), ended: describeEnding(ending) } };
}

async function callReconcile(scope: ReconcileScope, ref: ObjectRef): Promise<Outcome> {
  const { finalizer, reconcile } = scope.deps.controller.plan;
  const object = finalizer === undefined ? undefined : scope.cacheOf(scope.kind).get(ref);
  if (finalizer !== undefined && object !== undefined) {
    const cleanUp = () => finalizer.cleanUp(asDeclared(object), asDeclared(scope));
    const outcome = await finalize(scope, object, finalizer.name, cleanUp);
    if (outcome !== undefined) return checked(outcome);
  }
  return checked(await reconcile(ref, asDeclared(scope)));
}

/** Catches what the compiler cannot: a missing return, or NaN as a time, which would never be due. */
function checked(outcome: Outcome | undefined): Outcome {
  if (outcome?.kind === undefined)
    throw new TerminalError(
      `expected the reconcile function to return an outcome such as done(), found ${outcome} → return one on every path`,
    );
  if (outcome.kind === "requeueAfter" && !Number.isFinite(outcome.inMs))
    throw new TerminalError(
      `requeueAfter(…, "${outcome.reason}"): expected a number of milliseconds, found ${outcome.inMs} → check how the duration is computed`,
    );
  return outcome;
}

/** Reports an error that a user has to act on: as an Event, and in the status. */
async function report(scope: ReconcileScope, { ref, log }: ReconcileRequest, error: unknown): Promise<void> {
  const { caches, controller } = scope.deps;
  const object = scope.cacheOf(scope.kind).get(ref);
  if (object === undefined) return;
  const failure = error instanceof Error ? error : new Error(String(error));
  scope.event(object, { type: "Warning", reason: "ReconcileFailed", message: describeError(failure) });
  const { onTerminalError } = controller.plan;
  if (onTerminalError === undefined) return;
  try {
    await setStatus(scope, object, onTerminalError(failure, asDeclared(object), caches) as StatusToSet);
  } catch (err) {
    log().warn({ err }, "could not write the error to the status");
  }
}

function describeEnding(ending: Ending): string {
  if ("outcome" in ending) return describeOutcome(ending.outcome);
  const { error } = ending;
  if (ending.stopping) return "aborted: the operator is stopping";
  const code = (error as { code?: unknown } | null)?.code;
  return `failed: ${typeof code === "string" ? `${code}: ` : ""}${describeError(error)}`;
}

/** Everybody who can read the object's Events reads this, so it quotes no values of other objects. */
function describeError(error: unknown): string {
  if (error instanceof ApiError) return error.summary;
  return error instanceof Error ? error.message : String(error);
}

type AnyObject = Stored<KubernetesObject>;
type ContextShape = Record<keyof Context<Kind, Kind, readonly []>, unknown>;

/** Created on demand, because most reconciles only read the caches. */
const lazy = ["client", "log", "clock", "signal", "failures"] as const satisfies readonly (keyof ContextShape)[];

/**
 * The scope of one reconcile: the `Context` that the reconcile function receives, and what the helpers of the runtime
 * (children, status, finalizer) work with. The properties of Context are its own, so that it can be destructured,
 * `({ get, client }) => …`, and copied, `{ ...ctx }`.
 *
 * All scopes share their getters. V8 keeps those of an object literal, with everything they reference, until the next full
 * collection: 3 KB for every reconcile that finds nothing to do.
 */
export class ReconcileScope implements Omit<ContextShape, (typeof lazy)[number]> {
  static readonly #lazily = Object.fromEntries(lazy.map((name) => [name, ReconcileScope.#getter(name)]));
  readonly #deps: ReconcilerDeps;
  readonly #request: ReconcileRequest;
  readonly #limit: AbortSignal;
  readonly #read = new Lines();
  readonly #wrote = new Lines();
  readonly #notes = new Lines();
  #client: GrantedClient | undefined;
  #linked: LinkedSignal | undefined;
  #ended = false;
  /** The reconciled object after the last write of its status. */
  #latest: AnyObject | undefined;

  declare readonly client: GrantedClient;
  declare readonly clock: Clock;
  declare readonly signal: AbortSignal;

  constructor(deps: ReconcilerDeps, request: ReconcileRequest, limit: AbortSignal) {
    this.#deps = deps;
    this.#request = request;
    this.#limit = limit;
    Object.defineProperties(this, ReconcileScope.#lazily);
  }

  readonly get = (kind: Kind, ref: ObjectRef): AnyObject | undefined => {
    const object = this.#deps.caches.get(kind, ref);
    this.#read.add(`${kind.kind} ${keyOf(ref)}${object === undefined ? ": none" : `@${object.metadata.resourceVersion}`}`);
    return object;
  };
  readonly list = (kind: Kind, filter?: ListFilter): readonly AnyObject[] => {
    const found = this.#deps.caches.list(kind, filter);
    this.#read.add(`${kind.kind} ×${found.length}`);
    return found;
  };
  readonly lookup = (index: Index, value: string): readonly AnyObject[] => {
    const found = this.#deps.caches.lookup(index, value);
    this.#read.add(`${index.kind.kind} under ${value} ×${found.length}`);
    return found;
  };
  readonly applyChildren = (owner: AnyObject, children: readonly Child[], options?: ChildrenOptions): Promise<void> =>
    applyChildren(this, owner, children, options);
  readonly setStatus = (object: AnyObject, status: StatusToSet): Promise<void> => setStatus(this, object, status);
  readonly patchStatus = (object: AnyObject, patch: StatusPatch): Promise<void> => patchStatus(this, object, patch);
  readonly event = (object: AnyObject, event: EventInput): void => this.eventOn(this.kind, object, event);
  readonly eventOn = (kind: Kind, object: AnyObject, event: EventInput): void => {
    this.note(`event: ${event.reason}: ${event.message}`);
    this.#deps.events.record({ regarding: referenceTo(kind, object), ...event });
  };
  readonly note = (line: string): void => this.#notes.add(line);

  get deps(): ReconcilerDeps {
    return this.#deps;
  }

  /** The reconciled kind. */
  get kind(): Kind {
    return this.#deps.controller.kind;
  }

  /** The field manager of the controller's writes. */
  get fieldManager(): string {
    return this.#deps.controller.name;
  }

  /** @throws KindNotCachedError */
  cacheOf(kind: Kind): Cache {
    return this.#deps.caches.of(kind);
  }

  /** The object as this reconcile wrote it last, so that a second write of its status continues from the first. */
  latest<T extends AnyObject>(object: T): T {
    return this.#latest?.metadata.uid === object.metadata.uid ? (this.#latest as T) : object;
  }

  /** Records the answer to a write of the status. Returns it as the cache holds it. */
  remember<T extends AnyObject>(answer: T): T {
    this.#latest = this.cacheOf(this.kind).project(answer);
    return this.#latest as T;
  }

  /** Rejects every further call, and aborts calls that were not awaited. */
  end(): void {
    this.#ended = true;
    this.#linked?.abort(this.#deps.ended);
    this.#linked?.[Symbol.dispose]();
  }

  record(): Pick<ReconcileRecord, "read" | "wrote" | "notes"> {
    return { read: this.#read.list(), wrote: this.#wrote.list(), notes: this.#notes.list() };
  }

  static #getter(name: (typeof lazy)[number]): PropertyDescriptor {
    return {
      enumerable: true,
      get(this: ReconcileScope) {
        return this.#make(name);
      },
    };
  }

  #make(name: (typeof lazy)[number]): unknown {
    if (name === "client") return this.#trackedClient();
    if (name === "signal") return this.#linkedSignal();
    if (name === "log") return this.#request.log();
    return name === "clock" ? this.#deps.clock : this.#request.failures;
  }

  /** Restricted to the declared permissions, for the helpers of the runtime too. */
  #trackedClient(): GrantedClient {
    this.#client ??= trackedClient(this.#deps.client, {
      writes: this.#request.writes,
      signal: () => this.#linkedSignal(),
      cachesOf: (kind) => this.#deps.caches.allOf(kind),
      noteRead: (line) => this.#read.add(line),
      noteWrite: (line) => this.#wrote.add(line),
    });
    return this.#client;
  }

  /** Aborts at the time limit, and when the reconcile is over. */
  #linkedSignal(): AbortSignal {
    this.#linked ??= linkedTo(this.#limit);
    if (this.#ended) this.#linked.abort(this.#deps.ended);
    return this.#linked.signal;
  }
}

interface LinkedSignal extends ScopedSignal {
  abort(reason: unknown): void;
}

function linkedTo(limit: AbortSignal): LinkedSignal {
  const own = new AbortController();
  return { ...anySignal([limit, own.signal]), abort: (reason) => own.abort(reason) };
}

/** The reference to an object in an Event. */
export function referenceTo(kind: Kind, object: AnyObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const where = namespace === undefined ? {} : { namespace };
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...where, name, uid, resourceVersion };
}
