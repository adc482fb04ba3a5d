// The production transport: credentials and undici.
//
// The initial lists of caches use HTTP/1.1 on separate connections. API servers need 1.8 times the CPU time to send the same list in
// HTTP/2, and it takes twice as long to arrive (docs/decisions/0005).

import type { Socket } from "node:net";
import * as tls from "node:tls"; // not by name: an old Node must get as far as being told that it is old
import { Agent, buildConnector, type Dispatcher, ProxyAgent } from "undici";
import type { Environment } from "../../concurrency/environment.ts";
import { type ConnectionConfig, proxyUrlOf, type Secret } from "../config/config.ts";
import { differ, type Identity, makeIdentities, type TlsMaterial } from "../credentials/identity.ts";
import { TransportError } from "../errors.ts";
import { exchange } from "./exchange.ts";
import { encodeQuery, type Transport, type TransportRequest, type TransportResponse, UnansweredError } from "./transport.ts";

export interface UndiciOptions {
  readonly environment: Pick<Environment, "clock">;
  /** Use HTTP/2 if the server offers it. Otherwise HTTP/1.1, with one connection per request in progress. @default true */
  readonly http2?: boolean | undefined;
  /** Milliseconds for the TCP and TLS handshakes together. @default 10 s */
  readonly connectTimeoutMs?: number | undefined;
  /** The User-Agent header, which audit logs show. @default "memhog-runtime" */
  readonly userAgent?: string | undefined;
  /** The environment of credential plugins. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export function undiciTransport(config: ConnectionConfig, options: UndiciOptions): Transport {
  const { environment, http2 = true, connectTimeoutMs = 10_000, userAgent = "memhog-runtime", env = process.env } = options;
  const { origin, pathname } = new URL(config.server);
  const prefix = pathname.replace(/\/+$/, "");
  const identities = makeIdentities(config, { clock: environment.clock, env });
  const underWay = new Set<Promise<TransportResponse>>();
  const proxyUrl = config.proxyUrl && proxyUrlOf(config.proxyUrl.reveal(), `the proxyUrl of ${config.origin}`);
  const connections = new Connections({ http2, connectTimeoutMs, proxyUrl });
  /** False once a server turns out to support HTTP/2 only, as some load balancers do. */
  let listsInHttp1 = true;

  const send = async (request: TransportRequest, identity: Identity): Promise<TransportResponse> => {
    if (request.stream) return sendAs("watches", request, identity);
    if (!request.chunks || !listsInHttp1) return sendAs(request.chunks ? "watches" : "requests", request, identity);
    try {
      return await sendAs("lists", request, identity);
    } catch (error) {
      if (!speaksNoHttp1(error)) throw error;
      listsInHttp1 = false;
      return sendAs("watches", request, identity);
    }
  };

  const outlined = (request: TransportRequest, identity: Identity) => {
    const query = encodeQuery(request.query);
    const path = `${prefix}${request.path}${query && `?${query}`}`;
    const headers = inUtf8({ accept: "application/json", "user-agent": userAgent, ...request.headers, ...identity.headers });
    expectSendable(path, headers);
    return { origin, path, headers, request };
  };

  const sendAs = async (role: Role, request: TransportRequest, identity: Identity): Promise<TransportResponse> => {
    const dispatcher = connections.agent(role, identity.tls);
    // Also applies after the response has started: an idle watch passes its deadline later.
    onDeadline(request.signal, () => connections.suspect(role, dispatcher));
    const answer = exchange({ dispatcher, ...outlined(request, identity) });
    if (role !== "requests") return answer;
    underWay.add(answer);
    return answer.finally(() => underWay.delete(answer));
  };

  return {
    request: async (request) => {
      request.signal?.throwIfAborted();
      const identity = await identities.current();
      const answer = await send(request, identity).catch((error: unknown) => {
        if (error instanceof TransportError) identities.unanswered();
        throw error;
      });
      if (answer.status !== 401) return answer;
      // The server did not process the request, so it is safe to retry, and useful if there are newer credentials.
      identities.refused(identity);
      const fresh = await identities.current();
      return differ(identity, fresh) ? send(request, fresh) : answer;
    },
    close: async () => {
      // Requests finish by their deadlines. Watches do not, and end with the connections.
      await Promise.allSettled(underWay);
      await connections.close();
    },
  };
}

