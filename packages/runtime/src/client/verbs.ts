// The verbs: first those that read (get, find, list and listAll), then those that write, then helpers and paths.

import { type BackoffOptions, delayFor } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { apiVersionOf, type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../objects/object.ts";
import { formatSelector, type Selector } from "../objects/selectors.ts";
import type { Caller } from "./call.ts";
import {
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  type ListOptions,
  type ObjectList,
  type Patch,
  type ReadOptions,
  type Spoken,
  typeAt,
  type WriteOptions,
} from "./client.ts";
import { AnswerError, ConflictError, ExpiredError, NotFoundError } from "./errors.ts";
import { isList, isStatus, objectIn } from "./response.ts";
import type { Method } from "./transport/transport.ts";

/** Large enough for few round trips; small enough that parsing a page of pods (1.7 MB) takes about 20 ms. */
const pageSize = 200;

export async function getObject(caller: Caller, kind: Kind, ref: ObjectRef, options: ReadOptions<string | undefined> = {}) {
  const { subresource } = options;
  const attempt = `get ${kind.kind}${subresource === undefined ? "" : `/${subresource}`} ${keyOf(ref)}`;
  const path = objectPath(kind, ref, subresource);
  return objectIn(attempt, await caller.text({ attempt, request: { method: "GET", path }, options }));
}

export async function findObject(caller: Caller, kind: Kind, ref: ObjectRef, options: ReadOptions = {}) {
  try {
    return await getObject(caller, kind, ref, options);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

export async function listPage<T extends KubernetesObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions = {},
): Promise<ObjectList<T>> {
  const { namespace, labelSelector, fieldSelector, limit } = options;
  const attempt = `list ${kind.kind}${namespace === undefined ? "" : ` in ${namespace}`}`;
  const query = { labelSelector: selectorText(labelSelector), fieldSelector, limit, continue: options.continue };
  const request = { method: "GET", path: collectionPath(kind, namespace), query } as const;
  const list = objectIn(attempt, await caller.text({ attempt, request, options }));
  if (!isList(list)) throw new AnswerError(`${attempt}: expected a list, found something without metadata or items`);
  return { metadata: list.metadata, items: typed(kind, (list.items ?? []) as Stored<T>[]) };
}

/**
 * The server omits apiVersion and kind from the items of built-in lists, but not from watch events. With them restored, an object is
 * the same from either source, can be compared and can be written back.
 */
function typed<T extends KubernetesObject>(kind: Kind<T>, items: Stored<T>[]): Stored<T>[] {
  if (items[0] === undefined || items[0].kind !== undefined) return items;
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return items.map((item) => ({ ...type, ...item }));
}

/** A label selector in the syntax of the API server. An empty selector selects everything, as in a spec. */
export function selectorText(selector: Selector | undefined): string | undefined {
  if (selector === undefined || typeof selector === "string") return selector;
  return formatSelector(selector) || undefined;
}

export async function* listEvery<T extends KubernetesObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions = {},
): AsyncGenerator<Stored<T>, void, undefined> {
  let last = "";
  for (let round: ListOptions = options, skipTo = ""; ; round = { ...options, continue: undefined }, skipTo = last) {
    try {
      for await (const item of itemsOfPages(caller, kind, round)) {
        const key = keyOf(refOf(item));
        if (key <= skipTo) continue;
        last = key;
        yield item;
      }
      return;
    } catch (error) {
      // The continue token has expired. Start again and skip the objects already returned: lists are ordered by key.
      if (!(error instanceof ExpiredError) || last === skipTo) throw error;
    }
  }
}

async function* itemsOfPages<T extends KubernetesObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions,
): AsyncGenerator<Stored<T>, void, undefined> {
  let next = options.continue;
  do {
    const page = await listPage(caller, kind, { ...options, limit: options.limit ?? pageSize, continue: next });
    yield* page.items;
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
}

// The verbs that write. Each sends one request.

type Options = WriteOptions<string | undefined>;

const contentTypes: Readonly<Record<Patch["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

export function createObject(caller: Caller, kind: Kind, object: KubernetesObject, options: Options = {}): Promise<unknown> {
  const { namespace, name, generateName } = object.metadata ?? {};
  const { subresource } = options;
  const what = named("create", kind, { ...(namespace && { namespace }), name: name ?? `${generateName ?? ""}*` }, subresource);
  // A subresource is created on an existing object; an object is created in its collection, where the server may generate its name.
  const path = subresource === undefined ? homePath(kind, namespace) : objectPath(kind, refOf(object), subresource);
  return write(caller, { what, method: "POST", path, body: withType(kind, object, subresource), options });
}

export function updateObject(caller: Caller, kind: Kind, object: KubernetesObject, options: Options = {}): Promise<unknown> {
  const { subresource } = options;
  const ref = refOf(object);
  const path = objectPath(kind, ref, subresource);
  const body = withType(kind, object, subresource);
  return write(caller, { what: named("update", kind, ref, subresource), method: "PUT", path, body, options });
}

export function patchObject(caller: Caller, kind: Kind, ref: ObjectRef, patch: Patch, options: Options = {}): Promise<unknown> {
  const { subresource } = options;
  const path = objectPath(kind, ref, subresource);
  const what = named("patch", kind, ref, subresource);
  return write(caller, { what, method: "PATCH", path, body: patch.body, type: contentTypes[patch.type], options });
}

export function applyObject(
  caller: Caller,
  kind: Kind,
  object: KubernetesObject,
  options: ApplyOptions<string | undefined>,
): Promise<unknown> {
  const { subresource, force } = options;
  const ref = refOf(object);
  const path = objectPath(kind, ref, subresource);
  const what = named("apply", kind, ref, subresource);
  const body = withType(kind, object, subresource);
  // The body is JSON, which is valid YAML; older servers do not accept another content type for apply.
  return write(caller, { what, method: "PATCH", path, body, type: "application/apply-patch+yaml", options, force });
}

const gone = { kind: "Status" } as const;

export async function deleteObject<T extends KubernetesObject>(
  caller: Caller,
  kind: Kind<T>,
  ref: ObjectRef,
  options: DeleteOptions = {},
): Promise<Stored<T> | undefined> {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion },
    propagationPolicy,
    gracePeriodSeconds,
    dryRun: dryRun ? ["All"] : undefined,
  };
  const what = named("delete", kind, ref, undefined);
  const path = objectPath(kind, ref);
  const answer = await write(caller, { what, method: "DELETE", path, body, options: callOptionsOf(options) }).catch(
    (error: unknown) => {
      if (options.ignoreNotFound && error instanceof NotFoundError) return gone;
      throw error;
    },
  );
  // If the object is gone, the server returns a Status. If finalizers or a grace period keep it, the server returns the object.
  return isStatus(answer) ? undefined : (answer as Stored<T>);
}

