// Validates parts of an HTTP request. Any client that can reach the port can send anything, so functions here never throw on
// malformed input, except an HttpStatusError, which carries the status to respond with.
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { BlockList, isIP } from "node:net";

/** A request that gets this status as its response. Any other error from a handler results in a 500. */
export class HttpStatusError extends Error {
  readonly code = "HTTP_STATUS";
  override readonly name = "HttpStatusError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * The target of a request line as a URL; undefined if it is malformed. Ignore the host of the URL.
 *
 * `new URL(target, base)` throws on some targets, and reads a target that begins with two slashes as a host name: `//x/metrics`
 * would become `/metrics`.
 */
export function parseTarget(target: string | undefined): URL | undefined {
  if (target === undefined) return undefined;
  if (/^\/(?!\/)/.test(target)) return URL.parse(`http://localhost${target}`) ?? undefined;
  // A client that treats this server as a proxy sends the whole URL (RFC 9112, 3.2.2).
  return /^https?:\/\//i.test(target) ? (URL.parse(target) ?? undefined) : undefined;
}

/** The host name or address in a Host header, without its port; undefined if there is none. */
export function hostnameOf(header: string | undefined): string | undefined {
  const found = /^(?:\[([\da-f:.]+)\]|([\w.-]+?)\.?)(?::\d*)?$/i.exec(header ?? "");
  return (found?.[1] ?? found?.[2])?.toLowerCase();
}

/**
 * Whether a Host header names this server. Protects against DNS rebinding: a website that resolves its own name to our address in
 * order to read from us with a visitor's browser. IP addresses are safe, because no website can have one as its name.
 */
export function isAllowedHost(header: string | undefined, allowed: readonly string[] = []): boolean {
  const name = hostnameOf(header);
  if (name === undefined) return false;
  return isIP(name) !== 0 || isLocalhost(name) || allowed.some((each) => each.toLowerCase() === name);
}

/** Whether a Host header names the local machine: localhost, 127.0.0.1, [::1]. */
export function isLoopbackHost(header: string | undefined): boolean {
  const name = hostnameOf(header);
  return name !== undefined && (isLocalhost(name) || isLoopbackAddress(name));
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** Browsers resolve these names to loopback without DNS (RFC 6761, 6.3). */
function isLocalhost(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}

/** The whole body of a request. @throws HttpStatusError 413 for more than `maxBytes` */
export async function readBody(request: IncomingMessage | Http2ServerRequest, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the request: its connection still has to carry the 413 response.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new HttpStatusError(413, `expected at most ${maxBytes} bytes`, { connection: "close" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
