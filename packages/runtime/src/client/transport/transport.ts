// The narrow waist of the client: one request, one answer. Above it are objects and kinds, below it are bytes. In
// production undici is below (undici-transport.ts); the simulator answers in memory; tests wrap any of them to record
// (journal.ts) or to spoil (fault hook) what passes.
import { DeadlineExceededError } from "../../concurrency/abort.ts";

/** Verbs the Kubernetes API uses. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface TransportRequest {
  readonly method: Method;
  /** Absolute and already escaped, without the query: "/api/v1/namespaces/default/pods". */
  readonly path: string;
  /** Values that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Lower-case names. The transport adds credentials itself. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Deadlines come by this way too: whoever waits knows how long. */
  readonly signal?: AbortSignal | undefined;
  /** The answer has no foreseeable end: hand it over as it comes. */
  readonly stream?: boolean;
  /** The answer is large: hand it over as it comes, if that can be done (each chunk until the next is asked for); text will do, too. */
  readonly chunks?: boolean;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names; a header that came several times has its values joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Text (see `textIn`); or, if a stream or chunks were asked for and the status is 2xx, chunks as they arrive. Leaving the iteration closes it. */
  readonly body: string | AsyncIterable<Uint8Array>;
}

/**
 * The reason a signal aborts with when the other side has kept us waiting for too long. A transport that sees it knows
 * more than that nobody wants the answer: the connection itself may be dead.
 */
export class UnansweredError extends DeadlineExceededError {}

export interface Transport {
  /**
   * Any status is an answer. Without one it rejects: with the signal's reason if that aborted, otherwise with a
   * TransportError whose `outcome` says whether the server can have seen the request.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Lets what is under way finish and closes the connections. */
  close?(): Promise<void>;
}

/** "a=1&b=x%2Cy", without what is undefined; "" for nothing. */
export function encodeQuery(query: TransportRequest["query"] = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`).join("&");
}

/** How protobuf begins that comes from an API server. */
export const protobufStart = "k8s\0";

/** Bytes as text. Refusals may come in protobuf: that keeps its bytes, each as a character. */
export function textIn(bytes: Buffer): string {
  const isProtobuf = bytes.toString("latin1", 0, protobufStart.length) === protobufStart;
  return bytes.toString(isProtobuf ? "latin1" : "utf8");
}

/** The text of an answer that was not asked for as a stream. */
export function textOf(response: TransportResponse): string {
  if (typeof response.body === "string") return response.body;
  throw new TypeError("expected the transport to answer with text, found a stream");
}
