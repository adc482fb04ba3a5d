// A Prometheus in memory. It scrapes targets on the environment's clock, stores samples, and answers the subset of PromQL that this
// repository uses.
//
//     prometheus.ts   start, stop, as a component of the simulator   http.ts         the same over a socket
//     api.ts          /api/v1/query, query_range and responses       exposition.ts   the text format
//     scraper.ts      targets → series                               labels.ts       label sets and matchers
//     series-store.ts samples ordered by time                        faults.ts       outages and corrupt samples
//     promql/         parse → expression → evaluate
//
// prometheus.real.test.ts compares its responses with those of a real Prometheus. That Prometheus is 2.42, so a range
// includes both of its ends (since 3.0 it excludes the earlier one). Unsupported functions are rejected by name.
import type { Environment } from "@memhog/runtime";
import type { Transport, TransportRequest, TransportResponse } from "@memhog/runtime/client";
import { cadvisorTarget } from "../nodes/cadvisor.ts";
import type { HollowNodesComponent } from "../nodes/hollow-nodes.ts";
import type { Component } from "../simulator.ts";
import { answerTo } from "./api.ts";
import { answerUnder, type PrometheusFaults } from "./faults.ts";
import { type HttpEndpoint, serve } from "./http.ts";
import { Scraper, type Target } from "./scraper.ts";
import { SeriesStore } from "./series-store.ts";

export interface PrometheusOptions {
  readonly environment: Environment;
  /** The scrape targets; a function if they change. */
  readonly targets: readonly Target[] | (() => readonly Target[]);
  /** Milliseconds between two scrapes. @default 15 s */
  readonly intervalMs?: number;
  /** The lookback period: how old the last sample of a series may be. @default 5 min */
  readonly lookBackMs?: number;
  /** Milliseconds for which samples are kept. @default 2 h */
  readonly retentionMs?: number;
  readonly faults?: PrometheusFaults;
}

/** A transport, so that a client can use it directly. */
export interface SimulatedPrometheus extends Transport, Disposable {
  request(request: TransportRequest): Promise<TransportResponse>;
  /** The current faults. Can be changed at any time. */
  readonly faults: PrometheusFaults;
  readonly store: SeriesStore;
  /** Scrapes all targets now, for tests that do not wait for the interval. */
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

// Prometheus as a component of the simulator, scraping its hollow nodes.

export interface PrometheusComponent extends Component {
  /** Available once the simulator has started. */
  readonly prometheus: SimulatedPrometheus;
  /** http://127.0.0.1:PORT, if the option `port` is set. */
  readonly url: string | undefined;
}

export interface PrometheusComponentOptions extends Omit<PrometheusOptions, "environment" | "targets"> {
  /** The nodes to scrape; this component must start earlier. */
  readonly nodes: HollowNodesComponent;
  /** Additional targets. */
  readonly targets?: PrometheusOptions["targets"];
  /** Also listens on this port of 127.0.0.1; 0 for any free one. @default in memory only */
  readonly port?: number;
}

export function prometheus({ nodes, targets = [], port, ...options }: PrometheusComponentOptions): PrometheusComponent {
  let started: SimulatedPrometheus | undefined;
  let endpoint: HttpEndpoint | undefined;
  return {
    name: "prometheus",
    get prometheus() {
      if (started === undefined) throw new TypeError("expected a Prometheus that was started with a simulator, found none");
      return started;
    },
    get url() {
      return endpoint?.url;
    },
    async start({ environment }) {
      const others = typeof targets === "function" ? targets : () => targets;
      const all = () => [...nodes.nodes.all.map(cadvisorTarget), ...others()];
      const running = startPrometheus({ ...options, environment, targets: all });
      started = running;
      if (port !== undefined) endpoint = await serve((request) => running.request(request), port);
      return async () => {
        running.stop();
        await endpoint?.[Symbol.asyncDispose]();
      };
    },
  };
}
