// The typed client: the eleven verbs of a Kubernetes API server. A request passes through these files:
//
//     verbs.ts      a verb becomes a method, a path and a body
//     call.ts       deadline, rate limit, safe retries, errors
//     transport/    credentials, connections, bytes (node:http, node:http2)
//     watch.ts      parses watch streams: bytes, lines, events, projected objects
//     list-stream.ts  parses the initial list of a cache while it arrives
//
// config/ finds the server and the user. discovery.ts finds out what the server serves. create-client.ts assembles the client.
//
// Guarantees:
// - Every call ends: `timeoutMs` bounds it as a whole, including the wait for the rate limit and every retry.
// - A retry never repeats a write that the server may have seen. If the result is unknown, the call throws a TransportError with
//   `outcome: "unknown"`: read again, never assume (C2 in docs/invariants.md).
// - Objects pass through as parsed JSON. Fields that no type here knows are kept.
// - The client logs nothing. It reports to its `observer`.
import type { Eviction, Scale } from "../objects/kinds/scaling.ts";
import { apiVersionOf, type Kind, type KubernetesObject, type ObjectRef, type Stored } from "../objects/object.ts";
import type { Selector } from "../objects/selectors.ts";
import type { Discovery } from "./discovery.ts";
import type { Status } from "./response.ts";
import type { Method } from "./transport/transport.ts";

export interface CallOptions {
  /** Cancels the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call. @default the client's `timeoutMs`, which defaults to 30 s */
  readonly timeoutMs?: number | undefined;
  /** "high" uses the rate limit reserved for Leases; use it only for calls that must not wait. @default "normal" */
  readonly priority?: "normal" | "high" | undefined;
}

export interface ReadOptions<S extends string | undefined = undefined> extends CallOptions {
  readonly subresource?: S;
}

export interface ListOptions extends CallOptions {
  /** Only objects in this namespace; undefined means all namespaces. */
  readonly namespace?: string | undefined;
  /** In kubectl's syntax, "app=web,tier in (a, b)", or as in a spec: `{ matchLabels, matchExpressions }`. */
  readonly labelSelector?: Selector | undefined;
  /** For example "spec.nodeName=node-1". */
  readonly fieldSelector?: string | undefined;
  /** Objects per page. @default no limit for `list`, 200 for `listAll` */
  readonly limit?: number | undefined;
  /** The `metadata.continue` of the previous page. */
  readonly continue?: string | undefined;
}

