// Creates the operator's client, with metrics and logs of its calls, and determines the operator's namespace.
import type { Client, Observer } from "../client/client.ts";
import { loadConfig } from "../client/config/load.ts";
import { createClient } from "../client/create-client.ts";
import type { Logger } from "../concurrency/environment.ts";
import { verbosityOfCalls } from "./logs.ts";
import { callMetrics, type OperatorMetrics } from "./metrics.ts";
import type { ResolvedOptions } from "./options.ts";

export interface Connection extends AsyncDisposable {
  readonly client: Client;
  /** The namespace of the Lease and the certificate Secret: the pod's in a cluster, the kubeconfig context's elsewhere. */
  readonly home: string;
}

/** @throws ConfigError naming the places where it looked for a configuration */
export async function connectTo(options: ResolvedOptions, metrics: OperatorMetrics, log: Logger): Promise<Connection> {
  const { client: given, kubeconfig, context, environment, rateLimit, verbosity } = options;
  if (given !== undefined) return { client: given, home: "default", [Symbol.asyncDispose]: async () => {} };
  const config = await loadConfig({ kubeconfig, context });
  const observer = observeCalls({ metrics, log, verbosity, host: new URL(config.server).host });
  const client = createClient({ config, environment, observer, rateLimit });
  if (config.withheldCredentials)
    log.warn({ server: config.server }, "the server uses http: the credentials of the kubeconfig are not sent");
  log.info({ server: config.server, origin: config.origin }, "connecting");
  return { client, home: config.namespace, [Symbol.asyncDispose]: () => client.close() };
}

export interface CallObserverOptions {
  readonly metrics: OperatorMetrics;
  readonly log: Logger;
  readonly verbosity: number;
  /** "host:port" of the API server. */
  readonly host: string;
}

// The server repeats a warning in every response: log each once, and limit the memory for them.
const maxWarnings = 100;

/** Turns the client's reports into metrics and log lines. */
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
      // The threshold of client-go.
      if (waitedMs > 1_000) log.info({ lane, waitedMs: Math.round(waitedMs) }, "delayed by the client-side rate limit");
    },
    warned: ({ attempt, text }) => {
      if (warned.has(text) || warned.size >= maxWarnings) return;
      warned.add(text);
      log.warn({ call: attempt }, `warning from the API server: ${text}`);
    },
    skippedEvent: ({ attempt, type }) => log.warn({ call: attempt, type }, "skipped a watch event of an unknown type"),
  };
}
