// What the client has to tell and does not want to decide about: the operator turns it into metrics and logs.

/** An answer or the lack of one, once per attempt: `rest_client_requests_total` and the like are made of this. */
export interface CallReport {
  readonly method: string;
  readonly path: string;
  /** Undefined if no answer came. */
  readonly status: number | undefined;
  /** From handing the request to the transport to having the answer (for a watch: its beginning). */
  readonly durationMs: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

export interface Observer {
  called?(report: CallReport): void;
  /** The client-side rate limit held a call back. */
  throttled?(report: { readonly lane: string; readonly waitedMs: number }): void;
  /** The server sent a `Warning` header: a deprecated version, a field that is ignored. */
  warned?(report: { readonly attempt: string; readonly text: string }): void;
  /** A watch event of a type this client does not know was left out. */
  skippedEvent?(report: { readonly attempt: string; readonly type: string }): void;
}
