import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { systemEnvironment } from "../../concurrency/system-environment.ts";
import { loopback } from "../../testing/loopback.ts";
import { issueServing, makeAuthority } from "../../webhook/certificates.ts";
import type { ConnectionConfig } from "../config/config.ts";
import { Secret } from "../config/config.ts";
import { httpTransport } from "./http-transport.ts";
import { textOf } from "./transport.ts";

const environment = systemEnvironment();
const lifetimeMs = 3_600_000;
const authority = await makeAuthority({ name: "test", lifetimeMs }, environment);
const names = ["127.0.0.1", "fd00::1", "api.example.test"];
const { certificate: cert, key } = await issueServing(authority, { names, lifetimeMs }, environment);
const ca = { data: new Secret(authority.certificate) };

/** A proxy that tunnels every request with the password to this port. */
type Tunnelling = (port: number, password: string) => Promise<Awaited<ReturnType<typeof listening>>>;

async function listening(server: Server, scheme: string, targets: string[], sockets: Set<Socket>, host = "127.0.0.1") {
  await new Promise<void>((listens) => server.listen(0, host, listens));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  };
  const at = `${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  return { url: (as: string) => new Secret(`${scheme}://${as}@${at}`), targets, [Symbol.asyncDispose]: close };
}

/** Forwards both directions. */
function join(socket: Socket, port: number, sockets: Set<Socket>, greeting: string | Buffer): void {
  const far = connect(port, "127.0.0.1", () => {
    socket.write(greeting);
    far.pipe(socket).pipe(far);
  });
  for (const end of [socket, far]) sockets.add(end.on("error", () => {}));
}

