// Clients for tests on a cluster.
import type { RateLimit } from "../client/call.ts";
import type { Client } from "../client/client.ts";
import type { ConnectionConfig } from "../client/config/config.ts";
import { loadConfig } from "../client/config/load.ts";
import { type ClientOptions, createClient } from "../client/create-client.ts";
import { Journal } from "../client/journal.ts";
import { type HttpTransportOptions, httpTransport } from "../client/transport/http-transport.ts";
import type { Transport } from "../client/transport/transport.ts";
import type { Environment } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";

/** Returns the error that a promise rejects with; undefined if it resolves. */
export const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A rate limit that does not slow tests down; everything else as in production. */
export const quick = { environment: systemEnvironment(), rateLimit: { qps: 1000, burst: 1000 } };

/** Creates a client of a test cluster. */
export async function clientOf(
  cluster: { readonly kubeconfig: string },
  {
    config: over,
    ...options
  }: Partial<ClientOptions & HttpTransportOptions> & { readonly config?: Partial<ConnectionConfig> } = {},
): Promise<Client & AsyncDisposable> {
  const config = await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  const client = createClient({ ...quick, ...options, config: { ...config, ...over } });
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}

/** How to reach the API server: the path of a kubeconfig, or a transport, which is closed with the client. */
export type Reachable = { readonly kubeconfig: string } | { readonly transport: Transport };

export type JournaledClientOptions = Reachable & {
  /** @default the system environment */
  readonly environment?: Environment;
  /** @default 1000 requests per second */
  readonly rateLimit?: RateLimit;
};

/**
 * Creates a client that records every call in a journal and can inject faults, for tests that count an operator's writes or kill
 * it at one of them. Pass it to `operator({ client })`; the caller closes it.
 *
 *     await using client = await journaledClient({ kubeconfig: cluster.kubeconfig });
 *     client.journal.fault = ({ method }) => (method === "GET" ? undefined : { kind: "vanish" });
 */
export async function journaledClient(options: JournaledClientOptions): Promise<Client & { readonly journal: Journal }> {
  const { environment = systemEnvironment(), rateLimit = { qps: 1000, burst: 1000 } } = options;
  const journal = new Journal(await transportTo(options, environment), environment);
  return { ...createClient({ transport: journal, environment, rateLimit }), journal };
}

async function transportTo(options: Reachable, environment: Environment): Promise<Transport> {
  if ("transport" in options) return options.transport;
  return httpTransport(await loadConfig({ kubeconfig: options.kubeconfig, env: {} }), { environment });
}
