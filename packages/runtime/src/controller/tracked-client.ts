// The client of one reconcile. It does what the client does, and besides: every write leaves a mark, so that the next
// reconcile of this key sees it (pending-writes.ts); every call is told to `explain`; every call ends with the reconcile,
// by its signal, and none can begin after it.
import type { Cache } from "../cache/cache.ts";
import type { ApplyOptions, Client, DeleteOptions, Patch, WriteOptions } from "../client/client.ts";
import { AlreadyExistsError, ApiError, ConfigError, ConflictError, NotFoundError, TransportError } from "../client/errors.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, type Stored } from "../objects/object.ts";
import { AccessNotDeclaredError } from "../schema/errors.ts";
import type { PendingWrites } from "./pending-writes.ts";

export interface Tracking {
  readonly writes: PendingWrites;
  /** Aborts when the reconcile is over. */
  readonly signal: () => AbortSignal;
  /** The caches that an object of this kind would be seen in. */
  cachesOf(kind: Kind): readonly Cache[];
  /** For `explain`. */
  noteRead(line: string): void;
  noteWrite(line: string): void;
}

type AnyWrite = WriteOptions<string | undefined>;

export function trackedClient(client: Client, tracking: Tracking): Client {
  const writing = writer(tracking);
  const reading = reader(tracking);
  const within = <O extends { readonly signal?: AbortSignal | undefined }>(options?: O) => ({
    ...(options as O),
    signal: options?.signal === undefined ? tracking.signal() : AbortSignal.any([tracking.signal(), options.signal]),
  });
  const verbs = {
    get: (kind: Kind, ref: ObjectRef, o?: object) => reading(kind, ref, () => client.get(kind, ref, within(o))),
    find: (kind: Kind, ref: ObjectRef, o?: object) => reading(kind, ref, () => client.find(kind, ref, within(o))),
    list: (kind: Kind, o?: object) => reading(kind, undefined, () => client.list(kind, within(o))),
    listAll: (kind: Kind, o?: object) => client.listAll(kind, within(o)),
    watch: (kind: Kind, o?: object) => client.watch(kind, within(o)),
    create: (kind: Kind, object: KubernetesObject, o?: AnyWrite) =>
      writing({ verb: "create", kind, ref: nameOf(object), options: o }, () => client.create(kind, object as never, within(o))),
    update: (kind: Kind, object: KubernetesObject, o?: AnyWrite) =>
      writing({ verb: "update", kind, ref: nameOf(object), options: o }, () => client.update(kind, object as never, within(o))),
    patch: (kind: Kind, ref: ObjectRef, patch: Patch, o?: AnyWrite) =>
      writing({ verb: "patch", kind, ref, options: o }, () => client.patch(kind, ref, patch, within(o))),
    apply: (kind: Kind, object: KubernetesObject, o: ApplyOptions<string | undefined>) =>
      writing({ verb: "apply", kind, ref: nameOf(object), options: o }, () => client.apply(kind, object as never, within(o))),
    delete: (kind: Kind, ref: ObjectRef, o?: DeleteOptions) =>
      writing({ verb: "delete", kind, ref, options: o, uid: o?.uid }, () => client.delete(kind, ref, within(o))),
    request: (o: Parameters<Client["request"]>[0]) => client.request(within(o)),
    discovery: client.discovery,
    close: () => Promise.resolve(), // it is not the reconciler's to close
  };
  return verbs as unknown as Client;
}

function reader({ noteRead, signal }: Tracking) {
  return (kind: Kind, ref: ObjectRef | undefined, call: () => Promise<unknown>): Promise<unknown> =>
    handled(async () => {
      signal().throwIfAborted();
      const found = await call();
      noteRead(
        ref === undefined ? `live list of ${kind.kind}` : `live ${kind.kind} ${keyOf(ref)}: ${versionIn(found) ?? "none"}`,
      );
      return found;
    });
}

/** A call that nobody awaits fails without taking the process down; `explain` and the next reconcile know of it. */
function handled(call: () => Promise<unknown>): Promise<unknown> {
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
  const send = async (write: Write, call: () => Promise<unknown>): Promise<unknown> => {
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
      if (leavesDoubt(error)) writes.doubt(caches, kind, ref);
      throw error;
    } finally {
      ended();
    }
  };
  return (write: Write, call: () => Promise<unknown>): Promise<unknown> => handled(() => send(write, call));
}

function mark({ verb, ref, options, uid }: Write, answer: unknown, caches: readonly Cache[], writes: PendingWrites): void {
  // An evicted pod is answered with a Status: it is on its way out as if it had been deleted.
  if (verb === "delete" || options?.subresource === "eviction") writes.deleted(caches, ref, uid);
  else if (isStored(answer)) writes.written(caches, answer);
}

const notSent = [ConfigError, AccessNotDeclaredError, TypeError];

/**
 * Did the write happen, and is our view of its object recent? A refusal settles the first question; a conflict, a
 * namesake or a missing object answers the second with no. Either way the object is read before the next decision.
 */
function leavesDoubt(error: unknown): boolean {
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
