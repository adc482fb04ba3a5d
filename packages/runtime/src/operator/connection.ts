// The operator's way to its cluster: the client, observed, and the namespace the operator is at home in.
import type { Client } from "../client/client.ts";
import { loadConfig } from "../client/config/load.ts";
import { clientFor } from "../client/connect.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { OperatorMetrics } from "./metrics.ts";
import { observeCalls } from "./observe-calls.ts";
import type { ResolvedOptions } from "./options.ts";

export interface Connection extends AsyncDisposable {
  readonly client: Client;
  /** In a cluster the namespace of the pod, on a desk that of the context: where the Lease and the Secret live. */
  readonly home: string;
}

/** @throws ConfigError that says where it looked */
export async function connectTo(options: ResolvedOptions, metrics: OperatorMetrics, log: Logger): Promise<Connection> {
  const { client: given, kubeconfig, context, environment, rateLimit, verbosity } = options;
  if (given !== undefined) return { client: given, home: "default", [Symbol.asyncDispose]: async () => {} };
  const config = await loadConfig({ kubeconfig, context });
  const observer = observeCalls({ metrics, log, verbosity, host: new URL(config.server).host });
  const client = clientFor(config, { environment, observer, rateLimit });
  log.info({ server: config.server, origin: config.origin }, "connecting");
  return { client, home: config.namespace, [Symbol.asyncDispose]: () => client.close() };
}
