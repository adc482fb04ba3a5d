// The metrics of one operator. Other parts of the runtime count through small interfaces and do not depend on Prometheus; this file
// connects them to a registry. Each operator has its own registry, so that two operators in one process do not add up.

import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Observer } from "../client/client.ts";
import type { Cancel } from "../concurrency/environment.ts";
import type { Metrics } from "../controller/metrics.ts";
import type { WebhookReporter } from "../webhook/server.ts";
import { type CounterName, counters, type GaugeName, gauges, type HistogramName, histograms } from "./metric-names.ts";

type Labels = Readonly<Record<string, string>>;

/** One time series of a gauge, read when metrics are scraped. */
interface Reading {
  readonly labels: Labels;
  readonly read: () => number;
}

export class OperatorMetrics implements Metrics {
  /** For custom metrics: `new Counter({ …, registers: [metrics.registry] })`. */
  readonly registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #readings = new Map<string, Set<Reading>>();

  count(name: CounterName, labels: Labels, by = 1): void {
    this.#counter(name).inc(labels, by);
  }

  observe(name: HistogramName, labels: Labels, seconds: number): void {
    this.#histogram(name).observe(labels, seconds);
  }

  gauge(name: GaugeName, labels: Labels, read: () => number): Cancel {
    const reading = { labels, read };
    const readings = this.#readingsOf(name);
    readings.add(reading);
    return () => readings.delete(reading);
  }

  /** All metrics in the Prometheus text format. */
  async text(): Promise<{ readonly type: string; readonly body: string }> {
    return { type: this.registry.contentType, body: await this.registry.metrics() };
  }

  // A metric is registered on first use: an operator without webhooks exposes no webhook metrics.

  #counter(name: CounterName): Counter {
    const { help, labels } = counters[name];
    return getOrCreate(this.#counters, name, () => new Counter({ name, help, labelNames: labels, registers: [this.registry] }));
  }

  #histogram(name: HistogramName): Histogram {
    const { help, labels, buckets } = histograms[name];
    const make = () => new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [this.registry] });
    return getOrCreate(this.#histograms, name, make);
  }

  #readingsOf(name: GaugeName): Set<Reading> {
    const { help, labels: labelNames } = gauges[name];
    const make = () => {
      const readings = new Set<Reading>();
      const collect = function (this: Gauge) {
        this.reset();
        for (const { labels, read } of readings) this.set(labels, read());
      };
      new Gauge({ name, help, labelNames, registers: [this.registry], collect });
      return readings;
    };
    return getOrCreate(this.#readings, name, make);
  }
}

/** Counts calls to the API server at this host. */
export function callMetrics(metrics: OperatorMetrics, host: string): Observer {
  return {
    called: ({ method, status, durationMs }) => {
      // client-go uses "<error>" if there was no response.
      metrics.count("rest_client_requests_total", { code: status === undefined ? "<error>" : `${status}`, method, host });
      metrics.observe("rest_client_request_duration_seconds", { verb: method, host }, durationMs / 1000);
    },
  };
}

/** Counts the requests to webhooks. */
export function webhookMetrics(metrics: OperatorMetrics): Required<Pick<WebhookReporter, "started" | "ended">> {
  const inFlight = new Map<string, number>();
  const add = (webhook: string, change: 1 | -1) => {
    if (!inFlight.has(webhook)) {
      metrics.gauge("controller_runtime_webhook_requests_in_flight", { webhook }, () => inFlight.get(webhook) ?? 0);
    }
    inFlight.set(webhook, (inFlight.get(webhook) ?? 0) + change);
  };
  return {
    started: (webhook) => add(webhook, 1),
    ended: (webhook, status, seconds) => {
      add(webhook, -1);
      metrics.count("controller_runtime_webhook_requests_total", { webhook, code: `${status}` });
      metrics.observe("controller_runtime_webhook_latency_seconds", { webhook }, seconds);
    },
  };
}

function getOrCreate<V>(map: Map<string, V>, name: string, make: () => V): V {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
}
