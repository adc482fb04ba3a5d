// The same handler behind a real socket on loopback, for kubectl, curl and whoever else speaks HTTP. With a certificate it
// speaks TLS, and HTTP/2 to those who ask for it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { type Environment, selfMadeCertificates } from "@memhog/runtime";
import type { ApiRequest, Handler } from "./handler.ts";
import { objectInProtobuf, protobufType } from "./protobuf.ts";

export interface HttpOptions {
  /** @default a free one */
  readonly port?: number | undefined;
  /** Speak TLS, with a certificate of our own making that the kubeconfig trusts. @default false: plain HTTP */
  readonly tls?: boolean | undefined;
}

export interface HttpServer {
  /** "http://127.0.0.1:PORT" */
  readonly url: string;
  /** PEM of the authority to trust, if it speaks TLS. */
  readonly authority: string | undefined;
  /** Ends it, with every connection. */
  stop(): Promise<void>;
}

type Incoming = IncomingMessage | Http2ServerRequest;
/** Both kinds do what is asked of them here; TypeScript cannot call a method of a union whose overloads differ. */
type Outgoing = ServerResponse;

export async function startHttp(
  handler: Handler,
  environment: Environment,
  { port = 0, tls = false }: HttpOptions = {},
): Promise<HttpServer> {
  const certificate = tls ? await makeCertificate(environment) : undefined;
  const sockets = new Set<Socket>();
  const listener = (incoming: Incoming, outgoing: Outgoing | Http2ServerResponse) => {
    serve(handler, incoming, outgoing as Outgoing).catch(() => outgoing.destroy());
  };
  const server: Server | Http2SecureServer =
    certificate === undefined
      ? createServer(listener)
      : createSecureServer({ cert: certificate.certificate, key: certificate.key, allowHTTP1: true }, listener);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", listening);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${actual}`,
    authority: certificate?.trust,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The first of the certificates that the runtime would make for a webhook; a simulator does not live to see the second. */
async function makeCertificate(environment: Environment) {
  const ended = new AbortController();
  const source = selfMadeCertificates({ name: "simulator", names: ["127.0.0.1", "localhost"], environment });
  for await (const certificate of source(ended.signal)) {
    ended.abort();
    return certificate;
  }
  throw new Error("expected a certificate, found none");
}

async function serve(handler: Handler, incoming: Incoming, outgoing: Outgoing): Promise<void> {
  const left = new AbortController();
  outgoing.on("close", () => left.abort());
  const { status, headers, body } = await handler(await requestOf(incoming, left.signal));
  outgoing.writeHead(status, headers);
  if (typeof body === "string") {
    outgoing.end(body);
    return;
  }
  // Clients wait for the headers of a watch before anything happens.
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (left.signal.aborted) break;
    if (!outgoing.write(chunk)) await drained(outgoing, left.signal);
  }
  outgoing.end();
}

function drained(outgoing: Outgoing, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once("drain", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function requestOf(incoming: Incoming, signal: AbortSignal): Promise<ApiRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const url = new URL(incoming.url ?? "/", "http://simulator");
  const query: Record<string, string> = {};
  // A parameter that comes several times (dryRun may) is joined, as our own client would send it.
  for (const [name, value] of url.searchParams) query[name] = name in query ? `${query[name]},${value}` : value;
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
  const method = incoming.method as ApiRequest["method"];
  return inJson({ method, path: url.pathname, query, headers, signal }, Buffer.concat(chunks));
}

/** Behind this door everything is JSON, so what comes as protobuf is translated here. */
function inJson(request: ApiRequest, bytes: Buffer): ApiRequest {
  const isProtobuf = request.headers?.["content-type"]?.startsWith(protobufType) === true;
  const object = isProtobuf ? objectInProtobuf(bytes) : undefined;
  if (object === undefined) return { ...request, body: bytes.toString() };
  const headers = { ...request.headers, "content-type": "application/json" };
  return { ...request, headers, body: JSON.stringify(object) };
}
