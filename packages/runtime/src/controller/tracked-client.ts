// The client of one reconcile. It records every write, so that the next reconcile of this key
// sees it (key-state.ts), and every call for `explain`. Its calls end with the reconcile, and none can begin after it.
import type { Cache } from "../cache/cache.ts";
import { AlreadyExistsError, ApiError, ConfigError, ConflictError, NotFoundError, TransportError } from "../client/errors.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import { AccessNotDeclaredError } from "../schema/errors.ts";
import type { GrantedClient } from "../schema/restricted-client.ts";
import type { PendingWrites } from "./key-state.ts";

export interface Tracking {
  readonly writes: PendingWrites;
  /** Aborts when the reconcile is over. */
  readonly signal: () => AbortSignal;
  /** The caches that hold objects of this kind. */
  cachesOf(kind: Kind): readonly Cache[];
  /** For `explain`. */
  noteRead(line: string): void;
  noteWrite(line: string): void;
}

export function trackedClient(client: GrantedClient, tracking: Tracking): GrantedClient {
  const writing = writer(tracking);
  const reading = reader(tracking);
  const within = <O extends { readonly signal?: AbortSignal | undefined }>(
    options: O | undefined,
  ): O & { signal: AbortSignal } => ({
    ...(options as O),
    signal: options?.signal === undefined ? tracking.signal() : AbortSignal.any([tracking.signal(), options.signal]),
  });
  return {
    get: (kind, ref, o) => reading(kind, ref, () => client.get(kind, ref, within(o))),
    find: (kind, ref, o) => reading(kind, ref, () => client.find(kind, ref, within(o))),
    list: (kind, o) => reading(kind, undefined, () => client.list(kind, within(o))),
    listAll: (kind, o) => client.listAll(kind, within(o)),
    watch: (kind, o) => client.watch(kind, within(o)),
    create: (kind, object, o) =>
      writing({ verb: "create", kind, ref: nameOf(object), options: o }, () => client.create(kind, object, within(o))),
    update: (kind, object, o) =>
      writing({ verb: "update", kind, ref: nameOf(object), options: o }, () => client.update(kind, object, within(o))),
    patch: (kind, ref, patch, o) =>
      writing({ verb: "patch", kind, ref, options: o }, () => client.patch(kind, ref, patch, within(o))),
    apply: (kind, object, o) =>
      writing({ verb: "apply", kind, ref: nameOf(object as KubernetesObject), options: o }, () =>
        client.apply(kind, object, within(o)),
      ),
    delete: (kind, ref, o) =>
      writing({ verb: "delete", kind, ref, options: o, uid: o?.uid }, () => client.delete(kind, ref, within(o))),
    discovery: client.discovery,
  };
}

function reader({ noteRead, signal }: Tracking) {
  return <R>(kind: Kind, ref: ObjectRef | undefined, call: () => Promise<R>): Promise<R> =>
    handled(async () => {
      signal().throwIfAborted();
      const found = await call();
      noteRead(
        ref === undefined ? `live list of ${kind.kind}` : `live ${kind.kind} ${keyOf(ref)}: ${versionIn(found) ?? "none"}`,
      );
      return found;
    });
}

/** A call that is not awaited must not end the process when it fails; `explain` records the failure. */
function handled<R>(call: () => Promise<R>): Promise<R> {
  const promise = call();
  promise.catch(() => {});
  return promise;
}

interface Write {
  readonly verb: "create" | "update" | "patch" | "apply" | "delete";
  readonly kind: Kind;
  readonly ref: ObjectRef;
  readonly options: { readonly subresource?: string | undefined; readonly dryRun?: boolean | undefined } | undefined;
  readonly uid?: string | undefined;
}

function writer(tracking: Tracking) {
  const { writes, signal, cachesOf, noteWrite } = tracking;
  const send = async <R>(write: Write, call: () => Promise<R>): Promise<R> => {
    signal().throwIfAborted();
    const { kind, ref, options } = write;
    const caches = options?.dryRun ? [] : cachesOf(kind);
    const ended = writes.begin();
    try {
      const answer = await call();
      noteWrite(`${nameWrite(write)} → ${versionIn(answer) ?? "ok"}`);
      mark(write, answer, caches, writes);
      return answer;
    } catch (error) {
      noteWrite(`${nameWrite(write)} → ${codeOf(error)}`);
      if (mustReadBack(error)) writes.unknown(caches, kind, ref);
      throw error;
    } finally {
      ended();
    }
  };
  return <R>(write: Write, call: () => Promise<R>): Promise<R> => handled(() => send(write, call));
}

function mark({ verb, ref, options, uid }: Write, answer: unknown, caches: readonly Cache[], writes: PendingWrites): void {
  // The answer to an eviction is a Status: the pod is being deleted.
  if (verb === "delete" || options?.subresource === "eviction") writes.deleted(caches, ref, uid);
  else if (isStored(answer)) writes.written(caches, answer);
}

const notSent = [ConfigError, AccessNotDeclaredError, TypeError];

/**
 * Whether the object has to be read before the next decision: because the write may have happened, or because the cached
 * object is stale (a conflict, an existing object, a missing one). Any other rejection is final.
 */
function mustReadBack(error: unknown): boolean {
  if (error instanceof ConflictError || error instanceof AlreadyExistsError || error instanceof NotFoundError) return true;
  if (error instanceof ApiError) return error.status >= 500;
  if (error instanceof TransportError) return error.outcome === "unknown";
  return !notSent.some((kind) => error instanceof kind);
}

function isStored(answer: unknown): answer is Stored<KubernetesObject> {
  const { uid, resourceVersion } = (answer as Stored<KubernetesObject> | undefined)?.metadata ?? {};
  return typeof uid === "string" && typeof resourceVersion === "string";
}

function versionIn(answer: unknown): string | undefined {
  return isStored(answer) ? `@${answer.metadata.resourceVersion}` : undefined;
}

function nameOf({ metadata }: KubernetesObject): ObjectRef {
  const name = metadata?.name ?? "";
  return metadata?.namespace === undefined ? { name } : { namespace: metadata.namespace, name };
}

function nameWrite({ verb, kind, ref, options }: Write): string {
  const subresource = options?.subresource === undefined ? "" : `/${options.subresource}`;
  return `${verb} ${kind.kind}${subresource} ${keyOf(ref)}${options?.dryRun ? " (dry run)" : ""}`;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : String(error);
}
