// The usual way to a client.
//
//     const client = await connect({ environment: systemEnvironment() });
//     for await (const pod of client.listAll(Pod, { namespace: "default" })) console.log(pod.metadata.name);
import type { Client } from "./client.ts";
import type { ConnectionConfig } from "./config/config.ts";
import { type ConfigOptions, loadConfig } from "./config/load.ts";
import { type ClientOptions, clientOver } from "./make-client.ts";
import { type UndiciOptions, undiciTransport } from "./transport/undici-transport.ts";

export type ConnectOptions = ClientOptions & UndiciOptions;

/** A client of the cluster that this process belongs to; see config/load.ts for where it looks. */
export async function connect(options: ConnectOptions & ConfigOptions): Promise<Client> {
  return clientFor(await loadConfig(options), options);
}

/** A client of a cluster that is already known. Nothing is sent before the first call. */
export function clientFor(config: ConnectionConfig, options: ConnectOptions): Client {
  return clientOver(undiciTransport(config, options), options);
}
