// A watch from its opening to its end: bytes → lines → events → projected objects, one at a time, for as long as the
// server keeps it open. It does not reconnect; whoever keeps a state (the cache) knows from where to go on.
//
// There are two ways to listen. `watchKind` is for loops (`for await`), and costs a dozen promises an event; `followKind` calls
// back, for caches, which hear everything: all events of a chunk in one go, with a pause when a turn has lasted too long.
//
// How it can end:
//     the server closes it between two events       the iteration ends
//     the connection breaks, or the last line is cut BrokenStreamError
//     silence for `idleMs`                          IdleWatchError
//     an ERROR event                                its error: ExpiredError for 410, InternalError …
//     the caller's signal                           its reason
//     the caller leaves the loop                    the stream is closed
import { anySignal } from "../../concurrency/abort.ts";
import type { Environment } from "../../concurrency/environment.ts";
import type { Kind, KubernetesObject } from "../../objects/object.ts";
import type { Caller } from "../call.ts";
import type { WatchEvent, WatchOptions } from "../client.ts";
import { BrokenStreamError, IdleWatchError } from "../errors.ts";
import type { Observer } from "../observer.ts";
import { collectionPath } from "../path.ts";
import { parseEvent } from "./event.ts";
import { type IdleWatchdog, idleWatchdog } from "./idle.ts";
import { LineSplitter } from "./lines.ts";
import type { Pause } from "./pace.ts";

const defaultIdleMs = 120_000;

/** etcd refuses objects above 1.5 MiB; managed fields and escaping add some. Far above both. */
const maxLineBytes = 64 * 1024 * 1024;

export interface WatchTools {
  readonly caller: Caller;
  readonly environment: Environment;
  readonly observer: Observer;
  readonly pause: Pause;
}

export async function followKind<T extends KubernetesObject>(
  kind: Kind<T>,
  take: (event: WatchEvent<T>) => void,
  options: WatchOptions<T>,
  tools: WatchTools,
): Promise<void> {
  const attempt = attemptOf(kind, options);
  using idle = idleWatchdog(tools.environment.clock, options.idleMs ?? defaultIdleMs, attempt);
  using either = anySignal([options.signal, idle.signal]);
  try {
    const chunks = await open(attempt, kind, options, tools, either.signal);
    options.onOpen?.();
    const lines = new LineSplitter(attempt, maxLineBytes);
    for await (const chunk of heeding(attempt, chunks, idle)) {
      for (const line of lines.push(chunk)) {
        const event = eventOf(attempt, line, options, tools);
        if (event !== undefined) take(event);
        const rest = tools.pause();
        if (rest !== undefined) await rest;
      }
    }
    checkEnd(attempt, lines);
  } catch (error) {
    throw endOf(attempt, error, options.signal, idle.signal);
  }
}

export async function* watchKind<T extends KubernetesObject>(
  kind: Kind<T>,
  options: WatchOptions<T>,
  tools: WatchTools,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const attempt = attemptOf(kind, options);
  using idle = idleWatchdog(tools.environment.clock, options.idleMs ?? defaultIdleMs, attempt);
  using either = anySignal([options.signal, idle.signal]);
  try {
    const chunks = await open(attempt, kind, options, tools, either.signal);
    options.onOpen?.();
    yield* eventsIn(attempt, heeding(attempt, chunks, idle), options, tools);
  } catch (error) {
    throw endOf(attempt, error, options.signal, idle.signal);
  }
}

function attemptOf(kind: Kind, { namespace }: { readonly namespace?: string | undefined }): string {
  return `watch ${kind.kind}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

function open<T extends KubernetesObject>(
  attempt: string,
  kind: Kind<T>,
  options: WatchOptions<T>,
  { caller, environment }: WatchTools,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { sendInitialEvents } = options;
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion: options.resourceVersion,
    sendInitialEvents: sendInitialEvents || undefined,
    resourceVersionMatch: sendInitialEvents ? "NotOlderThan" : undefined,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    timeoutSeconds: options.timeoutSeconds ?? Math.round(300 + 300 * environment.random()),
  };
  const request = { method: "GET", path: collectionPath(kind, options.namespace), query } as const;
  // Whoever watches has a back-off of its own; a second one inside would only make it wait for both.
  return caller.stream({ attempt, request, options: { signal, timeoutMs: options.timeoutMs }, once: true });
}

/** The chunks as they come, with the watchdog awake exactly while we wait for one. */
async function* heeding(
  attempt: string,
  chunks: AsyncIterable<Uint8Array>,
  idle: IdleWatchdog,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    idle.listen();
    for await (const chunk of chunks) {
      idle.heard();
      yield chunk;
      idle.listen();
    }
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new BrokenStreamError(`${attempt}: expected the stream to end between two events, found it cut: ${found}`, cause);
  }
}

async function* eventsIn<T extends KubernetesObject>(
  attempt: string,
  chunks: AsyncIterable<Uint8Array>,
  options: WatchOptions<T>,
  tools: WatchTools,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const lines = new LineSplitter(attempt, maxLineBytes);
  for await (const chunk of chunks) {
    for (const line of lines.push(chunk)) {
      const event = eventOf(attempt, line, options, tools);
      if (event !== undefined) yield event;
      const rest = tools.pause();
      if (rest !== undefined) await rest;
    }
  }
  checkEnd(attempt, lines);
}

function eventOf<T extends KubernetesObject>(
  attempt: string,
  line: string,
  { project }: WatchOptions<T>,
  { observer }: WatchTools,
): WatchEvent<T> | undefined {
  const event = parseEvent<T>(attempt, line, (type) => observer.skippedEvent?.({ attempt, type }));
  return event === undefined || project === undefined ? event : projected(event, project);
}

function checkEnd(attempt: string, lines: LineSplitter): void {
  if (lines.unfinished === 0) return;
  throw new BrokenStreamError(`${attempt}: expected a whole last event, found ${lines.unfinished} bytes of one`);
}

function projected<T extends KubernetesObject>(
  event: WatchEvent<T>,
  project: NonNullable<WatchOptions<T>["project"]>,
): WatchEvent<T> {
  return event.type === "BOOKMARK" ? event : { type: event.type, object: project(event.object) };
}

/** What a failure inside means to the one who watches. */
function endOf(attempt: string, error: unknown, caller: AbortSignal | undefined, idle: AbortSignal): unknown {
  if (caller?.aborted) return caller.reason;
  if (idle.aborted)
    return new IdleWatchError(`${attempt}: ${(idle.reason as Error).message} → it is given up; watch again`, error);
  return error;
}
