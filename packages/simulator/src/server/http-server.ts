// Serves the API on a loopback socket for kubectl, curl, and other HTTP clients. With a certificate it serves TLS and HTTP/2.
// No request may end the process, because the process can be a test run.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Environment } from "@memhog/runtime";
import { TransportError } from "@memhog/runtime/client";
import { arrivalLimits, Connections, HttpStatusError, parseTarget, readBody, secureArrivalLimits } from "@memhog/runtime/http";
import { selfSignedCertificates } from "@memhog/runtime/webhook";
import { plainText, statusAnswer } from "./answer.ts";
import type { ApiRequest, ApiResponse, Handler } from "./core.ts";
import { objectInProtobuf, protobufType } from "./protobuf.ts";
import { internalError, requestTooLarge, StatusError } from "./status-error.ts";

export interface HttpOptions {
  /** @default a free port */
  readonly port?: number | undefined;
  /** Serves TLS with a self-signed certificate that the kubeconfig trusts. @default false: plain HTTP */
  readonly tls?: boolean | undefined;
}

export interface HttpServer {
  /** "http://127.0.0.1:PORT" */
  readonly url: string;
  /** The CA certificate in PEM format, if the server uses TLS. */
  readonly authority: string | undefined;
  /** Stops the server and closes every connection. */
  stop(): Promise<void>;
}

type Incoming = IncomingMessage | Http2ServerRequest;
/** TypeScript cannot call a method of a union whose overloads differ; HTTP/1 and HTTP/2 responses share what is used here. */
type Outgoing = ServerResponse;

/** The limit of the real API server for write requests. */
const maxBodyBytes = 3 * 1024 * 1024;
const maxConnections = 10_000;

export async function startHttp(
  handler: Handler,
  environment: Environment,
  { port = 0, tls = false }: HttpOptions = {},
): Promise<HttpServer> {
  const certificate = tls ? await makeCertificate(environment) : undefined;
  const listener = (incoming: Incoming, outgoing: Outgoing | Http2ServerResponse) => {
    serve(handler, incoming, outgoing as Outgoing).catch(() => outgoing.destroy());
  };
  const server: Server | Http2SecureServer =
    certificate === undefined
      ? createServer({ ...arrivalLimits }, listener)
      : createSecureServer(
          { ...secureArrivalLimits, cert: certificate.certificate, key: certificate.key, allowHTTP1: true },
          listener,
        );
  const connections = new Connections(maxConnections);
  connections.follow(server);
  await new Promise<void>((listening, failed) => {
    server.on("error", failed); // never removed: an "error" event without a listener would end the process
    server.listen(port, "127.0.0.1", listening);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${actual}`,
    authority: certificate?.trust,
    stop: async () => {
      connections.closeAll();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Uses only the first certificate; no simulator runs long enough to need its rotation. */
async function makeCertificate(environment: Environment) {
  const ended = new AbortController();
  const source = selfSignedCertificates({ name: "simulator", names: ["127.0.0.1", "localhost"], environment });
  for await (const certificate of source(ended.signal)) {
    ended.abort();
    return certificate;
  }
  throw new Error("expected a certificate, found none");
}

async function serve(handler: Handler, incoming: Incoming, outgoing: Outgoing): Promise<void> {
  const left = new AbortController();
  outgoing.on("error", () => {}); // the client disconnected
  outgoing.on("close", () => left.abort());
  const { status, headers, body } = await answerTo(handler, incoming, left.signal);
  outgoing.writeHead(status, headers);
  if (typeof body === "string") {
    outgoing.end(body);
    return;
  }
  // Clients wait for the headers of a watch, also if there are no events yet.
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (left.signal.aborted) break;
    if (!outgoing.write(chunk)) await drained(outgoing, left.signal);
  }
  outgoing.end();
}

/** @throws TransportError if the connection is to be closed without a response */
async function answerTo(handler: Handler, incoming: Incoming, signal: AbortSignal): Promise<ApiResponse> {
  const url = parseTarget(incoming.url);
  if (url === undefined) return plainText(400, "400 Bad Request: expected a path\n");
  try {
    return await handler(inJson(requestOf(incoming, url, signal), await readBody(incoming, maxBodyBytes)));
  } catch (error) {
    if (error instanceof HttpStatusError) return statusAnswer(requestTooLarge(maxBodyBytes).body);
    if (error instanceof StatusError) return statusAnswer(error.body);
    if (error instanceof TransportError || signal.aborted) throw error;
    return statusAnswer(internalError(error instanceof Error ? (error.stack ?? error.message) : String(error)).body);
  }
}

function drained(outgoing: Outgoing, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once("drain", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function requestOf(incoming: Incoming, url: URL, signal: AbortSignal): ApiRequest {
  const query: Record<string, string> = Object.create(null);
  // Joins the values of a repeated parameter such as dryRun with commas, as our client does.
  for (const [name, value] of url.searchParams) query[name] = name in query ? `${query[name]},${value}` : value;
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
  return { method: incoming.method as ApiRequest["method"], path: url.pathname, query, headers, signal };
}

/** Converts protobuf bodies to JSON. */
function inJson(request: ApiRequest, bytes: Buffer): ApiRequest {
  const isProtobuf = request.headers?.["content-type"]?.startsWith(protobufType) === true;
  const object = isProtobuf ? objectInProtobuf(bytes) : undefined;
  if (object === undefined) return { ...request, body: bytes.toString() };
  const headers = { ...request.headers, "content-type": "application/json" };
  return { ...request, headers, body: JSON.stringify(object) };
}

// A kubeconfig for kubectl. JSON is valid YAML.

/** Every client is admin, but over TLS kubectl prompts for a password if the user has no credentials. */
export function kubeconfigFor(server: string, authority?: string): string {
  const trust = authority === undefined ? {} : { "certificate-authority-data": Buffer.from(authority).toString("base64") };
  const name = "simulator";
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server, ...trust } }],
      contexts: [{ name, context: { cluster: name, user: "admin", namespace: "default" } }],
      "current-context": name,
      users: [{ name: "admin", user: authority === undefined ? {} : { token: "anything" } }],
    },
    undefined,
    2,
  );
}
