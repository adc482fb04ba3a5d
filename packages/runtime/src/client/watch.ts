// One watch, from its start to its end: bytes, lines, events, projected objects. It does not reconnect: the reflector does, because it
// knows which resourceVersion to resume from.
//
// `watchKind` is for loops (`for await`) and costs about a dozen promises per event. `followKind` is for caches: it calls back for all
// events of a chunk in one turn of the event loop and yields when the turn takes too long.
//
// How a watch ends:
//     the server closes it between two events          the iteration ends
//     the connection breaks, or a line is incomplete   BrokenStreamError
//     no data for `idleMs`                             IdleWatchError
//     an ERROR event                                   its error: ExpiredError for 410, InternalError …
//     the caller's signal                              its reason
//     the caller leaves the loop                       the stream is closed
import { anySignal } from "../concurrency/abort.ts";
import type { Cancel, Clock, Environment } from "../concurrency/environment.ts";
import { settled } from "../concurrency/system-environment.ts";
import type { Kind, KubernetesObject, Stored } from "../objects/object.ts";
import type { Caller } from "./call.ts";
import type { Observer, WatchEvent, WatchOptions } from "./client.ts";
import { BrokenStreamError, IdleWatchError } from "./errors.ts";
import { errorOf, isStatus } from "./response.ts";
import { UnansweredError } from "./transport/transport.ts";
import { collectionPath, selectorText } from "./verbs.ts";

const defaultIdleMs = 120_000;

/** etcd rejects objects above 1.5 MiB; managedFields and escaping add some. The limit is far above both. */
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
    labelSelector: selectorText(options.labelSelector),
    fieldSelector: options.fieldSelector,
    timeoutSeconds: options.timeoutSeconds ?? Math.round(300 + 300 * environment.random()),
  };
  const request = { method: "GET", path: collectionPath(kind, options.namespace), query } as const;
  // Callers of a watch have their own backoff; a second one here would only add to the delay.
  return caller.stream({ attempt, request, options: { signal, timeoutMs: options.timeoutMs }, once: true });
}

/** Yields the chunks as they arrive. The watchdog runs only while this waits for one. */
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

/** Maps an internal failure to the error that the caller gets. */
function endOf(attempt: string, error: unknown, caller: AbortSignal | undefined, idle: AbortSignal): unknown {
  if (caller?.aborted) return caller.reason;
  if (idle.aborted)
    return new IdleWatchError(`${attempt}: ${(idle.reason as Error).message} → it is given up; watch again`, error);
  return error;
}

/** The server sets this on the bookmark that ends the initial events of a streaming list. */
const initialEventsEnd = "k8s.io/initial-events-end";

/**
 * Parses a line. Returns undefined for an event of an unknown type, and reports it to `skipped`.
 * @throws the error that an ERROR event carries, BrokenStreamError for a line that is not an event
 */
export function parseEvent<T extends KubernetesObject>(
  attempt: string,
  line: string,
  skipped: (type: string) => void,
): WatchEvent<T> | undefined {
  const { type, object } = eventIn(attempt, line);
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") return { type, object: object as Stored<T> };
  if (type === "BOOKMARK") return bookmark(object);
  if (type === "ERROR" && isStatus(object)) throw errorOf(attempt, object);
  if (type === "ERROR") throw new BrokenStreamError(`${attempt}: the server reported an error without a Status`);
  skipped(type);
  return undefined;
}

function eventIn(attempt: string, line: string): { readonly type: string; readonly object: object } {
  let event: { readonly type?: unknown; readonly object?: unknown } | null;
  try {
    event = JSON.parse(line);
  } catch {
    // Do not include the text or the parser's message, which quotes it: it may be a Secret.
    throw new BrokenStreamError(`${attempt}: expected a JSON event, found ${line.length} characters that are none`);
  }
  const { type, object } = event ?? {};
  if (typeof type === "string" && typeof object === "object" && object !== null) return { type, object };
  throw new BrokenStreamError(`${attempt}: expected an event with a type and an object, found one without`);
}

function bookmark(object: KubernetesObject): WatchEvent<never> {
  const { resourceVersion = "", annotations } = object.metadata ?? {};
  return { type: "BOOKMARK", resourceVersion, initialEventsEnd: annotations?.[initialEventsEnd] === "true" };
}

const newline = 0x0a;

export class LineSplitter {
  readonly #what: string;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** A line longer than `maxBytes` is an error: no object is that large, and buffering it could exhaust the memory. */
  constructor(what: string, maxBytes: number) {
    this.#what = what;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of an incomplete line. */
  get unfinished(): number {
    return this.#bytes;
  }

  /** The lines that this chunk completes, without line ends. Skips empty lines. */
  *push(chunk: Uint8Array): Generator<string, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      const line = this.#finish(bytes.subarray(start, end));
      start = end + 1;
      if (line !== "") yield line;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      throw new BrokenStreamError(`${this.#what}: expected lines of at most ${this.#maxBytes} bytes, found a longer one`);
    }
  }

  #finish(last: Buffer): string {
    if (this.#pieces.length === 0) return last.toString("utf8");
    const whole = Buffer.concat([...this.#pieces, last], this.#bytes + last.length);
    this.#pieces = [];
    this.#bytes = 0;
    return whole.toString("utf8");
  }
}

/**
 * Aborts after `idleMs` of waiting without data. Disposing it stops the timer. A network path that drops packets looks like a quiet
 * cluster: neither TCP keep-alive nor HTTP/2 pings detected one for minutes. Bookmarks come about once a minute.
 */
export interface IdleWatchdog extends Disposable {
  readonly signal: AbortSignal;
  /** Starts to count. Cheap: called for every chunk. */
  listen(): void;
  /** Data arrived. Stops counting until the next `listen`, because a slow consumer is not a dead connection. */
  heard(): void;
}

export function idleWatchdog(clock: Clock, idleMs: number, what: string): IdleWatchdog {
  const controller = new AbortController();
  let since: number | undefined = clock.monotonic();
  let cancel: Cancel;
  // Instead of resetting the timer for every chunk, check the idle time when it fires, and wait for the rest.
  const wait = (ms: number) => {
    cancel = clock.after(ms, () => {
      const leftMs = (since ?? clock.monotonic()) + idleMs - clock.monotonic();
      if (leftMs > 0) wait(leftMs);
      else controller.abort(new UnansweredError(what, idleMs));
    });
  };
  wait(idleMs);
  return {
    signal: controller.signal,
    listen: () => {
      since = clock.monotonic();
    },
    heard: () => {
      since = undefined;
    },
    [Symbol.dispose]: () => cancel(),
  };
}

/**
 * Returns undefined to continue, or a promise to await first. A watch can start with thousands of buffered events; parsing all of them
 * in one turn of the event loop could delay a Lease renewal until the Lease is lost. All watches of a client share the pace, and one
 * of them continues per turn.
 */
export type Pause = () => Promise<void> | undefined;

/** @param turnMs How long a burst may block the event loop, plus at most one step. */
export function pace(clock: Clock, turnMs = 3): Pause {
  const waiting: (() => void)[] = [];
  let turnBegan = clock.monotonic();

  const turn = async () => {
    while (waiting.length > 0) {
      await settled();
      turnBegan = clock.monotonic();
      waiting.shift()?.();
    }
  };
  return () => {
    // Uses the clock instead of a counter: a manual clock does not advance meanwhile, so a simulated run never pauses.
    if (waiting.length === 0 && clock.monotonic() - turnBegan < turnMs) return undefined;
    return new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) void turn();
    });
  };
}
