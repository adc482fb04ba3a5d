// @memhog/runtime/operator: the program of an operator. Command line, leader election, probes, metrics, logs, shutdown.

export { Counter, Gauge, Histogram } from "prom-client";
export type { HealthCheck } from "./operator/endpoints.ts";
export { parseAddress } from "./operator/endpoints.ts";
export { AddressError, FlagError, LeadershipLostError, OperatorError, OperatorOptionsError } from "./operator/errors.ts";
export { addressFormat, type FlagOptions } from "./operator/flags.ts";
export { type LogOptions, loadPino, makeLogger } from "./operator/logs.ts";
export type { OperatorMetrics } from "./operator/metrics.ts";
export { type Operator, operator } from "./operator/operator.ts";
export type {
  CustomMetric,
  ElectionOptions,
  OperatorOptions,
  Runnable,
  RunnableContext,
  WebhookOptions,
} from "./operator/options.ts";
export type { Flag, FlagFormat, FlagTable, FlagValues } from "./operator/parse-flags.ts";
export {
  type Command,
  helpText,
  type OperatorProgram,
  type PermissionsOptions,
  type Prepared,
  parseCommandLine,
  permissionsOf,
  runOperator,
} from "./operator/run-operator.ts";
export { defaultWebhookAddress, webhookPort } from "./operator/start-webhooks.ts";