export interface ObjectList<T extends KubernetesObject> {
  readonly metadata: {
    readonly resourceVersion: string;
    /** Set if there are more pages. */
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: Stored<T>[];
}

export type WatchEvent<T extends KubernetesObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: Stored<T> }
  /** All events up to this version have been delivered. `initialEventsEnd` marks the end of the state requested by `sendInitialEvents`. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WatchOptions<T extends KubernetesObject> {
  readonly namespace?: string | undefined;
  readonly labelSelector?: Selector | undefined;
  readonly fieldSelector?: string | undefined;
  /** Start after this version. If undefined, the server starts with synthetic ADDED events for its current state. */
  readonly resourceVersion?: string | undefined;
  /** Stream the current state first, as ADDED events followed by a bookmark. Servers without support respond with InvalidError. */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after this time. @default random, 5 to 10 minutes, so that watches do not end at the same time */
  readonly timeoutSeconds?: number | undefined;
  /** Milliseconds until the server must accept the watch (TimeoutError). @default the client's `timeoutMs` */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds without an event or a bookmark after which the watch fails (IdleWatchError). @default 120 s */
  readonly idleMs?: number | undefined;
  /** Applied to each object as soon as it is parsed, so that unused fields are freed early. */
  readonly project?: ((object: Stored<T>) => Stored<T>) | undefined;
  /** Called when the server has accepted the watch. The first event can come much later. */
  readonly onOpen?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ScanOptions<T extends KubernetesObject = KubernetesObject> {
  readonly namespace?: string | undefined;
  readonly labelSelector?: Selector | undefined;
  readonly fieldSelector?: string | undefined;
  /** Applied to each object as soon as it is parsed, so that unused fields are freed early. */
  readonly project?: ((object: Stored<T>) => Stored<T>) | undefined;
  /** Milliseconds until the response must start (TimeoutError). @default `idleMs` */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds without data after which the list fails (IdleWatchError). @default 60 s */
  readonly idleMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions<S extends string | undefined = undefined> extends CallOptions {
  /** Validate, default and admit, but do not store. @default false */
  readonly dryRun?: boolean | undefined;
  /** The field manager that the server records. @default chosen by the server from the user agent */
  readonly fieldManager?: string | undefined;
  /** How the server handles unknown or duplicate fields. @default chosen by the server: "Warn" */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined;
  readonly subresource?: S;
}

export interface ApplyOptions<S extends string | undefined = undefined> extends WriteOptions<S> {
  readonly fieldManager: string;
  /** Take ownership of fields from other managers instead of failing with ConflictError. @default false */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Only if the object has this UID, so that a later object with the same name is not affected. */
  readonly uid?: string | undefined;
  /** Only if the object has this resourceVersion. */
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
  /** Return undefined instead of throwing NotFoundError if the object does not exist. @default false */
  readonly ignoreNotFound?: boolean | undefined;
}

/** A patch. `strategic` merges lists by key and works for built-in kinds only. */
export type Patch =
  | { readonly type: "json"; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: "merge" | "strategic"; readonly body: object };

/** RFC 6902. A `test` on /metadata/resourceVersion or /metadata/uid makes the patch a compare-and-swap. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** Part of an object: the fields that one field manager owns. */
export type Applied<T> = T extends readonly (infer E)[]
  ? readonly Applied<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: Applied<T[K]> }
    : T;

/** A request that the verbs do not cover, for example "/readyz" or "/metrics". */
export interface RawRequest extends CallOptions {
  readonly method?: Method;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type K<T extends KubernetesObject> = Kind<T>;
type Some = KubernetesObject;
type Sub = Subresource | undefined;

export interface Client extends AsyncDisposable {
  /** Reads an object. @throws NotFoundError */
  get<T extends Some, S extends Sub = undefined>(kind: K<T>, ref: ObjectRef, o?: ReadOptions<S>): Promise<Answered<T, S>>;
  /** Reads an object; undefined if it does not exist. */
  find<T extends Some>(kind: K<T>, ref: ObjectRef, o?: ReadOptions): Promise<Stored<T> | undefined>;
  /** Reads one page. Always a consistent read: `resourceVersion=0` is never sent. */
  list<T extends Some>(kind: K<T>, o?: ListOptions): Promise<ObjectList<T>>;
  /** Reads all objects, page by page, each once. If the continue token expires, it resumes with a new list. */
  listAll<T extends Some>(kind: K<T>, o?: ListOptions): AsyncIterable<Stored<T>>;
  /**
   * Reads all objects as of one resourceVersion, without managedFields, and passes each on as soon as it arrives. If the call fails,
   * some objects have already been passed on. For caches; optional for custom clients.
   */
  scan?<T extends Some>(
    kind: K<T>,
    take: (object: Stored<T>) => void,
    o?: ScanOptions<T>,
  ): Promise<{ readonly resourceVersion: string }>;
  /** Watches for changes until the server ends the watch. Does not reconnect: the cache does. */
  watch<T extends Some>(kind: K<T>, o?: WatchOptions<T>): AsyncIterable<WatchEvent<T>>;
  /** Like `watch`, with a callback instead of promises for each event. For caches; optional for custom clients. */
  follow?<T extends Some>(kind: K<T>, take: (event: WatchEvent<T>) => void, o?: WatchOptions<T>): Promise<void>;

