// All objects of a kind as of one moment, handed over one by one while they come in. This is how caches begin.
//
// Measured on one server with 5,000 pods (the floor rows of docs/bench-runtime.md): a list in one piece takes about 0.6 of the
// time of the same objects streamed as watch events, and in protobuf about half of that again. Since 1.33 servers write lists without holding
// them in memory as a whole, and so do we at this end: an object is read, as far as its projection looks at it, and forgotten.
//
// Protobuf has no names of fields. What this runtime does not know (a field of a newer Kubernetes) cannot be handed on, so
// it is asked for only where the caller says that it keeps known fields only: a cache that projects. Whoever might write
// an object back gets it as JSON, whole.
//
//     json-reader.ts      where one object of a list ends and the next begins, without parsing; json-end.ts if that is hard to say
//     protobuf-reader.ts  the same in protobuf; protobuf-object.ts one object; structs.ts which field is which;
//                         unread.ts the parts of it that nobody has looked at; protobuf-status.ts a refusal
import { anySignal } from "../../concurrency/abort.ts";
import { apiVersionOf, type Kind, type KubernetesObject, type Stored } from "../../objects/object.ts";
import type { ScanOptions } from "../client.ts";
import { AnswerError, BrokenStreamError, IdleWatchError } from "../errors.ts";
import { collectionPath } from "../path.ts";
import { type IdleWatchdog, idleWatchdog } from "../watch/idle.ts";
import type { WatchTools } from "../watch/watch.ts";
import { JsonListReader } from "./json-reader.ts";
import { BrokenListError, type ListReader } from "./list-reader.ts";
import { type Protobuf, protobufOf } from "./protobuf-reader.ts";
import { whole } from "./unread.ts";

const defaultIdleMs = 60_000;

export async function scanKind<T extends KubernetesObject>(
  kind: Kind<T>,
  take: (object: Stored<T>) => void,
  options: ScanOptions<T>,
  tools: WatchTools,
): Promise<{ readonly resourceVersion: string }> {
  const attempt = `list ${kind.kind}${options.namespace === undefined ? "" : ` in ${options.namespace}`}`;
  using idle = idleWatchdog(tools.environment.clock, options.idleMs ?? defaultIdleMs, attempt);
  using either = anySignal([options.signal, idle.signal]);
  try {
    const protobuf = options.knownFieldsOnly ? protobufOf(kind) : undefined;
    const chunks = await open(attempt, kind, options, { ...tools, protobuf, signal: either.signal });
    const keep = taking(kind, take, options.project);
    return { resourceVersion: await readAll(chunks, { take: keep, idle, pause: tools.pause, protobuf }) };
  } catch (error) {
    throw endOf(attempt, error, options.signal, idle.signal);
  }
}

interface Opening extends WatchTools {
  readonly protobuf: Protobuf | undefined;
  readonly signal: AbortSignal;
}

async function open(attempt: string, kind: Kind, options: Omit<ScanOptions, "project">, { caller, protobuf, signal }: Opening) {
  const { namespace, labelSelector, fieldSelector, idleMs = defaultIdleMs, timeoutMs = idleMs } = options;
  const request = {
    method: "GET",
    path: collectionPath(kind, namespace),
    query: { labelSelector, fieldSelector },
    ...(protobuf && { headers: { accept: `${protobuf.mediaType}, application/json` } }),
  } as const;
  // Whoever keeps a cache has a back-off of its own.
  const body = await caller.chunks({ attempt, request, options: { signal, timeoutMs }, once: true });
  return typeof body === "string" ? [Buffer.from(body)] : body;
}

/** The server leaves apiVersion and kind out of the items of built-in lists, but not out of watch events. */
function taking<T extends KubernetesObject>(
  kind: Kind<T>,
  take: (object: Stored<T>) => void,
  project: ScanOptions<T>["project"] = (object) => object,
) {
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return (object: object) => {
    const typed = ("kind" in object ? object : { ...type, ...object }) as Stored<T>;
    take(whole(project(typed)));
  };
}

interface Reading {
  readonly take: (object: object) => void;
  readonly idle: IdleWatchdog;
  readonly pause: WatchTools["pause"];
  readonly protobuf: Protobuf | undefined;
}

/** Reads to the end. A turn of the event loop lasts as long as the pace allows, whatever is in a chunk. */
async function readAll(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, { take, idle, pause, protobuf }: Reading) {
  let reader: ListReader | undefined;
  idle.listen();
  for await (const chunk of chunks) {
    idle.heard();
    reader ??= protobuf?.isProtobuf(chunk) ? protobuf.reader() : new JsonListReader();
    reader.push(chunk);
    for (let object = reader.next(); object !== undefined; object = reader.next()) {
      take(object);
      const rest = pause();
      if (rest !== undefined) await rest;
    }
    idle.listen();
  }
  if (reader === undefined) throw new BrokenListError("a list, found nothing");
  const { items, resourceVersion } = reader.finish();
  for (const item of items) take(item);
  return resourceVersion;
}

/** What a failure inside means to the one who asked. */
function endOf(attempt: string, error: unknown, caller: AbortSignal | undefined, idle: AbortSignal): unknown {
  if (caller?.aborted) return caller.reason;
  if (idle.aborted)
    return new IdleWatchError(`${attempt}: ${(idle.reason as Error).message} → it is given up; list again`, error);
  if (!(error instanceof BrokenListError)) return error;
  const message = `${attempt}: expected ${error.message}`;
  return error.cut ? new BrokenStreamError(message, error) : new AnswerError(message);
}
