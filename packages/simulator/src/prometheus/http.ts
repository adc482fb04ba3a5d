// Anything that answers like a transport, at a port of this machine: for curl, for a real Prometheus, for operators that run
// as processes of their own. Where a transport would throw, the connection is cut.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TransportRequest, TransportResponse } from "@memhog/runtime";

export interface HttpEndpoint extends AsyncDisposable {
  /** http://127.0.0.1:PORT */
  readonly url: string;
  readonly port: number;
}

export type Answer = (request: TransportRequest) => TransportResponse | Promise<TransportResponse>;

/** Listens at 127.0.0.1. @param port 0 for any that is free */
export async function serve(answer: Answer, port = 0): Promise<HttpEndpoint> {
  const server = createServer((incoming, outgoing) => void respond(answer, incoming, outgoing));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${bound}`, port: bound, [Symbol.asyncDispose]: () => close(server) };
}

async function respond(answer: Answer, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  try {
    const { status, headers, body } = await answer({ ...(await requestIn(incoming)), signal: gone.signal });
    outgoing.writeHead(status, headers).end(body);
  } catch {
    incoming.socket.destroy();
  }
}

async function requestIn(incoming: IncomingMessage): Promise<TransportRequest> {
  const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://localhost");
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: (incoming.method ?? "GET") as TransportRequest["method"],
    path: pathname,
    query: Object.fromEntries(searchParams),
    body: Buffer.concat(chunks).toString("utf8"),
  };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
