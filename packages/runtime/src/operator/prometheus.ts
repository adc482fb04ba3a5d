// The part of prom-client we use, and no other. Its front door also loads clusters of processes, push gateways and default
// metrics, and with them HTTPS, zlib and OpenTelemetry: 21 MiB of memory and 90 ms of start instead of 4 and 10, measured.
import { createRequire } from "node:module";
import type * as prometheus from "prom-client";

const require = createRequire(import.meta.url);

export const Counter = require("prom-client/lib/counter.js") as typeof prometheus.Counter;
export type Counter<L extends string = string> = prometheus.Counter<L>;

export const Gauge = require("prom-client/lib/gauge.js") as typeof prometheus.Gauge;
export type Gauge<L extends string = string> = prometheus.Gauge<L>;

export const Histogram = require("prom-client/lib/histogram.js") as typeof prometheus.Histogram;
export type Histogram<L extends string = string> = prometheus.Histogram<L>;

export const Registry = require("prom-client/lib/registry.js") as typeof prometheus.Registry;
export type Registry = prometheus.Registry;