  /** Creates an object. With `subresource: "eviction"`, the object has the name of the pod. @throws AlreadyExistsError, InvalidError */
  create<T extends Some, S extends Sub = undefined>(
    kind: K<T>,
    object: Spoken<T, S>,
    o?: WriteOptions<S>,
  ): Promise<Answered<T, S>>;
  /** Replaces an object. Set its resourceVersion to make this a compare-and-swap. @throws ConflictError */
  update<T extends Some, S extends Sub = undefined>(
    kind: K<T>,
    object: Spoken<T, S>,
    o?: WriteOptions<S>,
  ): Promise<Answered<T, S>>;
  patch<T extends Some, S extends Sub = undefined>(
    kind: K<T>,
    ref: ObjectRef,
    patch: Patch,
    o?: WriteOptions<S>,
  ): Promise<Answered<T, S>>;
  /** Server-side apply: creates or updates the object and owns exactly the given fields. Idempotent; prefer it for writes. */
  apply<T extends Some, S extends Sub = undefined>(
    kind: K<T>,
    object: Applied<Spoken<T, S>> | Spoken<T, S>,
    o: ApplyOptions<S>,
  ): Promise<Answered<T, S>>;
  /** Deletes an object. Returns it while its finalizers run; undefined if it is gone. @throws NotFoundError (see `ignoreNotFound`), ConflictError */
  delete<T extends Some>(kind: K<T>, ref: ObjectRef, o?: DeleteOptions): Promise<Stored<T> | undefined>;

  /** Sends a request and returns the text of a 2xx response. */
  request(request: RawRequest): Promise<string>;
  readonly discovery: Discovery;
  /** Waits for calls in progress and closes the connections. `await using` calls it, too. */
  close(): Promise<void>;
}

/**
 * The known subresources, for completion; any other name is allowed. Most take and return the object itself (`status`, `resize`). Some
 * have their own type: `client.get(Deployment, ref, { subresource: "scale" })` returns a Scale.
 */
export type Subresource = "status" | "scale" | "resize" | "eviction" | "ephemeralcontainers" | "token" | (string & {});

/** The type that subresource S of T takes; S undefined means the object itself. */
export type Spoken<T, S> = S extends "scale"
  ? Scale
  : S extends "eviction"
    ? Eviction
    : S extends "status" | "resize" | "ephemeralcontainers" | undefined
      ? T
      : KubernetesObject;

/** The type that subresource S of T returns. Spelled out so that it is `Stored<T>` in generic code without a subresource. */
export type Answered<T extends KubernetesObject, S> = S extends "eviction"
  ? Status
  : S extends "scale"
    ? Stored<Scale>
    : S extends "status" | "resize" | "ephemeralcontainers" | undefined
      ? Stored<T>
      : Stored<KubernetesObject>;

const ownTypes: Readonly<Record<string, { readonly apiVersion: string; readonly kind: string }>> = {
  scale: { apiVersion: "autoscaling/v1", kind: "Scale" },
  eviction: { apiVersion: "policy/v1", kind: "Eviction" },
  token: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" },
};

/** The default apiVersion and kind of a request body. */
export function typeAt(kind: Kind, subresource: string | undefined): { readonly apiVersion: string; readonly kind: string } {
  return (subresource && ownTypes[subresource]) || { apiVersion: apiVersionOf(kind), kind: kind.kind };
}

/** One attempt, with or without a response. Source of `rest_client_requests_total` and similar metrics. */
export interface CallReport {
  readonly method: string;
  readonly path: string;
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** From passing the request to the transport until the response (for a watch: until the response starts). */
  readonly durationMs: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

export interface Observer {
  called?(report: CallReport): void;
  /** The client-side rate limit delayed a call. */
  throttled?(report: { readonly lane: string; readonly waitedMs: number }): void;
  /** The server sent a `Warning` header, for example about a deprecated version or an unknown field. */
  warned?(report: { readonly attempt: string; readonly text: string }): void;
  /** A watch event of an unknown type was skipped. */
  skippedEvent?(report: { readonly attempt: string; readonly type: string }): void;
}
