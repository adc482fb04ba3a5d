// Serves a transport on a loopback port, for curl, a real Prometheus, or operators in other processes. Where the transport
// throws, or a node has no power, the connection is closed.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TransportError, type TransportRequest, type TransportResponse } from "@memhog/runtime/client";
import { arrivalLimits, HttpStatusError, parseTarget, readBody } from "@memhog/runtime/http";
import { NodeDownError } from "../nodes/hollow-node.ts";

export interface HttpEndpoint extends AsyncDisposable {
  /** http://127.0.0.1:PORT */
  readonly url: string;
  readonly port: number;
}

export type Answer = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>;

/** Maximum size of a request body; queries are short. */
const maxBodyBytes = 1024 * 1024;

/** Listens on 127.0.0.1. @param port 0 for any free one */
export async function serve(answer: Answer, port = 0): Promise<HttpEndpoint> {
  const server = createServer({ ...arrivalLimits }, (incoming, outgoing) => void respond(answer, incoming, outgoing));
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject); // stays registered: an unhandled "error" event would end the process
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${bound}`, port: bound, [Symbol.asyncDispose]: () => close(server) };
}

async function respond(answer: Answer, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const url = parseTarget(incoming.url);
  if (url === undefined) return void outgoing.writeHead(400).end("expected a path\n");
  try {
    const { status, headers, body } = await answer({ ...(await requestIn(incoming, url)), signal: gone.signal });
    outgoing.writeHead(status, headers).end(body);
  } catch (error) {
    if (error instanceof HttpStatusError) outgoing.writeHead(error.status, error.headers).end(`${error.message}\n`);
    else if (error instanceof TransportError || error instanceof NodeDownError || outgoing.headersSent) incoming.socket.destroy();
    else outgoing.writeHead(500).end(`${error instanceof Error ? error.stack : String(error)}\n`);
  }
}

async function requestIn(incoming: IncomingMessage, { pathname, searchParams }: URL): Promise<TransportRequest> {
  return {
    method: (incoming.method ?? "GET") as TransportRequest["method"],
    path: pathname,
    query: Object.fromEntries(searchParams),
    body: (await readBody(incoming, maxBodyBytes)).toString("utf8"),
  };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
