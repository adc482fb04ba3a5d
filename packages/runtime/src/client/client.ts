// The typed client: what one can ask of a Kubernetes API server, in eleven verbs.
//
// A call goes down through few, separate rooms, each a file:
//
//     client.ts (this interface) → make-client.ts (verbs → method, path, body)
//       → call.ts (deadline, rate limit, safe retries, errors)
//         → transport/ (bytes; undici in production, and for lists bulk/)
//     watch/ takes the same way down and streams back up: lines → events → projected objects. scan/ does so with lists.
//     config/ finds out where the server is and who we are. discovery.ts asks what the server can do.
//
// Promises made here:
// - Every call ends: `timeoutMs` bounds it whole, including the wait for the rate limit and every retry.
// - A retry never repeats a write that the server may have seen. What is unknown is thrown as TransportError with
//   `outcome: "unknown"`, to be read again, never assumed (promise C2).
// - Objects pass through as parsed JSON. Fields that no type here knows are kept.
// - Nothing is logged. What is worth telling goes to the `observer`.
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import type { Discovery } from "./discovery.ts";
import type { Answered, Spoken, Subresource } from "./subresource.ts";
import type { Method } from "./transport/transport.ts";

export interface CallOptions {
  /** Ends the call early; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call. @default 30 s, or what the client was made with */
  readonly timeoutMs?: number | undefined;
  /** "high" takes the lane that Lease traffic has to itself; keep it for what must not wait. @default "normal" */
  readonly priority?: "normal" | "high" | undefined;
}

export interface ReadOptions<S extends string | undefined = undefined> extends CallOptions {
  readonly subresource?: S;
}

export interface ListOptions extends CallOptions {
  /** Objects of this namespace; of all namespaces if undefined. */
  readonly namespace?: string | undefined;
  /** As kubectl writes it: "app=web,tier in (a, b)". */
  readonly labelSelector?: string | undefined;
  /** Like "spec.nodeName=node-1". */
  readonly fieldSelector?: string | undefined;
  /** Objects per page. @default no limit for `list`, 200 for `listAll` */
  readonly limit?: number | undefined;
  /** Where the page before said to go on. */
  readonly continue?: string | undefined;
}