interface Write {
  readonly what: string;
  readonly method: Method;
  readonly path: string;
  readonly body: unknown;
  readonly type?: string;
  readonly options: Options;
  readonly force?: boolean | undefined;
}

async function write(caller: Caller, { what, method, path, body, type, options, force }: Write): Promise<unknown> {
  const { dryRun, fieldManager, fieldValidation, subresource } = options;
  const query = { dryRun: dryRun ? "All" : undefined, fieldManager, fieldValidation, force: force || undefined };
  const headers = { "content-type": type ?? "application/json" };
  const request = { method, path, query, headers, body: JSON.stringify(body) };
  const answer = await caller.text({ attempt: what, request, options, busyIsAnswer: subresource === "eviction" });
  return objectIn(what, answer);
}

function callOptionsOf({ signal, timeoutMs, priority }: DeleteOptions): Options {
  return { signal, timeoutMs, priority };
}

/** The object with apiVersion and kind, which custom resources require and callers often omit. */
function withType(kind: Kind, object: KubernetesObject, subresource: string | undefined): KubernetesObject {
  return { ...typeAt(kind, subresource), ...object };
}

function named(verb: string, kind: Kind, ref: ObjectRef, subresource: string | undefined): string {
  return `${verb} ${kind.kind}${subresource === undefined ? "" : `/${subresource}`} ${keyOf(ref)}`;
}

/** A client that may evict pods: `allow(Pod, "create", { subresource: "eviction" })`. */
export interface Evictor {
  create(kind: typeof Pod, eviction: Spoken<Pod, "eviction">, options: WriteOptions<"eviction">): Promise<unknown>;
}

