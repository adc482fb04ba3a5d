// What every verb is given: the parts of the server, put together once (api-server.ts).
import type { Environment, ObjectRef } from "@memhog/runtime";
import type { ApiObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { KindRegistry } from "../kinds/registry.ts";
import type { Storage, StoredKind } from "../storage/storage.ts";
import { formatTime } from "../time.ts";
import type { Admission } from "./admission.ts";
import type { ApiRequest, ApiResponse } from "./handler.ts";
import type { Patching } from "./patching.ts";

export interface ServerCore {
  readonly environment: Environment;
  readonly storage: Storage;
  readonly kinds: KindRegistry;
  /** Asked in this order; others may add to it while the simulator is put together. */
  readonly admissions: Admission[];
  readonly patching: Patching;
  /** Doors that are answered elsewhere, by "plural/subresource": "pods/log". What is missing here is answered with 501. */
  readonly connects: Map<string, Connect>;
  /** Paths beside those of objects, by their beginning: "/openapi/". */
  readonly routes: Map<string, Route>;
  /** Aborts when the server stops: watches end. */
  readonly stopped: AbortSignal;
}

/** Answers for a subresource that is not part of the object: logs, proxies. */
export type Connect = (call: ConnectCall) => ApiResponse | Promise<ApiResponse>;

export interface ConnectCall {
  readonly object: ApiObject;
  readonly request: ApiRequest;
  /** What follows the subresource in the path: "/metrics/cadvisor" of a node's proxy. */
  readonly rest: string;
}

export type Route = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** What a request is about. */
export interface Target {
  readonly kind: KindEntry;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** The rest of the path behind the subresource. */
  readonly rest?: string;
}

export function storedKindOf(kind: KindEntry): StoredKind {
  return kind.storedAs ?? { group: kind.group, plural: kind.plural };
}

export function refOf({ namespace }: Pick<Target, "namespace">, name: string): ObjectRef {
  return namespace === undefined ? { name } : { namespace, name };
}

/** The present instant as objects spell it. */
export function nowText({ environment }: ServerCore): string {
  return formatTime(environment.clock.now());
}

/** Stored objects as this version of their kind shows them. */
export async function asServed(kind: KindEntry, objects: readonly ApiObject[]): Promise<readonly ApiObject[]> {
  return kind.conversion === undefined ? objects : kind.conversion.fromStored(objects);
}

export async function oneAsServed(kind: KindEntry, object: ApiObject): Promise<ApiObject> {
  const [served] = await asServed(kind, [object]);
  return served ?? object;
}
