// The production transport: credentials and connections.
//
// The initial lists of caches use HTTP/1.1 on separate connections. API servers need 1.8 times the CPU time to send the same list in
// HTTP/2, and it takes twice as long to arrive (docs/decisions/0005).

import type { Clock, Environment } from "../../concurrency/environment.ts";
import { type ConnectionConfig, proxyUrlOf, type Secret } from "../config/config.ts";
import { differ, type Identity, makeIdentities, type TlsMaterial } from "../credentials/identity.ts";
import { TransportError } from "../errors.ts";
import { HttpAgent } from "./http-agent.ts";
import { openSocket } from "./open-socket.ts";
import { encodeQuery, type Transport, type TransportRequest, type TransportResponse, UnansweredError } from "./transport.ts";

export interface HttpTransportOptions {
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

export function httpTransport(config: ConnectionConfig, options: HttpTransportOptions): Transport {
  const { environment, http2 = true, connectTimeoutMs = 10_000, userAgent = "memhog-runtime", env = process.env } = options;
  const server = new URL(config.server);
  const prefix = server.pathname.replace(/\/+$/, "");
  const identities = makeIdentities(config, { clock: environment.clock, env });
  const underWay = new Set<Promise<TransportResponse>>();
  const proxyUrl = config.proxyUrl && proxyUrlOf(config.proxyUrl.reveal(), `the proxyUrl of ${config.origin}`);
  const connections = new Connections({ server, http2, connectTimeoutMs, proxyUrl, clock: environment.clock });
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
    const length = request.body === undefined ? {} : { "content-length": String(Buffer.byteLength(request.body)) };
    const given = { ...length, ...request.headers, ...identity.headers };
    const headers = inUtf8({ accept: "application/json", "user-agent": userAgent, ...given });
    expectSendable(path, headers);
    return { host: server.host, path, headers, request };
  };

  const sendAs = async (role: Role, request: TransportRequest, identity: Identity): Promise<TransportResponse> => {
    const agent = connections.agent(role, identity.tls);
    // Also applies after the response has started: an idle watch passes its deadline later.
    onDeadline(request.signal, () => connections.suspect(role, agent));
    const answer = agent.send(outlined(request, identity));
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
      connections.close();
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

type Role = "requests" | "watches" | "lists";

interface ConnectionOptions {
  readonly server: URL;
  /** Offer HTTP/2 to TLS servers. */
  readonly http2: boolean;
  readonly connectTimeoutMs: number;
  readonly proxyUrl: Secret | undefined;
  readonly clock: Clock;
}

class Connections {
  readonly #options: ConnectionOptions;
  readonly #agents = new Map<Role, { readonly agent: HttpAgent; readonly tls: TlsMaterial }>();
  readonly #retired = new Set<HttpAgent>();
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** The current agent for this role. */
  agent(role: Role, tls: TlsMaterial): HttpAgent {
    const current = this.#agents.get(role);
    if (current?.tls === tls) return current.agent;
    if (this.#closed) throw new Error("the client is closed");
    if (current !== undefined) this.#retire(current.agent);
    const agent = this.#make(role, tls);
    this.#agents.set(role, { agent, tls });
    return agent;
  }

  /** A request on this agent passed its deadline: new requests get a new agent. */
  suspect(role: Role, agent: HttpAgent): void {
    if (this.#agents.get(role)?.agent !== agent) return;
    this.#agents.delete(role);
    this.#retire(agent);
  }

  /** Closes all connections immediately. */
  close(): void {
    this.#closed = true;
    for (const { agent } of this.#agents.values()) agent.destroy();
    for (const agent of this.#retired) agent.destroy();
    this.#agents.clear();
  }

  #retire(agent: HttpAgent): void {
    this.#retired.add(agent);
    void agent.close().then(() => this.#retired.delete(agent));
  }

  #make(role: Role, tls: TlsMaterial): HttpAgent {
    const { server, http2 } = this.#options;
    return new HttpAgent({
      origin: server.origin,
      http2: http2 && role !== "lists" && server.protocol === "https:",
      maxRequests: role === "requests" ? maxHttp1Requests : Number.POSITIVE_INFINITY,
      keepAlive: role !== "lists", // lists are rare
      openSocket: (protocols, signal) => openSocket({ ...this.#options, tls }, protocols, signal),
    });
  }
}

/** The limit of concurrent HTTP/1.1 requests; others queue. HTTP/2 needs one or two connections. */
const maxHttp1Requests = 10;

type Headers = Record<string, string | string[]>;

/**
 * The values in UTF-8, one character per byte. Node.js writes headers as latin1 and rejects other characters. Go servers read UTF-8, so
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

// Node.js validates the headers of HTTP/1.1 but not all of HTTP/2, and its errors quote the value.

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
