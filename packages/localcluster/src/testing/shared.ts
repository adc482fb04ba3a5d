// How the workers of a test run share clusters: the process that runs vitest owns them and answers on a socket. A cluster is started on
// the first request; later requests get the same cluster.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import { InvalidOptionsError, LocalClusterError } from "../errors.ts";

/** How a worker finds a cluster. */
export interface Share {
  readonly name: string;
  /** Its state root. */
  readonly root: string;
}

export type Nodes = "none" | "real";

export interface SharingServer extends AsyncDisposable {
  /** The address that workers connect to. */
  readonly socket: string;
}

/** Serves clusters to workers; `start` is called once per kind of cluster. */
export async function shareClusters(start: (nodes: Nodes) => Promise<Share>): Promise<SharingServer> {
  const started = new Map<Nodes, Promise<Share>>();
  const server = createServer((incoming, response) => {
    const nodes = incoming.url === "/real" ? "real" : "none";
    // A failed start is kept as well: otherwise every test of the run would wait for it to fail again.
    const share = started.get(nodes) ?? start(nodes);
    started.set(nodes, share);
    share.then(
      (value) => reply(response, 200, value),
      (error) => reply(response, 500, { code: error?.code ?? "UNKNOWN", message: error?.message ?? String(error) }),
    );
  });
  // In Linux's abstract namespace: a name without a file, which the kernel frees when the process ends.
  const socket = `\0localcluster-test-${process.pid}-${randomBytes(4).toString("hex")}`;
  server.listen(socket);
  await once(server, "listening");
  return { socket, [Symbol.asyncDispose]: () => close(server) };
}

/** Requests a cluster from the process that runs vitest, and waits until it is ready. */
export function requestCluster(socket: string | undefined, nodes: Nodes): Promise<Share> {
  if (socket === undefined)
    throw new InvalidOptionsError(
      "testCluster()",
      `a test of the vitest project "real" (its file is named *.real.test.ts)`,
      "another one",
    );
  return new Promise((done, fail) => {
    const outgoing = request({ socketPath: socket, path: `/${nodes}`, agent: false }, async (response) => {
      const value = JSON.parse(Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString());
      if (response.statusCode === 200) done(value);
      else fail(new LocalClusterError(value.code, value.message));
    });
    outgoing.on("error", fail);
    outgoing.end();
  });
}

function reply(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