function onDeadline(signal: AbortSignal | undefined, suspect: () => void): void {
  const onAbort = () => {
    if (signal?.reason instanceof UnansweredError) suspect();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
}

/** The TLS alert no_application_protocol. */
function speaksNoHttp1(error: unknown): boolean {
  const cause = error instanceof TransportError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";
}

// The connections to one server: separate agents for requests and watches, so that a long watch never blocks a request. With HTTP/2
// each agent normally has one connection. Lists use HTTP/1.1 with one connection each.
//
// An agent is replaced when the client certificate changes and when a deadline passes on it. A passed deadline is the only sign of a
// half-open connection: HTTP/2 requests share it, so every new request would fail, too. A replaced agent finishes its requests and
// closes.

export type Role = "requests" | "watches" | "lists";

export interface ConnectionOptions {
  /** Offer HTTP/2 to TLS servers. */
  readonly http2: boolean;
  readonly connectTimeoutMs: number;
  readonly proxyUrl?: Secret | undefined;
}

/** The limit of concurrent HTTP/1.1 requests; others queue. HTTP/2 needs one or two connections. */
const maxRequestConnections = 10;

/** Shorter than the idle timeout of API servers (90 s) and of the usual load balancers (60 s), longer than a resync of ours. */
const keepAliveMs = 45_000;

export class Connections {
  readonly #options: ConnectionOptions;
  readonly #agents = new Map<Role, { readonly agent: Dispatcher; readonly tls: TlsMaterial }>();
  readonly #retired = new Set<Dispatcher>();
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** The current agent for this role. */
  agent(role: Role, tls: TlsMaterial): Dispatcher {
    const current = this.#agents.get(role);
    if (current?.tls === tls) return current.agent;
    if (this.#closed) throw new Error("the client is closed");
    if (current !== undefined) this.#retire(current.agent);
    const agent = this.#make(role, tls);
    this.#agents.set(role, { agent, tls });
    return agent;
  }

  /** A request on this agent passed its deadline: new requests get a new agent. */
  suspect(role: Role, agent: Dispatcher): void {
    if (this.#agents.get(role)?.agent !== agent) return;
    this.#agents.delete(role);
    this.#retire(agent);
  }

  /** Closes all connections immediately. */
  async close(): Promise<void> {
    this.#closed = true;
    const agents = [...[...this.#agents.values()].map(({ agent }) => agent), ...this.#retired];
    this.#agents.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  #retire(agent: Dispatcher): void {
    this.#retired.add(agent);
    const forget = () => this.#retired.delete(agent);
    agent.close().then(forget, forget);
  }

  #make(role: Role, material: TlsMaterial): Dispatcher {
    const { connectTimeoutMs, proxyUrl } = this.#options;
    const allowH2 = this.#options.http2 && role !== "lists";
    const { secureContext, serverName, insecure } = material;
    const tls = {
      allowH2,
      preferH2: allowH2,
      timeout: connectTimeoutMs,
      rejectUnauthorized: !insecure,
      ...(secureContext && { secureContext }),
      ...(serverName && { servername: serverName }),
    };
    const options = {
      allowH2,
      bodyTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      ...(role === "requests" && { connections: maxRequestConnections }),
      ...(role === "lists" && { pipelining: 0 }), // no keep-alive: lists are rare
    };
    const uri = proxyUrl?.reveal();
    if (uri === undefined) return new Agent({ ...options, connect: tls });
    if (/^socks/i.test(uri)) return new Agent({ ...options, connect: socksConnector(uri, tls) });
    const proxyTls = { timeout: connectTimeoutMs, ...trustInProxy(material) };
    return new ProxyAgent({ ...options, uri, connectTimeout: connectTimeoutMs, proxyTls, requestTls: tls });
  }
}

/** An HTTPS proxy is verified as kubectl does, by the CA of the cluster, and also by the CAs that this process trusts. */
function trustInProxy({ ca, insecure }: TlsMaterial): { readonly ca?: string[]; readonly rejectUnauthorized: boolean } {
  return { rejectUnauthorized: !insecure, ...(ca !== undefined && { ca: [...tls.getCACertificates(), ca] }) };
}

type Headers = Record<string, string | string[]>;

/**
 * The values in UTF-8, one character per byte. Undici writes headers as latin1 and rejects other characters. Go servers read UTF-8, so
 * the user "jürgen" of a kubeconfig must be sent as kubectl sends it.
 */
export function inUtf8(headers: Readonly<Headers>): Headers {
  const encoded: Headers = {};
  for (const [name, value] of Object.entries(headers)) encoded[name] = Array.isArray(value) ? value.map(bytesOf) : bytesOf(value);
  return encoded;
}

function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

// Undici validates requests late: with HTTP/2, a request that it rejects for a header or a path leaves its connection marked as busy,
// and the next request waits until its deadline (seen with 8.12).

/** Printable ASCII and all higher bytes, which UTF-8 uses (`inUtf8`). */
const value = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const name = /^[!#$%&'*+\-.^_`|~\w]+$/;
const target = /^\/[\u0021-\u00ff]*$/;

/** @throws TypeError without the value, which may be secret */
export function expectSendable(path: string, headers: Readonly<Record<string, string | string[]>>): void {
  if (!target.test(path)) throw new TypeError("expected a path that begins with / and is escaped, found another one");
  for (const [header, values] of Object.entries(headers)) {
    if (!name.test(header)) throw new TypeError("expected the name of a header, found something else");
    if (![values].flat().every((each) => value.test(each)))
      throw new TypeError(`the header ${header}: expected one line of text, found something else`);
  }
}

/**
 * Connects through a SOCKS5 proxy, which resolves names, as with kubectl. Uses the package `socks` because undici's agent prints an
 * experimental warning, treats IPv6 addresses as names, and waits for its timeout when the proxy closes the connection (8.12).
 */
export function socksConnector(proxyUri: string, tls: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(tls);
  return (to, callback) => {
    const plain = to.protocol !== "https:";
    const destination = { host: unbracketed(to.hostname), port: Number(to.port || (plain ? 80 : 443)) };
    openTunnel(proxyUri, destination, tls.timeout ?? undefined).then(
      (socket) => (plain ? callback(null, socket) : connect({ ...to, httpSocket: socket }, callback)),
      (error: Error) => callback(error, null),
    );
  };
}

async function openTunnel(
  proxyUri: string,
  destination: { readonly host: string; readonly port: number },
  timeout: number | undefined,
): Promise<Socket> {
  const { SocksClient } = await import("socks"); // loaded only when needed
  const { hostname, port, username, password } = new URL(proxyUri);
  const login = username && { userId: decodeURIComponent(username), password: decodeURIComponent(password) };
  const proxy = { host: unbracketed(hostname), port: Number(port || 1080), type: 5 as const, ...login };
  try {
    const options = { proxy, destination, command: "connect" as const, set_tcp_nodelay: true, ...(timeout && { timeout }) };
    const { socket } = await SocksClient.createConnection(options);
    return socket;
  } catch (error) {
    // No `cause`: the error contains the options, including the password.
    throw new Error(`SOCKS proxy, connecting to ${destination.host}:${destination.port}: ${(error as Error).message}`);
  }
}

function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
