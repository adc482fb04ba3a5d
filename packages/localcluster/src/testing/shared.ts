// How the workers of a test run share clusters: the process that runs vitest owns them and answers on a socket. A cluster is
// started when the first worker asks for it; whoever asks meanwhile, or later, gets the same.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import { InvalidOptionsError, LocalClusterError } from "../errors.ts";

/** How a worker finds a cluster. */
export interface Share {
  readonly name: string;
  /** The state root it is below. */
  readonly root: string;
}

export type Nodes = "none" | "real";

export interface SharingServer extends AsyncDisposable {
  /** What workers are told (`provide`). */
  readonly socket: string;
}

/** Answers workers with what `start` makes, once per kind. */
export async function shareClusters(start: (nodes: Nodes) => Promise<Share>): Promise<SharingServer> {
  const started = new Map<Nodes, Promise<Share>>();
  const server = createServer((question, answer) => {
    const nodes = question.url === "/real" ? "real" : "none";
    // A failed start is remembered as well: else every test of the run would wait for it to fail again.
    const share = started.get(nodes) ?? start(nodes);
    started.set(nodes, share);
    share.then(
      (value) => reply(answer, 200, value),
      (error) => reply(answer, 500, { code: error?.code ?? "UNKNOWN", message: error?.message ?? String(error) }),
    );
  });
  // In Linux's abstract namespace: a name without a file, which goes when the process goes.
  const socket = `\0localcluster-test-${process.pid}-${randomBytes(4).toString("hex")}`;
  server.listen(socket);
  await once(server, "listening");
  return { socket, [Symbol.asyncDispose]: () => close(server) };
}

/** Asks the process that runs vitest for a cluster, and waits until it is there. */
export function askForCluster(socket: string | undefined, nodes: Nodes): Promise<Share> {
  if (socket === undefined)
    throw new InvalidOptionsError(
      "testCluster()",
      `a test of the vitest project "real" (its file is named *.real.test.ts)`,
      "another one",
    );
  return new Promise((done, fail) => {
    const question = request({ socketPath: socket, path: `/${nodes}`, agent: false }, async (answer) => {
      const value = JSON.parse(Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)).toString());
      if (answer.statusCode === 200) done(value);
      else fail(new LocalClusterError(value.code, value.message));
    });
    question.on("error", fail);
    question.end();
  });
}

function reply(answer: ServerResponse, status: number, value: unknown): void {
  answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
