// A client whose every call is written down, and can be spoiled on the way: for tests of operators that count writes, or
// that let an operator die at one of them.
import type { Client } from "../client/client.ts";
import { loadConfig } from "../client/config/load.ts";
import { Journal } from "../client/journal.ts";
import { clientOver } from "../client/make-client.ts";
import type { RateLimit } from "../client/rate-limit.ts";
import type { Transport } from "../client/transport/transport.ts";
import { undiciTransport } from "../client/transport/undici-transport.ts";
import type { Environment } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";

/** Where the API server is: at the end of a kubeconfig (its path), or of a transport, which is closed with the client. */
export type Reachable = { readonly kubeconfig: string } | { readonly transport: Transport };

export type JournaledClientOptions = Reachable & {
  /** @default the system's */
  readonly environment?: Environment;
  /** @default 1000 a second: tests are in a hurry */
  readonly rateLimit?: RateLimit;
};

/**
 * A client, and the journal it writes. Give it to `operator({ client })`; whoever made it closes it.
 *
 *     await using client = await journaledClient({ kubeconfig: cluster.kubeconfig });
 *     client.journal.fault = ({ method }) => (method === "GET" ? undefined : { kind: "vanish" });
 */
export async function journaledClient(options: JournaledClientOptions): Promise<Client & { readonly journal: Journal }> {
  const { environment = systemEnvironment(), rateLimit = { qps: 1000, burst: 1000 } } = options;
  const journal = new Journal(await transportTo(options, environment), environment);
  return { ...clientOver(journal, { environment, rateLimit }), journal };
}

async function transportTo(options: Reachable, environment: Environment): Promise<Transport> {
  if ("transport" in options) return options.transport;
  return undiciTransport(await loadConfig({ kubeconfig: options.kubeconfig, env: {} }), { environment });
}
