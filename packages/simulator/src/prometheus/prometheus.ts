// A Prometheus in memory: scrapes targets on the environment's clock, keeps what they say, and answers questions about it in
// the part of PromQL that we ask. From the outside in:
//
//     prometheus.ts   start, stop, ask                   http.ts         the same over a socket
//     api.ts          /api/v1/query and query_range      answer.ts       JSON as the real one writes it
//     scraper.ts      targets → series                   exposition.ts   the text format
//     series-store.ts samples in order of time           labels.ts, matcher.ts
//     promql/         parse → expression → evaluate
//     faults.ts       outages and lies
//
// Held to the real one by prometheus.real.test.ts, which asks both the same. The real one there is 2.42, so a range includes
// both of its ends (since 3.0 it leaves out the earlier). What is not computed here is refused by name, never guessed.
import type { Environment, Transport, TransportRequest, TransportResponse } from "@memhog/runtime";
import { answerTo } from "./api.ts";
import { answerUnder, type PrometheusFaults } from "./faults.ts";
import { Scraper, type Target } from "./scraper.ts";
import { SeriesStore } from "./series-store.ts";

export interface PrometheusOptions {
  readonly environment: Environment;
  /** What to scrape; a function where targets come and go. */
  readonly targets: readonly Target[] | (() => readonly Target[]);
  /** Milliseconds between two scrapes. @default 15 s */
  readonly intervalMs?: number;
  /** How old the last sample of a series may be before it has none. @default 5 min */
  readonly lookBackMs?: number;
  /** Milliseconds for which samples are kept. @default 2 h */
  readonly retentionMs?: number;
  readonly faults?: PrometheusFaults;
}

/** Answers as a transport does, so that a client made for sockets can be given it as it is. */
export interface SimulatedPrometheus extends Transport, Disposable {
  request(request: TransportRequest): Promise<TransportResponse>;
  /** What goes wrong. May be changed at any time. */
  readonly faults: PrometheusFaults;
  readonly store: SeriesStore;
  /** One more round now, for tests that do not want to wait for it. */
  scrape(): Promise<void>;
  stop(): void;
}

/**
 * Starts scraping.
 *
 *     using prometheus = startPrometheus({ environment, targets: nodes.all.map(cadvisorTarget) });
 *     await prometheus.request({ method: "GET", path: "/api/v1/query", query: { query: "up" } });
 */
export function startPrometheus(options: PrometheusOptions): SimulatedPrometheus {
  const { environment, targets, intervalMs = 15_000, lookBackMs = 300_000, retentionMs = 7_200_000, faults = {} } = options;
  const { clock } = environment;
  const store = new SeriesStore();
  const current = typeof targets === "function" ? targets : () => targets;
  const scraper = new Scraper({ environment, store, targets: current, intervalMs, retentionMs, tamper: () => faults.tamper });
  const tools: Parameters<typeof answerTo>[1] = {
    ...{ store, clock, lookBackMs },
    retouch: (data) => ({ data: faults.retouch?.(data) ?? data, warnings: faults.warnings ?? [] }),
  };
  scraper.start();
  const stop = () => scraper.stop();
  return {
    faults,
    store,
    stop,
    scrape: () => scraper.scrapeAll(),
    request: async (request) => {
      const answer = () => answerTo(request, tools);
      const given = await answerUnder(faults.onRequest?.(request), { clock, signal: request.signal, answer });
      return { ...given, headers: { date: new Date(clock.now()).toUTCString(), ...given.headers } };
    },
    [Symbol.dispose]: stop,
  };
}
