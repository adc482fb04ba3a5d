// Reads all objects of a kind as of one resourceVersion and passes them on one by one while they arrive. Caches start with this.
//
// Measured on one server with 5,000 pods (the floor rows of docs/bench-runtime.md): a list in one piece takes about half of the
// time of the same objects streamed as watch events. Since 1.33 servers write lists without holding them in memory as a whole,
// and so do we at this end: an object is parsed, projected and forgotten.
import { anySignal } from "../concurrency/abort.ts";
import { apiVersionOf, type Kind, type KubernetesObject, type Stored } from "../objects/object.ts";
import type { ScanOptions } from "./client.ts";
import { AnswerError, BrokenStreamError, IdleWatchError } from "./errors.ts";
import { isList } from "./response.ts";
import { collectionPath, selectorText } from "./verbs.ts";
import { type IdleWatchdog, idleWatchdog, type WatchTools } from "./watch.ts";

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
    const chunks = await open(attempt, kind, options, tools, either.signal);
    const keep = taking(kind, take, options.project);
    return { resourceVersion: await readAll(chunks, { take: keep, idle, pause: tools.pause }) };
  } catch (error) {
    throw endOf(attempt, error, options.signal, idle.signal);
  }
}

async function open(
  attempt: string,
  kind: Kind,
  options: Omit<ScanOptions, "project">,
  { caller }: WatchTools,
  signal: AbortSignal,
) {
  const { namespace, labelSelector, fieldSelector, idleMs = defaultIdleMs, timeoutMs = idleMs } = options;
  const request = {
    method: "GET",
    path: collectionPath(kind, namespace),
    query: { labelSelector: selectorText(labelSelector), fieldSelector },
  } as const;
  // Caches have their own backoff.
  const body = await caller.chunks({ attempt, request, options: { signal, timeoutMs }, once: true });
  return typeof body === "string" ? [Buffer.from(body)] : body;
}

/** The server omits apiVersion and kind from the items of built-in lists, but not from watch events. */
function taking<T extends KubernetesObject>(
  kind: Kind<T>,
  take: (object: Stored<T>) => void,
  project: ScanOptions<T>["project"] = (object) => object,
) {
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return (object: object) => {
    const typed = ("kind" in object ? object : { ...type, ...object }) as Stored<T>;
    take(project(typed));
  };
}

interface Reading {
  readonly take: (object: object) => void;
  readonly idle: IdleWatchdog;
  readonly pause: WatchTools["pause"];
}

/** Reads to the end. Yields to the event loop as `pause` requires, regardless of the size of a chunk. */
async function readAll(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, { take, idle, pause }: Reading) {
  const reader = new JsonListReader();
  idle.listen();
  for await (const chunk of chunks) {
    idle.heard();
    for (const object of reader.push(chunk)) {
      take(object);
      const rest = pause();
      if (rest !== undefined) await rest;
    }
    idle.listen();
  }
  const { items, resourceVersion } = reader.finish();
  for (const item of items) take(item);
  return resourceVersion;
}

/** Maps an internal failure to the error that the caller gets. */
function endOf(attempt: string, error: unknown, caller: AbortSignal | undefined, idle: AbortSignal): unknown {
  if (caller?.aborted) return caller.reason;
  if (idle.aborted)
    return new IdleWatchError(`${attempt}: ${(idle.reason as Error).message} → it is given up; list again`, error);
  if (!(error instanceof BrokenListError)) return error;
  const message = `${attempt}: expected ${error.message}`;
  return error.cut ? new BrokenStreamError(message, error) : new AnswerError(message);
}

// Reads a Kubernetes list in JSON while it arrives, one object at a time:
//
//     {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":…},{"metadata":…}]}
//
// `JSON.parse` needs whole texts, so this reader only finds where each element of the top-level `items` begins and ends, by counting
// brackets outside of strings. `JSON.parse` then validates every element, and at the end the frame: everything that is not an
// element. A list of any size therefore never holds more than one object in memory, and no input is accepted that `JSON.parse` would
// reject as a whole; except inside `metadata.managedFields`. That list is often a third of an object and no cache keeps it, so it is
// left out of the objects and not even parsed: a fifth of the time of the whole list.

/** The bytes are not a list, or not a complete one. The message never quotes them: they may be a Secret. */
export class BrokenListError extends Error {
  override readonly name = "BrokenListError";
  /** Whether a list had started. */
  readonly cut: boolean;

  constructor(found: string, { cut }: { readonly cut: boolean }) {
    super(`a complete list, found ${found}`);
    this.cut = cut;
  }
}

export interface ListEnd {
  /** Objects found only in the whole text: the key `items` was written with escapes. */
  readonly items: readonly object[];
  readonly resourceVersion: string;
}

/** etcd rejects objects above 1.5 MiB. The limit is far above that; it keeps a server from filling our memory. */
const defaultMaxBytes = 64 * 1024 * 1024;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