const tunnelBy =
  (server: Server, scheme: string): Tunnelling =>
  (port, password) => {
    const targets: string[] = [];
    const sockets = new Set<Socket>();
    server.on("connect", ({ headers, url: target = "" }, socket: Socket) => {
      const expected = `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
      if (headers["proxy-authorization"] !== expected) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      targets.push(target);
      return join(socket, port, sockets, "HTTP/1.1 200 OK\r\n\r\n");
    });
    return listening(server, scheme, targets, sockets);
  };
const tunnelling: Tunnelling = (...how) => tunnelBy(createServer(), "http")(...how);
const tunnellingInTls: Tunnelling = (...how) => tunnelBy(createTlsServer({ cert, key }), "https")(...how);

/** A minimal SOCKS 5 server (RFC 1928, 1929): expects every message in one chunk, and responds byte by byte. */
const socksAt =
  (host: string): Tunnelling =>
  (port, password) => {
    const targets: string[] = [];
    const sockets = new Set<Socket>();
    const server = createTcpServer((socket) => {
      sockets.add(socket.on("error", () => {}).setNoDelay());
      const say = (...bytes: number[]) => {
        for (const byte of bytes) socket.write(Uint8Array.of(byte));
      };
      const greeted = (bytes: Buffer) => {
        if (bytes[0] !== 5) return socket.destroy();
        const byPassword = bytes.subarray(2).includes(2);
        say(5, byPassword ? 2 : 255);
        return socket.once("data", identified);
      };
      const identified = (bytes: Buffer) => {
        const nameEnd = 2 + (bytes[1] ?? 0);
        const known = bytes.toString("utf8", 2, nameEnd) === "me" && bytes.toString("utf8", nameEnd + 1) === password;
        if (!known) return say(1, 1);
        say(1, 0);
        return socket.once("data", asked);
      };
      const asked = (bytes: Buffer) => {
        const end = bytes.length - 2;
        const address = bytes.subarray(4, end);
        const spelled: Record<number, string> = {
          1: address.join("."),
          3: address.toString("utf8", 1),
          4: `[${address.toString("hex")}]`,
        };
        targets.push(`${spelled[bytes[3] ?? 0]}:${bytes.readUInt16BE(end)}`);
        if (bytes.readUInt16BE(end) === 1) say(5, 5, 0, 1, 0, 0, 0, 0, 0, 0);
        else join(socket, port, sockets, Buffer.from([5, 0, 0, 3, 1, 120, 0, 0]));
      };
      socket.once("data", greeted);
    });
    return listening(server, "socks5", targets, sockets, host);
  };
const socks = socksAt("127.0.0.1");

/** Some machines have no IPv6, not even on loopback. */
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));
const longAddress = `[${"fd00".padEnd(31, "0")}1]`;

describe("proxy-url", () => {
  it.each([
    { of: "HTTP", through: tunnelling, http2: true, version: "2.0" },
    { of: "HTTP", through: tunnelling, http2: false, version: "1.1" },
    { of: "HTTPS", through: tunnellingInTls, http2: true, version: "2.0" },
    { of: "SOCKS", through: socks, http2: true, version: "2.0" },
    { of: "SOCKS", through: socks, http2: false, version: "1.1" },
  ])("of $of tunnels HTTP/$version for requests and watches, and HTTP/1.1 for lists", async ({ through, http2, version }) => {
    await using server = await loopback((request, response) => response.end(request.httpVersion), { tls: { cert, key } });
    await using proxy = await through(server.port, "p:w");
    const config = { ...server.config, tls: { ca }, proxyUrl: proxy.url("me:p%3Aw") };
    const transport = httpTransport(config, { environment, http2 });
    expect(textOf(await transport.request({ method: "GET", path: "/" }))).toBe(version);
    for (const [how, expected] of [
      [{ stream: true }, version],
      [{ chunks: true }, "1.1"],
    ] as const) {
      const { body } = await transport.request({ method: "GET", path: "/", ...how });
      expect(Buffer.concat(await Array.fromAsync(body as AsyncIterable<Uint8Array>)).toString()).toBe(expected);
    }
    expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${server.port}`]));
    await transport.close?.();
  });

  it.each([
    { of: "HTTP", through: tunnelling, host: "[fd00::1]", is: "[fd00::1]" },
    { of: "SOCKS", through: socks, host: "[fd00::1]", is: longAddress },
    ...(hasIpv6 ? [{ of: "SOCKS at an address of IPv6", through: socksAt("::1"), host: "[fd00::1]", is: longAddress }] : []),
    { of: "HTTP", through: tunnelling, host: "api.example.test", is: "api.example.test" },
    { of: "HTTPS", through: tunnellingInTls, host: "api.example.test", is: "api.example.test" },
    { of: "SOCKS", through: socks, host: "api.example.test", is: "api.example.test" },
  ])("of $of receives $host unresolved: the proxy resolves names", async ({ through, host, is }) => {
    await using server = await loopback((_, response) => response.end("hello"), { tls: { cert, key } });
    await using proxy = await through(server.port, "pw");
    const config = { ...server.config, server: `https://${host}`, tls: { ca }, proxyUrl: proxy.url("me:pw") };
    const transport = httpTransport(config, { environment });
    expect(textOf(await transport.request({ method: "GET", path: "/" }))).toBe("hello");
    expect(proxy.targets).toEqual([`${is}:443`]);
    await transport.close?.();
  });

  it("of HTTPS is rejected if its certificate is not trusted, unless verification is off", async () => {
    await using server = await loopback((_, response) => response.end("hello"), { tls: { cert, key } });
    await using proxy = await tunnellingInTls(server.port, "pw");
    const ask = async (tls: ConnectionConfig["tls"]) => {
      const transport = httpTransport({ ...server.config, tls, proxyUrl: proxy.url("me:pw") }, { environment });
      return transport.request({ method: "GET", path: "/" }).finally(() => transport.close?.());
    };
    await expect(ask({})).rejects.toMatchObject({ outcome: "not-sent" });
    expect(textOf(await ask({ insecure: true }))).toBe("hello");
  });

  it("of HTTPS with a certificate of another authority learns neither the target nor the password", async () => {
    const other = await makeAuthority({ name: "other", lifetimeMs }, environment);
    const { certificate, key: otherKey } = await issueServing(other, { names, lifetimeMs }, environment);
    await using server = await loopback((_, response) => response.end("hello"), { tls: { cert, key } });
    await using proxy = await tunnelBy(createTlsServer({ cert: certificate, key: otherKey }), "https")(server.port, "pw");
    // The server's own certificate is fine, so nothing but the proxy's can be the reason.
    const transport = httpTransport({ ...server.config, tls: { ca }, proxyUrl: proxy.url("me:pw") }, { environment });
    await expect(transport.request({ method: "GET", path: "/" })).rejects.toMatchObject({ outcome: "not-sent" });
    expect(proxy.targets).toEqual([]);
    await transport.close?.();
  });

  it.each([
    { name: "rejects the password", as: "me:canary", says: "Authentication failed" },
    { name: "requires a password that is not configured", as: "", says: "no accepted authentication type" },
    {
      name: "cannot connect",
      as: "me:pw",
      at: ":1",
      says: "connecting to api.example.test:1: Socks5 proxy rejected connection - ConnectionRefused",
    },
  ])("of SOCKS that $name is reported, and the request is not sent", async ({ as, at = "", says }) => {
    await using server = await loopback(() => {}, { tls: { cert, key } });
    await using proxy = await socks(server.port, "pw");
    const config = { ...server.config, server: `https://api.example.test${at}`, proxyUrl: proxy.url(as) };
    const transport = httpTransport(config, { environment });
    const error = await transport.request({ method: "POST", path: "/" }).catch((error: unknown) => error);
    expect(error).toMatchObject({ outcome: "not-sent", message: expect.stringContaining(says) });
    expect(inspect(error, { depth: null })).not.toContain("canary");
    await transport.close?.();
  });

  it.each([
    { name: "closes the connection", meet: (socket: Socket) => socket.end(), says: "Socket closed" },
    { name: "uses another protocol", meet: (socket: Socket) => socket.write("HTTP/1.1 400"), says: "invalid socks version" },
  ])("of SOCKS that $name is detected at once", async ({ meet, says }) => {
    const sockets = new Set<Socket>();
    const proxy = createTcpServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      socket.once("data", () => meet(socket));
    });
    await using at = await listening(proxy, "socks5", [], sockets);
    const config = { server: "https://api.example.test", namespace: "default", tls: {}, user: {}, origin: "test" };
    const transport = httpTransport({ ...config, proxyUrl: at.url("me:pw") }, { environment });
    await expect(transport.request({ method: "GET", path: "/" })).rejects.toThrow(says);
    await transport.close?.();
  });

  it.each(["canary", "ftp://me:canary@proxy", "http://me:canary%@proxy", "socks5://me:canary@"])(
    "%s is rejected with the configuration, and the message does not contain it",
    (url) => {
      const config = { server: "https://127.0.0.1", namespace: "default", tls: {}, user: {}, origin: "test" };
      expect(() => httpTransport({ ...config, proxyUrl: new Secret(url) }, { environment })).toThrow(
        /^expected the proxyUrl of test to be a URL with http, https, socks5, socks5h, found something else$/,
      );
    },
  );

  it("that rejects the tunnel means that the request is not sent; the message does not contain the password", async () => {
    await using server = await loopback(() => {}, { tls: { cert, key } });
    await using proxy = await tunnelling(server.port, "pw");
    const transport = httpTransport({ ...server.config, proxyUrl: proxy.url("me:canary") }, { environment });
    const error = await transport.request({ method: "POST", path: "/" }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "TRANSPORT_FAILED", outcome: "not-sent", message: expect.stringContaining("407") });
    expect(String(error)).not.toContain("canary");
    await transport.close?.();
  });
});
