// Reads of the past, as from an API server whose cache lags. The protocol itself can look back (a list at an exact version), so
// that is what a stale read is turned into; no storage is touched.
import type { ApiRequest, ApiResponse, Handler } from "../server/handler.ts";

/** Remembers the versions of writes as they pass. */
export class RecentVersions {
  readonly #versions: string[] = [];

  note(request: ApiRequest, { body }: ApiResponse): void {
    if (request.method === "GET" || typeof body !== "string") return;
    const version = /"resourceVersion":"(\d+)"/.exec(body)?.[1];
    if (version !== undefined && version !== this.#versions.at(-1)) this.#versions.push(version);
    if (this.#versions.length > 100) this.#versions.shift();
  }

  /** The version so many writes ago; the oldest known if that is too long ago, undefined if none is known. */
  ago(writes: number): string | undefined {
    return this.#versions.at(-1 - writes) ?? this.#versions[0];
  }
}

/** The answer of then. */
export async function readAt(version: string, request: ApiRequest, next: Handler): Promise<ApiResponse> {
  const exact = { resourceVersion: version, resourceVersionMatch: "Exact" };
  const single = /^(\/apis?\/.+)\/([^/]+)$/.exec(request.path);
  const listed = await next({ ...request, query: { ...request.query, ...exact } });
  if (single === null || isList(listed)) return listed;
  const [, collection = "", name = ""] = single;
  const fieldSelector = `metadata.name=${decodeURIComponent(name)}`;
  const found = await next({ ...request, path: collection, query: { ...exact, fieldSelector } });
  // What was not there then is there now: the present answer to a name that nobody has says it best.
  return asSingle(found) ?? next({ ...request, path: `${collection}/${name}-of-the-future` });
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
