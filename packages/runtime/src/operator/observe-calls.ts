// What the client tells about its calls, turned into metrics and log lines.
import type { Observer } from "../client/observer.ts";
import type { Logger } from "../concurrency/logger.ts";
import { verbosityOfCalls } from "./logs.ts";
import { callMetrics, type OperatorMetrics } from "./metrics.ts";

export interface CallObserverOptions {
  readonly metrics: OperatorMetrics;
  readonly log: Logger;
  readonly verbosity: number;
  /** "host:port" of the API server. */
  readonly host: string;
}

// The server repeats its warnings with every call; once each is enough, and there are only so many.
const mostWarnings = 100;

export function observeCalls({ metrics, log, verbosity, host }: CallObserverOptions): Observer {
  const counted = callMetrics(metrics, host);
  const warned = new Set<string>();
  return {
    called: (report) => {
      counted.called?.(report);
      const { method, path, status, durationMs, attempt } = report;
      if (verbosity >= verbosityOfCalls) {
        log.debug({ method, path, status, tookMs: Math.round(durationMs), ...(attempt > 1 && { attempt }) }, "API call");
      }
    },
    throttled: ({ lane, waitedMs }) => {
      // As client-go: a second is when somebody begins to wonder.
      if (waitedMs > 1_000) log.info({ lane, waitedMs: Math.round(waitedMs) }, "held back by our own rate limit");
    },
    warned: ({ attempt, text }) => {
      if (warned.has(text) || warned.size >= mostWarnings) return;
      warned.add(text);
      log.warn({ call: attempt }, `the API server warns: ${text}`);
    },
    skippedEvent: ({ attempt, type }) => log.warn({ call: attempt, type }, "skipped a watch event of an unknown type"),
  };
}
