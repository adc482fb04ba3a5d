// The interface between the client and the network: one request, one response. In production http-transport.ts implements
// it; the simulator responds in memory; tests wrap either to record calls or inject faults (journal.ts).
import { DeadlineExceededError } from "../../concurrency/abort.ts";

/** The HTTP methods that the Kubernetes API uses. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface TransportRequest {
  readonly method: Method;
  /** Absolute and escaped, without the query: "/api/v1/namespaces/default/pods". */
  readonly path: string;
  /** Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Lowercase names. The transport adds credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Also carries the deadline: the caller aborts it. */
  readonly signal?: AbortSignal | undefined;
  /** The response has no defined end: return chunks as they arrive. */
  readonly stream?: boolean;
  /** The response is large: return chunks as they arrive if possible, otherwise text. */
  readonly chunks?: boolean;
}

export interface TransportResponse {
  readonly status: number;
  /** Lowercase names. The values of a repeated header are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or chunks as they arrive if requested and the status is 2xx. Leaving the iteration closes the stream. */
  readonly body: string | AsyncIterable<Uint8Array>;
}

/**
 * The abort reason for a passed deadline. A transport that sees it should assume that the connection may be dead, unlike after a
 * cancellation by the caller.
 */
export class UnansweredError extends DeadlineExceededError {}

export interface Transport {
  /**
   * Resolves with any HTTP status. Without a response, rejects with the signal's reason if it aborted, otherwise with a TransportError
   * whose `outcome` says whether the server may have received the request.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Waits for requests in progress and closes the connections. */
  close?(): Promise<void>;
}

/** "a=1&b=x%2Cy", without undefined values. */
export function encodeQuery(query: TransportRequest["query"] = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`).join("&");
}

/** The text of a response that was not requested as a stream. */
export function textOf(response: TransportResponse): string {
  if (typeof response.body === "string") return response.body;
  throw new TypeError("expected the transport to answer with text, found a stream");
}