export interface ObjectList<T extends KubernetesObject> {
  readonly metadata: {
    readonly resourceVersion: string;
    /** Present if there are more pages. */
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: Stored<T>[];
}

export type WatchEvent<T extends KubernetesObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: Stored<T> }
  /** Everything up to this version has been delivered; `initialEventsEnd` closes the state asked for by `sendInitialEvents`. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WatchOptions<T extends KubernetesObject> {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Events after this version. Without it the server starts with synthetic ADDED events of its present state. */
  readonly resourceVersion?: string | undefined;
  /** Stream the present state first, as ADDED events closed by a bookmark. Servers that cannot answer InvalidError. */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after this. @default random, 5 to 10 minutes, so that many watches do not end together */
  readonly timeoutSeconds?: number | undefined;
  /** Milliseconds until the server must have accepted it (TimeoutError). @default that of the client's calls */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds without any event or bookmark before the watch is given up (IdleWatchError). @default 120 s */
  readonly idleMs?: number | undefined;
  /** Applied to each object as soon as it is parsed, so that what is not needed dies young. */
  readonly project?: ((object: Stored<T>) => Stored<T>) | undefined;
  /** Called when the server has accepted the watch. On a quiet kind the first event may be long in coming. */
  readonly onOpen?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ScanOptions<T extends KubernetesObject = KubernetesObject> {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Fields that this runtime has no name for may be left out: then a built-in kind may come in protobuf, which servers write faster. @default false */
  readonly knownFieldsOnly?: boolean | undefined;
  /** Applied to each object as soon as it is there. What it does not look at may never be read, so it must look at once. */
  readonly project?: ((object: Stored<T>) => Stored<T>) | undefined;
  /** Milliseconds until the answer must have begun (TimeoutError). @default `idleMs` */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds without a byte before it is given up (IdleWatchError). @default 60 s */
  readonly idleMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions<S extends string | undefined = undefined> extends CallOptions {
  /** Validate, default and admit, but store nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** Who the server notes as the author of the fields. @default the client's user agent, by the server's choice */
  readonly fieldManager?: string | undefined;
  /** What the server does about unknown or duplicate fields. @default "Warn", by the server's choice */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined;
  readonly subresource?: S;
}

export interface ApplyOptions<S extends string | undefined = undefined> extends WriteOptions<S> {
  readonly fieldManager: string;
  /** Take fields over from other managers instead of failing with ConflictError. @default false */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Only this very object, not a namesake that came after it. */
  readonly uid?: string | undefined;
  /** Only this very state of it. */
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A change to an object. `strategic` merges lists by key and works for built-in kinds only. */
export type Patch =
  | { readonly type: "json"; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: "merge" | "strategic"; readonly body: object };

/** RFC 6902. A `test` on /metadata/resourceVersion or /metadata/uid makes the patch a compare-and-swap. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** Part of an object: what one manager wants to own of it. */
export type Applied<T> = T extends readonly (infer E)[]
  ? readonly Applied<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: Applied<T[K]> }
    : T;

/** Any other call, for what the verbs do not cover: "/readyz", "/metrics", a subresource with a body of its own. */
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
  /** One object. @throws NotFoundError */
  get<T extends Some, S extends Sub = undefined>(kind: K<T>, ref: ObjectRef, o?: ReadOptions<S>): Promise<Answered<T, S>>;
  /** One object, or undefined if there is none. */
  find<T extends Some>(kind: K<T>, ref: ObjectRef, o?: ReadOptions): Promise<Stored<T> | undefined>;
  /** One page. Always as fresh as the moment of the call: `resourceVersion=0` is never sent. */
  list<T extends Some>(kind: K<T>, o?: ListOptions): Promise<ObjectList<T>>;
  /** All objects, page by page, each once. If the list expires on the way it goes on from a fresh one. */
  listAll<T extends Some>(kind: K<T>, o?: ListOptions): AsyncIterable<Stored<T>>;
  /**
   * All objects as of one moment, in one answer, each handed over as soon as it is there; if it fails, some have been. For
   * caches: nothing is collected here. Clients made by hand need not have it.
   */
  scan?<T extends Some>(
    kind: K<T>,
    take: (object: Stored<T>) => void,
    o?: ScanOptions<T>,
  ): Promise<{ readonly resourceVersion: string }>;
  /** Changes as they happen, until the server ends the watch. One connection, no reconnect: that is the cache's trade. */
  watch<T extends Some>(kind: K<T>, o?: WatchOptions<T>): AsyncIterable<WatchEvent<T>>;
  /** The same by calling back, without promises for each event. For caches; clients made by hand need not have it. */
  follow?<T extends Some>(kind: K<T>, take: (event: WatchEvent<T>) => void, o?: WatchOptions<T>): Promise<void>;

  /** With `subresource: "eviction"` the object's name is the pod's. @throws AlreadyExistsError, InvalidError */
  create<T extends Some, S extends Sub = undefined>(
    kind: K<T>,
    object: Spoken<T, S>,
    o?: WriteOptions<S>,
  ): Promise<Answered<T, S>>;
  /** Replaces the whole object. Give it the resourceVersion it was read with, and it is a compare-and-swap. @throws ConflictError */
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
  /** Server-side apply: creates or changes, owns exactly the fields given, may be repeated. The write to prefer. */
  apply<T extends Some, S extends Sub = undefined>(
    kind: K<T>,
    object: Applied<Spoken<T, S>> | Spoken<T, S>,
    o: ApplyOptions<S>,
  ): Promise<Answered<T, S>>;
  /** The object as it is while its finalizers run, or undefined if it is gone. @throws NotFoundError, ConflictError */
  delete<T extends Some>(kind: K<T>, ref: ObjectRef, o?: DeleteOptions): Promise<Stored<T> | undefined>;

  /** The text of a 2xx answer. */
  request(request: RawRequest): Promise<string>;
  readonly discovery: Discovery;
  /** Lets what is under way finish and closes the connections; so does the end of `await using`. */
  close(): Promise<void>;
}
