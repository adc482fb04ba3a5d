// Opens a connection to the server: TCP, through a proxy if there is one, then TLS.
import { once } from "node:events";
import { request } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import * as tls from "node:tls"; // not by name: an old Node must get as far as being told that it is old
import { timeoutSignal } from "../../concurrency/abort.ts";
import type { Clock } from "../../concurrency/environment.ts";
import type { Secret } from "../config/config.ts";
import type { TlsMaterial } from "../credentials/identity.ts";

/** The names of ALPN. */
export type Protocol = "h2" | "http/1.1";

export interface SocketOptions {
  readonly server: URL;
  readonly tls: TlsMaterial;
  readonly proxyUrl: Secret | undefined;
  /** Milliseconds for all handshakes together. */
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Resolves to a connected socket. The protocol that the server chose is its `alpnProtocol`. */
export async function openSocket(options: SocketOptions, protocols: readonly Protocol[], signal: AbortSignal): Promise<Socket> {
  const { server, clock, connectTimeoutMs: timeoutMs } = options;
  using limit = timeoutSignal({ clock, timeoutMs, signal, what: "connecting" });
  try {
    return await reach(options, protocols, limit.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) throw new Error(`none to ${server.host} within ${timeoutMs} ms`);
    throw error;
  }
}

async function reach({ server, tls, proxyUrl }: SocketOptions, protocols: readonly Protocol[], signal: AbortSignal) {
  const address = addressOf(server);
  const socket =
    proxyUrl === undefined ? await dial(address, signal) : await tunnel(new URL(proxyUrl.reveal()), address, tls, signal);
  if (server.protocol !== "https:") return socket;
  const { secureContext, serverName, insecure } = tls;
  return secured(socket, address, signal, {
    ALPNProtocols: [...protocols],
    rejectUnauthorized: !insecure,
    ...(secureContext && { secureContext }),
    ...(serverName && { servername: serverName }),
  });
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** SOCKS proxies listen on 1080. */
function addressOf({ protocol, hostname, port }: URL): Address {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: port === "" ? (defaultPorts[protocol] ?? 1080) : Number(port) };
}

/** TCP keep-alive finds peers that have disappeared from an idle connection. */
const keepAlive = { keepAlive: true, keepAliveInitialDelay: 60_000 };

function dial(address: Address, signal: AbortSignal): Promise<Socket> {
  return established(connect({ ...address, ...keepAlive, noDelay: true }), "connect", signal);
}

function secured(socket: Socket, { host }: Address, signal: AbortSignal, options: tls.ConnectionOptions): Promise<Socket> {
  const servername = isIP(host) === 0 ? { servername: host } : {}; // TLS has no server names that are addresses
  return established(tls.connect({ socket, host, ...servername, ...options }), "secureConnect", signal);
}

async function established(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<Socket> {
  socket.on("error", () => {}); // until its user listens
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The proxy resolves names, as with kubectl. */
async function tunnel(proxy: URL, to: Address, material: TlsMaterial, signal: AbortSignal): Promise<Socket> {
  if (proxy.protocol.startsWith("socks")) return socksTunnel(proxy, to, signal);
  const address = addressOf(proxy);
  const socket = await dial(address, signal);
  return httpTunnel(
    proxy.protocol === "https:" ? await secured(socket, address, signal, trustInProxy(material)) : socket,
    proxy,
    to,
    signal,
  );
}

/** An HTTPS proxy is verified as kubectl does, by the CA of the cluster, and also by the CAs that this process trusts. */
function trustInProxy({ ca, insecure }: TlsMaterial): tls.ConnectionOptions {
  return { rejectUnauthorized: !insecure, ...(ca !== undefined && { ca: [...tls.getCACertificates(), ca] }) };
}

async function httpTunnel(
  socket: Socket,
  { username, password }: URL,
  { host, port }: Address,
  signal: AbortSignal,
): Promise<Socket> {
  const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const headers = { host: path, ...(username && { "proxy-authorization": `Basic ${login}` }) };
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  request({ method: "CONNECT", path, headers, createConnection: () => socket, signal })
    .on("connect", ({ statusCode = 0 }, _socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) return reject(new Error(`a proxy that answers ${statusCode} to CONNECT`));
      if (head.length > 0) socket.unshift(head);
      return resolve(socket);
    })
    .on("error", reject)
    .end();
  try {
    return await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function socksTunnel(proxyUrl: URL, destination: Address, signal: AbortSignal): Promise<Socket> {
  const { SocksClient } = await import("socks"); // loaded only when needed
  const { username, password } = proxyUrl;
  const login = username && { userId: decodeURIComponent(username), password: decodeURIComponent(password) };
  const proxy = { ...addressOf(proxyUrl), type: 5 as const, ...login };
  const socket = await dial(addressOf(proxyUrl), signal);
  const onAbort = () => socket.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const options = { proxy, destination, command: "connect" as const, existing_socket: socket };
    return (await SocksClient.createConnection(options)).socket;
  } catch (error) {
    socket.destroy();
    // No `cause`: the error contains the options, including the password.
    throw new Error(`SOCKS proxy, connecting to ${destination.host}:${destination.port}: ${(error as Error).message}`);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