export class JsonListReader {
  readonly #maxBytes: number;
  /** Before `items`; in it: before its first element, behind an element, behind a comma, in an element, in managedFields; behind it. */
  #place: "before" | "first" | "next" | "again" | "object" | "managedFields" | "behind" = "before";
  /** Open brackets of the frame or of the element. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The value of the last key of the element is its metadata. */
  #inMetadata = false;
  /** The beginning of the last string at the top level of the frame, and whether it is the key of what comes next. */
  #word = "";
  #isKey = false;
  /** The part of the frame that has arrived. */
  readonly #frame: Buffer[] = [];
  #frameBytes = 0;
  /** The current element. */
  #pieces: Buffer[] = [];
  #objectBytes = 0;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** The objects that this chunk completes. @throws BrokenListError */
  *push(chunk: Uint8Array): Generator<object, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = 0; at < bytes.length; ) {
      const from = at;
      if (this.#place === "object") {
        at = this.#readObject(bytes, at);
        this.#keepObject(bytes.subarray(from, at));
        if (this.#depth === 0) yield this.#parseObject();
      } else if (this.#place === "managedFields") at = this.#readObject(bytes, at);
      else if (this.#place === "before" || this.#place === "behind") {
        at = this.#readFrame(bytes, at);
        this.#keepFrame(bytes.subarray(from, at));
      } else at = this.#readBetween(bytes, at);
    }
  }

  /** Call after the last chunk. @throws BrokenListError if the list is incomplete */
  finish(): ListEnd {
    const cut = this.#place !== "before";
    const frame = parsed(Buffer.concat(this.#frame).toString("utf8"));
    if (!isList(frame)) throw new BrokenListError(`${this.#frameBytes} bytes that are none`, { cut });
    const items = frame.items ?? [];
    if (!Array.isArray(items) || (cut && items.length > 0)) throw new BrokenListError("items twice, or not as a list", { cut });
    if (!items.every((item) => typeof item === "object" && item !== null && !Array.isArray(item)))
      throw new BrokenListError("elements that are not objects", { cut });
    const { resourceVersion } = frame.metadata ?? {};
    return { items, resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "" };
  }

  /** Reads to the end of the element, to its managedFields, to their end, or to the end of the chunk. */
  #readObject(bytes: Buffer, from: number): number {
    const end = bytes.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let at = this.#escaped ? from + 1 : from;
    while (at < end) {
      const byte = bytes[at] as number;
      at += 1;
      if (inString) {
        if (byte === quote) inString = false;
        else if (byte === backslash) at += 1; // what it escapes goes with it, even if that is in the next chunk
      } else if (byte === quote) {
        inString = true;
        if (depth === 1) this.#inMetadata = isAt(bytes, at, metadataKey);
        else if (depth === 2 && this.#inMetadata && isAt(bytes, at, managedFieldsKey)) {
          this.#place = "managedFields";
          inString = false;
          depth = 3;
          at += managedFieldsKey.length;
          break;
        }
      } else if (byte === openObject || byte === openList) depth += 1;
      else if (byte === closeObject || byte === closeList) {
        depth -= 1;
        if (depth === 0) {
          this.#place = "next";
          break;
        }
        if (depth === 2 && this.#place === "managedFields") {
          this.#place = "object";
          depth = 3; // the bracket that closes the list is kept: it is read again
          at -= 1;
          break;
        }
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = at > end;
    return Math.min(at, end);
  }

  /** Reads one byte between elements. The bracket that ends `items` belongs to the frame. */
  #readBetween(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1;
    if (byte === openObject && this.#place !== "next") {
      this.#place = "object";
      this.#depth = 0;
      return at;
    }
    if (byte === comma && this.#place === "next") {
      this.#place = "again";
      return at + 1;
    }
    if (byte !== closeList || this.#place === "again") throw new BrokenListError("elements that are not objects", { cut: true });
    this.#place = "behind";
    this.#depth = 2; // of the frame: the bracket is about to be read
    return at;
  }

  /** Reads to the first element, or to the end of the chunk. */
  #readFrame(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; ) {
      const byte = bytes[at++] as number;
      if (this.#inString) this.#readFrameString(byte);
      else if (byte === quote) {
        this.#inString = true;
        if (this.#depth === 1) this.#word = "";
      } else if (byte === openObject || byte === openList) {
        if (byte === openList && this.#atItems()) return at;
        this.#depth += 1;
      } else if (byte === closeObject || byte === closeList) this.#depth -= 1;
      else if (this.#depth === 1 && (byte === colon || byte === comma)) this.#isKey = byte === colon;
    }
    return bytes.length;
  }

  #readFrameString(byte: number): void {
    if (this.#depth === 1 && this.#word.length < 8) this.#word += String.fromCharCode(byte);
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inString = false;
  }

  /** Whether the bracket that was just read opens the top-level `items`. */
  #atItems(): boolean {
    if (this.#depth !== 1 || !this.#isKey || this.#word !== 'items"') return false;
    if (this.#place === "behind") throw new BrokenListError("items twice", { cut: true });
    this.#place = "first";
    return true;
  }

  #keepFrame(piece: Buffer): void {
    this.#frame.push(piece);
    this.#frameBytes += piece.length;
    this.#checkSize(this.#frameBytes);
  }

  #keepObject(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#objectBytes += piece.length;
    this.#checkSize(this.#objectBytes);
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new BrokenListError(`more than ${this.#maxBytes} bytes without an end`, { cut: this.#place !== "before" });
  }

  #parseObject(): object {
    const [first] = this.#pieces;
    const text = (this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces)).toString("utf8");
    this.#pieces = [];
    this.#objectBytes = 0;
    const object = parsed(text);
    if (typeof object !== "object" || object === null) throw new BrokenListError("an element that is not JSON", { cut: true });
    const { metadata } = object as { readonly metadata?: { managedFields?: unknown } | null };
    if (metadata?.managedFields !== undefined) delete metadata.managedFields;
    return object;
  }
}

const metadataKey = 'metadata":{';
const managedFieldsKey = 'managedFields":[';

/** Whether the text is at this position in this chunk. Text split between chunks is not found; managedFields are then parsed. */
function isAt(bytes: Buffer, at: number, text: string): boolean {
  return bytes[at] === 0x6d && bytes.toString("latin1", at, at + text.length) === text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
