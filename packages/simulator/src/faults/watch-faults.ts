// Faults in the event stream of a watch.
import { TransportError } from "@memhog/runtime/client";
import type { ApiRequest, ApiResponse, Handler } from "../server/core.ts";
import type { TrafficFault } from "./traffic-faults.ts";

type Bytes = AsyncIterable<Uint8Array>;

export function broken(what: string): TransportError {
  return new TransportError(`${what} (injected fault)`, { outcome: "unknown" });
}

export function spoiled(body: Bytes, fault: TrafficFault | undefined): Bytes {
  if (fault?.kind === "duplicate") return mapped(body, (line) => [line, line]);
  if (fault?.kind === "miss") return missing(body, fault.every);
  if (fault?.kind === "end") return ended(body, fault);
  return body;
}

/** The body until the signal aborts. Then it breaks, as when the server process ends. */
export async function* untilAborted(body: Bytes, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = body[Symbol.asyncIterator]();
  const gone = Promise.withResolvers<never>();
  const fail = () => gone.reject(broken("the server restarts"));
  signal.addEventListener("abort", fail, { once: true });
  gone.promise.catch(() => {});
  try {
    for (;;) {
      const { value, done } = await Promise.race([iterator.next(), gone.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", fail);
    // Not awaited: an iterator that waits for its next event would settle only then.
    void iterator.return?.();
  }
}

async function* mapped(body: Bytes, lines: (line: string) => readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const line of linesOf(body)) for (const one of lines(line)) yield encoded(one);
}

function missing(body: Bytes, every: number): Bytes {
  let count = 0;
  return mapped(body, (line) => {
    count += 1;
    return count % every === 0 ? [] : [line];
  });
}

async function* ended(
  body: Bytes,
  { afterEvents, how }: Extract<TrafficFault, { kind: "end" }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = afterEvents;
  if (left > 0)
    for await (const line of linesOf(body)) {
      yield encoded(line);
      left -= 1;
      if (left === 0) break;
    }
  if (how === "reset") throw broken("the watch was cut off");
  if (how === "expire") yield encoded(expired);
}

const expired = JSON.stringify({
  type: "ERROR",
  object: {
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" },
    ...{ message: "too old resource version (injected fault)", reason: "Expired", code: 410 },
  },
});

const encoder = new TextEncoder();
const encoded = (line: string) => encoder.encode(`${line}\n`);

export async function* linesOf(body: Bytes): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

// Stale reads, as from an API server whose cache lags: turned into a list at an older resourceVersion.

/** Records the resource versions of writes. */
export class RecentVersions {
  readonly #versions: string[] = [];

  note(request: ApiRequest, { body }: ApiResponse): void {
    if (request.method === "GET" || typeof body !== "string") return;
    const version = /"resourceVersion":"(\d+)"/.exec(body)?.[1];
    if (version !== undefined && version !== this.#versions.at(-1)) this.#versions.push(version);
    if (this.#versions.length > 100) this.#versions.shift();
  }

  /** The version this many writes ago; the oldest known one if that is too far back, undefined if none is known. */
  ago(writes: number): string | undefined {
    return this.#versions.at(-1 - writes) ?? this.#versions[0];
  }
}

/** The response at an older version. */
export async function readAt(version: string, request: ApiRequest, next: Handler): Promise<ApiResponse> {
  const exact = { resourceVersion: version, resourceVersionMatch: "Exact" };
  const single = /^(\/apis?\/.+)\/([^/]+)$/.exec(request.path);
  const listed = await next({ ...request, query: { ...request.query, ...exact } });
  if (single === null || isList(listed)) return listed;
  const [, collection = "", name = ""] = single;
  const fieldSelector = `metadata.name=${decodeURIComponent(name)}`;
  const found = await next({ ...request, path: collection, query: { ...exact, fieldSelector } });
  // The object did not exist then. Requesting a name that does not exist gives the correct 404.
  return asSingle(found) ?? next({ ...request, path: `${collection}/${name}-does-not-exist` });
}

function isList({ status, body }: ApiResponse): boolean {
  return status === 200 && typeof body === "string" && /^\{"kind":"\w+List"|"items":\[/.test(body);
}

function asSingle(response: ApiResponse): ApiResponse | undefined {
  if (response.status !== 200 || typeof response.body !== "string") return response;
  const { apiVersion, kind, items } = JSON.parse(response.body) as { apiVersion: string; kind: string; items: readonly object[] };
  const [item] = items;
  if (item === undefined) return undefined;
  return { ...response, body: JSON.stringify({ apiVersion, kind: kind.replace(/List$/, ""), ...item }) };
}
