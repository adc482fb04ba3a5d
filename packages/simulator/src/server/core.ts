// The dependencies that every verb receives.
import type { Environment, ObjectRef } from "@memhog/runtime";
import type { TransportRequest, TransportResponse } from "@memhog/runtime/client";
import { type ApiObject, type Draft, formatTime } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { KindRegistry } from "../kinds/registry.ts";
import type { Storage, StoredKind } from "../storage/storage.ts";
import type { Admission } from "./admission.ts";

export interface ServerCore {
  readonly environment: Environment;
  readonly storage: Storage;
  readonly kinds: KindRegistry;
  /** Plugins in the order in which they run. Components add theirs while the simulator is created. */
  readonly admissions: Admission[];
  readonly patching: Patching;
  /** Handlers of connect subresources, by "plural/subresource", for example "pods/log". Without a handler the server returns 501. */
  readonly connects: Map<string, Connect>;
  /** Handlers of paths outside the resource API, by prefix, for example "/openapi/". */
  readonly routes: Map<string, Route>;
  /** Webhooks in this process, by URL: they are called without a network. */
  readonly webhooks: Map<string, LocalWebhook>;
  /** Aborts when the server stops; ends all watches. */
  readonly stopped: AbortSignal;
}

/** Answers a review. What it throws is a failed call. */
export type LocalWebhook = (review: unknown, signal: AbortSignal) => Promise<object>;

/** Handles a subresource that is not part of the object, such as logs or a proxy. */
export type Connect = (call: ConnectCall) => ApiResponse | Promise<ApiResponse>;

export interface ConnectCall {
  readonly object: ApiObject;
  readonly request: ApiRequest;
  /** The path after the subresource, for example "/metrics/cadvisor" for a node's proxy. */
  readonly rest: string;
}

export type Route = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** The resource that a request addresses. */
export interface Target {
  readonly kind: KindEntry;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** The path after the subresource. */
  readonly rest?: string;
}

export function storedKindOf(kind: KindEntry): StoredKind {
  return kind.storedAs ?? { group: kind.group, plural: kind.plural };
}

export function refOf({ namespace }: Pick<Target, "namespace">, name: string): ObjectRef {
  return namespace === undefined ? { name } : { namespace, name };
}

/** The current time, formatted as in API objects. */
export function nowText({ environment }: ServerCore): string {
  return formatTime(environment.clock.now());
}

/** Converts stored objects to the version that `kind` serves. */
export async function asServed(kind: KindEntry, objects: readonly ApiObject[]): Promise<readonly ApiObject[]> {
  return kind.conversion === undefined ? objects : kind.conversion.fromStored(objects);
}

export async function oneAsServed(kind: KindEntry, object: ApiObject): Promise<ApiObject> {
  const [served] = await asServed(kind, [object]);
  return served ?? object;
}

// The interface of patches and managed fields. src/patch/ implements it with pure functions.

export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface PatchCall {
  readonly type: PatchType;
  /** The parsed JSON body of the request. */
  readonly patch: unknown;
  readonly kind: KindEntry;
  readonly subresource: string | undefined;
  /** The stored object in the version of `kind`, or its Scale. Undefined only if "apply" creates the object. */
  readonly live: ApiObject | undefined;
  /** The field manager. Used by "apply". */
  readonly manager: string;
  readonly force: boolean;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

export interface UpdateCall {
  readonly kind: KindEntry;
  readonly subresource: string | undefined;
  readonly before: ApiObject | undefined;
  /** Complete, but not yet stored. Its managedFields are still those of `before`. */
  readonly after: ApiObject;
  readonly manager: string;
  /** "2026-01-02T03:04:05Z" */
  readonly now: string;
}

export interface Patching {
  /** Returns the patched object. Updates managedFields only for "apply". @throws StatusError: 400, 409, 415, 422 */
  patch(call: PatchCall): Draft;
  /** Returns the managedFields of an object after a create, an update, or a patch other than "apply". */
  track(call: UpdateCall): readonly unknown[] | undefined;
}

// Requests and responses, the same for HTTP and in-memory clients: the transport types of @memhog/runtime. Middleware such as
// fault injection sees all traffic.

export type ApiRequest = TransportRequest;
export type ApiResponse = TransportResponse;

export type Handler = (request: ApiRequest) => Promise<ApiResponse>;

/** Wraps the handler. Can delay, corrupt, or replace a response. */
export type Middleware = (next: Handler) => Handler;
