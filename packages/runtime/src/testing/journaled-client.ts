// A client whose every call is written down, and can be spoiled on the way: for tests of operators that count writes, or
// that let an operator die at one of them.
import type { Client } from "../client/client.ts";
import { loadConfig } from "../client/config/load.ts";
import { Journal } from "../client/journal.ts";
import { clientOver } from "../client/make-client.ts";
import type { RateLimit } from "../client/rate-limit.ts";
import { undiciTransport } from "../client/transport/undici-transport.ts";
import type { Environment } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";

export interface JournaledClientOptions {
  /** Path of a kubeconfig. */
  readonly kubeconfig: string;
  /** @default the system's */
  readonly environment?: Environment;
  /** @default 1000 a second: tests are in a hurry */
  readonly rateLimit?: RateLimit;
}

/**
 * A client, and the journal it writes. Give it to `operator({ client })`; whoever made it closes it.
 *
 *     await using client = await journaledClient({ kubeconfig: cluster.kubeconfig });
 *     client.journal.fault = ({ method }) => (method === "GET" ? undefined : { kind: "vanish" });
 */
export async function journaledClient(options: JournaledClientOptions): Promise<Client & { readonly journal: Journal }> {
  const { kubeconfig, environment = systemEnvironment(), rateLimit = { qps: 1000, burst: 1000 } } = options;
  const config = await loadConfig({ kubeconfig, env: {} });
  const journal = new Journal(undiciTransport(config, { environment }), environment);
  return { ...clientOver(journal, { environment, rateLimit }), journal };
}
