// The egress proxy: makes every outgoing connection of an API server that runs on the host, and refuses those that would
// leave the machine.
//
// On the host, nothing has the addresses of pods, Services and nodes. A connection to one of them would leave by the default
// route, a name such as webhook.default.svc would be looked up in the machine's DNS, and whatever answers there is not part
// of the cluster. So the API server dials nothing itself: with --egress-selector-config-file it sends each connection
// (webhooks, aggregated API servers, kubelets, the proxy subresources) as HTTP CONNECT to this program, over a unix socket.
// The program connects to loopback addresses, where a webhook under test listens, and looks up no names.
//
// A cluster with a real node needs none of this: its network namespace has no route out (node/sandbox.ts).
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { BlockList, connect, isIP, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import type { ComponentSpec } from "../process/component.ts";
import { host } from "../process/component.ts";
import { statusOf, waitUntil } from "../process/probe.ts";
import { joinSockets } from "../process/sockets.ts";
import type { ClusterDirectory } from "../state/directory.ts";

const socketIn = ({ run }: ClusterDirectory) => join(run, "egress");

/** The component; start it before the API server. */
export function egressProxy(directory: ClusterDirectory): ComponentSpec {
  const socketPath = socketIn(directory);
  const ready = (signal: AbortSignal) =>
    waitUntil(async () => (await statusOf({ socketPath, path: "/", signal })) === 200, signal);
  const argv = [process.execPath, fileURLToPath(import.meta.url), socketPath];
  return { name: "egress-proxy", argv, context: host, ready, graceMs: 500 };
}

/**
 * Writes the API server's egress configuration and returns the path. `cluster` covers what the API server calls in the cluster,
 * `controlplane` the webhooks that are given by URL. etcd is not named, so it is dialed directly, on its unix socket.
 */
export async function writeEgressConfiguration(directory: ClusterDirectory): Promise<string> {
  const file = join(directory.data, "egress.yaml");
  const connection = { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: socketIn(directory) } } };
  const egressSelections = ["cluster", "controlplane"].map((name) => ({ name, connection }));
  const configuration = { apiVersion: "apiserver.k8s.io/v1beta1", kind: "EgressSelectorConfiguration", egressSelections };
  await writeFile(file, stringify(configuration));
  return file;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Where a CONNECT request may go; undefined if it would leave the machine. */
export function destinationOf(target: string): { readonly host: string; readonly port: number } | undefined {
  const [, ipv6, name = ipv6, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(target) ?? [];
  const address = name === "localhost" ? "127.0.0.1" : (name ?? "");
  const family = isIP(address);
  if (family === 0 || Number(port) > 65_535 || !loopback.check(address, family === 6 ? "ipv6" : "ipv4")) return undefined;
  return { host: address, port: Number(port) };
}

/** Answers CONNECT requests, and any other request with 200 to show that it runs. `log` gets a line per refused connection. */
export function createEgressProxy(log: (line: string) => void): Server {
  const server = createServer((_request, response) => response.end());
  server.on("connect", (request, client: Socket) => {
    client.on("error", () => client.destroy());
    const target = request.url ?? "";
    const destination = destinationOf(target);
    if (destination === undefined) {
      log(`refused ${target}`);
      refuse(client, 403, "Forbidden: this cluster runs no containers, so only loopback addresses can be reached");
      return;
    }
    const upstream = connect({ ...destination, allowHalfOpen: true, noDelay: true });
    const failed = (error: Error) => refuse(client, 502, error.message);
    client.once("close", () => upstream.destroySoon());
    upstream.once("error", failed);
    upstream.once("connect", () => {
      upstream.off("error", failed);
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      joinSockets(client, upstream);
    });
  });
  return server;
}

/** The API server puts the status line into its own error, so that is where the reason goes. */
function refuse(client: Socket, status: number, reason: string): void {
  client.end(`HTTP/1.1 ${status} ${reason.replace(/[^ -~]/g, "?")}\r\ncontent-length: 0\r\n\r\n`);
}

if (import.meta.main) {
  const [socketPath = ""] = process.argv.slice(2);
  rmSync(socketPath, { force: true }); // left by an earlier run that was killed
  createEgressProxy((line) => console.log(`${new Date().toISOString()} ${line}`)).listen(socketPath);
}
