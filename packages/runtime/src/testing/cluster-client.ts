// A client of the cluster that a test was given.
import type { Client } from "../client/client.ts";
import type { ConnectionConfig } from "../client/config/config.ts";
import { loadConfig } from "../client/config/load.ts";
import { type ConnectOptions, clientFor } from "../client/connect.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";

/** Fast enough for tests; everything else as in production. */
export const quick = { environment: systemEnvironment(), rateLimit: { qps: 1000, burst: 1000 } };

export async function clientOf(
  cluster: { readonly kubeconfig: string },
  options: Partial<ConnectOptions> & { readonly config?: Partial<ConnectionConfig> } = {},
): Promise<Client & AsyncDisposable> {
  const config = await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  const client = clientFor({ ...config, ...options.config }, { ...quick, ...options });
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}
