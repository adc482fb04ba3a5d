// The narrow waist between us and a Prometheus: one question, one answer. In production HTTP is below it (http-transport.ts);
// the simulator's Prometheus and tests stand in through `overTransport`.
import type { Transport } from "@memhog/runtime";

export interface PrometheusTransport {
  /** POST /api/v1/query. Any status is an answer; rejects with a PrometheusError, or the signal's reason, where there is none. */
  query(parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<PrometheusAnswer>;
  /** Lets go of connections. */
  close?(): Promise<void>;
}

export interface PrometheusAnswer {
  readonly status: number;
  /** By the clock of whoever answered, to the second; undefined if it does not say. */
  readonly dateMs: number | undefined;
  /** Whole, or as it comes. */
  readonly body: string | AsyncIterable<Uint8Array>;
}

export const queryPath = "/api/v1/query";
export const formType = "application/x-www-form-urlencoded";

/** The time in a Date header; undefined if there is none. */
export function dateIn(header: string | undefined): number | undefined {
  const ms = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(ms) ? undefined : ms;
}

/** A Prometheus that is spoken to by a transport of the runtime, such as the simulator's, which answers in memory. */
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
