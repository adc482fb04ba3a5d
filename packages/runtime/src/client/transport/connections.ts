// The connections to one server: one agent for requests and one for watches, so that a watch that holds a connection for
// minutes never stands in the way of a request. With HTTP/2 each is normally one connection. (Lists have one each: bulk/.)
//
// An agent is replaced, never mended, in two cases: when the client certificate changes, and when a deadline passed on it.
// The second is the only sign that a half-open connection gives: with HTTP/2 everybody shares it, and without this every
// new request would be sent down the same dead pipe. A replaced agent finishes what it has and closes.
import { getCACertificates } from "node:tls";
import type { Dispatcher } from "undici";
import type { Clock } from "../../concurrency/environment.ts";
import type { Secret } from "../config/secret.ts";
import type { TlsMaterial } from "../credentials/tls.ts";
import { connectBySocks, type SocksProxy, socksProxyOf } from "./socks.ts";
import { type Connector, loadAgent, loadConnector, loadProxyAgent } from "./undici.ts";

export type Role = "requests" | "watches";

export interface ConnectionOptions {
  /** Offer HTTP/2 to servers with TLS. */
  readonly http2: boolean;
  readonly connectTimeoutMs: number;
  readonly proxyUrl?: Secret | undefined;
  readonly clock: Pick<Clock, "after">;
}

/** With HTTP/1.1 this many requests are under way at once, the others queue. HTTP/2 needs one or two. */
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

  /** Where to send a request of this role now. */
  agent(role: Role, tls: TlsMaterial): Dispatcher {
    const current = this.#agents.get(role);
    if (current?.tls === tls) return current.agent;
    if (this.#closed) throw new Error("the client is closed");
    if (current !== undefined) this.#retire(current.agent);
    const agent = this.#make(role, tls);
    this.#agents.set(role, { agent, tls });
    return agent;
  }

  /** Something on this agent took too long; give new requests another one. */
  suspect(role: Role, agent: Dispatcher): void {
    if (this.#agents.get(role)?.agent !== agent) return;
    this.#agents.delete(role);
    this.#retire(agent);
  }

  /** Cuts them all. */
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
    const { http2, connectTimeoutMs, proxyUrl, clock } = this.#options;
    const { secureContext, serverName, insecure } = material;
    const tls = {
      allowH2: http2,
      preferH2: http2,
      timeout: connectTimeoutMs,
      rejectUnauthorized: !insecure,
      ...(secureContext && { secureContext }),
      ...(serverName && { servername: serverName }),
    };
    const options = {
      allowH2: http2,
      bodyTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      ...(role === "requests" && { connections: maxRequestConnections }),
    };
    const uri = proxyUrl?.reveal();
    if (uri === undefined || /^socks/i.test(uri)) {
      const Agent = loadAgent();
      const connect =
        uri === undefined ? tls : throughSocks(socksProxyOf(uri, { timeoutMs: connectTimeoutMs, clock }), loadConnector()(tls));
      return new Agent({ ...options, connect });
    }
    const ProxyAgent = loadProxyAgent();
    const proxyTls = { timeout: connectTimeoutMs, ...trustInProxy(material) };
    return new ProxyAgent({ ...options, uri, connectTimeout: connectTimeoutMs, proxyTls, requestTls: tls });
  }
}

/** A tunnel, and in it what undici would do without one. */
function throughSocks(proxy: SocksProxy, connect: Connector): Connector {
  return (to, callback) => {
    const plain = to.protocol !== "https:";
    connectBySocks(proxy, { host: to.hostname, port: Number(to.port || (plain ? 80 : 443)) }).then(
      (socket) => (plain ? callback(null, socket) : connect({ ...to, httpSocket: socket }, callback)),
      (error: Error) => callback(error, null),
    );
  };
}

/** A proxy with TLS is trusted as kubectl does it, by what vouches for the server; and by what this process trusts anyway. */
function trustInProxy({ ca, insecure }: TlsMaterial): { readonly ca?: string[]; readonly rejectUnauthorized: boolean } {
  return { rejectUnauthorized: !insecure, ...(ca !== undefined && { ca: [...getCACertificates(), ca] }) };
}
