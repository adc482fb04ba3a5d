// The interface to Prometheus: one query, one response. Production uses HTTP (http-transport.ts); tests use the simulator's
// Prometheus through `overTransport`.
import type { Transport } from "@memhog/runtime/client";

export interface PrometheusTransport {
  /** POST /api/v1/query. Resolves for any status; rejects with a PrometheusError, or the signal's reason, if there is no response. */
  query(parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<PrometheusAnswer>;
  /** Closes the connections. */
  close?(): Promise<void>;
}

export interface PrometheusAnswer {
  readonly status: number;
  /** The Date header, in milliseconds with a resolution of a second; undefined if missing. */
  readonly dateMs: number | undefined;
  readonly body: string | AsyncIterable<Uint8Array>;
}

export const queryPath = "/api/v1/query";
export const formType = "application/x-www-form-urlencoded";

/** Undefined if the header is missing or malformed. */
export function dateIn(header: string | undefined): number | undefined {
  const ms = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Uses a transport of the runtime, such as the in-memory transport of the simulator. */
export function overTransport(transport: Pick<Transport, "request">): PrometheusTransport {
  return {
    query: async (parameters, signal) => {
      const body = new URLSearchParams(parameters).toString();
      const headers = { "content-type": formType };
      const answer = await transport.request({ method: "POST", path: queryPath, headers, body, signal });
      return { status: answer.status, dateMs: dateIn(answer.headers.date), body: answer.body };
    },
  };
}

/** Why a query failed. Messages contain the address without credentials, and never a header or a token (S4). */
export type PrometheusErrorCode =
  /** No connection, or no response within the timeout. */
  | "PROMETHEUS_UNREACHABLE"
  /** Prometheus returned an error. */
  | "PROMETHEUS_REFUSED"
  /** The response is not from Prometheus: a login page, a proxy or a redirect. */
  | "PROMETHEUS_NOT_PROMETHEUS"
  /** The response is too large. */
  | "PROMETHEUS_TOO_LARGE"
  /** The address or a configured file is invalid. */
  | "PROMETHEUS_CONFIG";

export class PrometheusError extends Error {
  override readonly name = "PrometheusError";
  readonly code: PrometheusErrorCode;

  constructor(code: PrometheusErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