export interface EvictOptions extends CallOptions {
  /** Only if the pod has this UID, so that a later pod with the same name is not affected. */
  readonly uid?: string | undefined;
  /** Only if the pod has this resourceVersion. */
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/**
 * Evicts a pod, respecting PodDisruptionBudgets. Without a budget this always succeeds, so count ready replicas first.
 * @throws TooManyRequestsError if a budget forbids it (cause `DisruptionBudget`), InternalError if several budgets cover the pod,
 * ConflictError if the preconditions fail, NotFoundError if the pod is gone
 */
export async function evict(client: Evictor, ref: ObjectRef, options: EvictOptions = {}): Promise<void> {
  const { uid, resourceVersion, gracePeriodSeconds, dryRun, ...call } = options;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  const deleteOptions = {
    preconditions,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun && { dryRun: ["All"] as const }),
  };
  await client.create(Pod, { metadata: { ...ref }, deleteOptions }, { ...call, subresource: "eviction" });
}

/** Options of `retryOnConflict`. */
export interface RetryOnConflictOptions {
  readonly environment: Pick<Environment, "clock" | "random">;
  /** Including the first attempt. @default 5 */
  readonly attempts?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const conflictBackoff: BackoffOptions = { initialMs: 10, maxMs: 10_000, factor: 2, jitter: 0.5 };

/**
 * Repeats `write` while it fails with ConflictError. `write` must read the object itself, because the same object conflicts again.
 * Inside a reconciler, throw the ConflictError instead: the next reconcile reads the current state.
 *
 *     await retryOnConflict(async () => {
 *       const config = await client.get(ConfigMap, ref);
 *       return client.update(ConfigMap, { ...config, data: { ...config.data, seen: "yes" } });
 *     }, { environment });
 *
 * @throws the last ConflictError, or any other error at once
 */
export async function retryOnConflict<T>(write: () => Promise<T>, options: RetryOnConflictOptions): Promise<T> {
  const { environment, attempts = 5, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt >= attempts) throw error;
      await environment.clock.sleep(delayFor(attempt - 1, conflictBackoff, environment.random), signal);
    }
  }
}

// API paths. Every segment is checked and escaped: an empty name would turn a delete of one object into a delete of the collection.

/** "/api/v1" or "/apis/apps/v1". */
export function groupVersionPath(kind: Pick<Kind, "group" | "version">): string {
  const version = segment(kind.version, "version");
  return kind.group === "" ? `/api/${version}` : `/apis/${segment(kind.group, "group")}/${version}`;
}

/** The collection of a kind in one namespace, or in all namespaces. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const plural = segment(kind.plural, "plural");
  if (namespace === undefined) return `${groupVersionPath(kind)}/${plural}`;
  if (!kind.namespaced) {
    throw new TypeError(`${kind.kind} is cluster-scoped: expected no namespace, found ${JSON.stringify(namespace)}`);
  }
  return `${groupVersionPath(kind)}/namespaces/${segment(namespace, "namespace")}/${plural}`;
}

/** One object, or one of its subresources. */
export function objectPath(kind: Kind, ref: ObjectRef, subresource?: string): string {
  return `${homePath(kind, ref.namespace)}/${segment(ref.name, "name")}${subresourcePath(subresource)}`;
}

/** The collection in which an object is created. A namespaced kind requires a namespace. */
export function homePath(kind: Kind, namespace: string | undefined): string {
  if (kind.namespaced && namespace === undefined) {
    throw new TypeError(`${kind.kind} is namespaced: expected a namespace, found none`);
  }
  // Callers write `namespace: ""` or copy the namespace of an owner; ignore it for a cluster-scoped kind.
  return collectionPath(kind, kind.namespaced ? namespace : undefined);
}

function subresourcePath(subresource: string | undefined): string {
  return subresource === undefined ? "" : `/${segment(subresource, "subresource")}`;
}

function segment(text: string, what: string): string {
  if (typeof text !== "string" || text === "" || text === "." || text === "..") {
    throw new TypeError(`expected a ${what}, found ${JSON.stringify(text)}`);
  }
  return encodeURIComponent(text);
}
