// The bad days of a connection to an API server, as values.

/** What a fault is decided by. */
export interface ProxiedRequest {
  /** 1 for the first. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly watch: boolean;
}

/** What happens to a request. */
export type Fault =
  /** The connection is reset before the server sees anything. */
  | { readonly kind: "reset" }
  /** Half-open: the request is swallowed, the connection stays, nothing ever comes back. */
  | { readonly kind: "silence" }
  /** The server acts; the connection is reset instead of the answer. */
  | { readonly kind: "lose" }
  /** The server gets it and answers, after a while. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Somebody else answers: 429 with retryAfterSeconds, 500, a login page. */
  | { readonly kind: "answer"; readonly status: number; readonly retryAfterSeconds?: number; readonly body?: string }
  /** Of a body, only so many bytes; then the connection is closed in the middle of a chunk. */
  | { readonly kind: "truncate"; readonly afterBytes: number }
  /** Of a watch, only so many events, and then … */
  | { readonly kind: "watch"; readonly afterEvents: number; readonly ending: WatchEnding }
  /** Of a watch, the events that contain this text are left out; the rest comes as if nothing had happened. */
  | { readonly kind: "swallow"; readonly containing: string }
  /** Every event of a watch comes twice. */
  | { readonly kind: "duplicate" };

export type WatchEnding =
  | "reset"
  | "silence"
  /** Half of the next event, then the end. */
  | "truncate"
  /** An ERROR event: 410, history is gone. */
  | "expire"
  /** A polite end, too early. */
  | "close";

export type FaultPlan = (request: ProxiedRequest) => Fault | undefined;
