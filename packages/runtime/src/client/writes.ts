// The verbs that change the world. Each is one request; what they have in common is in `write`.
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../objects/object.ts";
import { isStatus, objectIn } from "./answer.ts";
import type { Caller } from "./call.ts";
import type { ApplyOptions, DeleteOptions, Patch, WriteOptions } from "./client.ts";
import { homePath, objectPath } from "./path.ts";
import { typeAt } from "./subresource.ts";
import type { Method } from "./transport/transport.ts";

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
  // A subresource is created at an object that exists; the object itself at its collection, where the server may name it.
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
  // JSON is YAML, and older servers know no other name for this kind of patch.
  return write(caller, { what, method: "PATCH", path, body, type: "application/apply-patch+yaml", options, force });
}

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
  const answer = await write(caller, { what, method: "DELETE", path, body, options: callOptionsOf(options) });
  // Gone at once: a Status that says so. Kept by finalizers or a grace period: the object. (One whose kind is named
  // "Status" cannot be told apart and does not exist.)
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

/** The object with apiVersion and kind, which custom resources must carry and people forget. */
function withType(kind: Kind, object: KubernetesObject, subresource: string | undefined): KubernetesObject {
  return { ...typeAt(kind, subresource), ...object };
}

function named(verb: string, kind: Kind, ref: ObjectRef, subresource: string | undefined): string {
  return `${verb} ${kind.kind}${subresource === undefined ? "" : `/${subresource}`} ${keyOf(ref)}`;
}
