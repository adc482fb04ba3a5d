import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { systemEnvironment } from "../../concurrency/system-environment.ts";
import { loopback } from "../../testing/loopback.ts";
import { issueServing, makeAuthority } from "../../webhook/certificates.ts";
import { Secret } from "../config/secret.ts";
import { textOf } from "./transport.ts";
import { undiciTransport } from "./undici-transport.ts";

const environment = systemEnvironment();
const lifetimeMs = 3_600_000;
const authority = makeAuthority({ name: "test", lifetimeMs }, environment);
const { certificate: cert, key } = issueServing(authority, { names: ["127.0.0.1"], lifetimeMs }, environment);

/** A proxy that tunnels, for those who know the password. */
type Tunnelling = (password: string) => Promise<Awaited<ReturnType<typeof listening>>>;

async function listening(server: Server, scheme: string, targets: string[], sockets: Set<Socket>) {
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  };
  return {
    url: (as: string) => new Secret(`${scheme}://${as}@127.0.0.1:${(server.address() as AddressInfo).port}`),
    targets,
    [Symbol.asyncDispose]: close,
  };
}

/** Both ends become one. */
function join(socket: Socket, target: string, sockets: Set<Socket>, greeting: string | Buffer): void {
  const [host = "", port] = target.split(":");
  const far = connect(Number(port), host, () => {
    socket.write(greeting);
    far.pipe(socket).pipe(far);
  });
  for (const end of [socket, far]) sockets.add(end.on("error", () => {}));
}

const tunnelling: Tunnelling = (password) => {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on("connect", ({ headers, url: target = "" }, socket: Socket) => {
    const expected = `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
    if (headers["proxy-authorization"] !== expected) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    targets.push(target);
    join(socket, target, sockets, "HTTP/1.1 200 OK\r\n\r\n");
  });
  return listening(server, "http", targets, sockets);
};

/** SOCKS 5 (RFC 1928, 1929) as far as one client speaks it: every message in one piece, addresses of IPv4 and names. */
const socks: Tunnelling = (password) => {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    const greeted = (bytes: Buffer) => {
      if (bytes[0] !== 5) return socket.destroy();
      socket.write(Buffer.from([5, 2]));
      return socket.once("data", identified);
    };
    const identified = (bytes: Buffer) => {
      const nameEnd = 2 + (bytes[1] ?? 0);
      const known = bytes.toString("utf8", 2, nameEnd) === "me" && bytes.toString("utf8", nameEnd + 1) === password;
      if (!known) return socket.end(Buffer.from([1, 1]));
      socket.write(Buffer.from([1, 0]));
      return socket.once("data", asked);
    };
    const asked = (bytes: Buffer) => {
      const end = bytes.length - 2;
      const host = bytes[3] === 1 ? bytes.subarray(4, end).join(".") : bytes.toString("utf8", 5, end);
      const target = `${host}:${bytes.readUInt16BE(end)}`;
      targets.push(target);
      join(socket, target, sockets, Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
    };
    socket.once("data", greeted);
  });
  return listening(server, "socks5", targets, sockets);
};

describe("proxy-url", () => {
  it.each([
    { of: "HTTP", through: tunnelling, http2: true, version: "2.0" },
    { of: "HTTP", through: tunnelling, http2: false, version: "1.1" },
    { of: "SOCKS", through: socks, http2: true, version: "1.1" },
  ])("of $of tunnels HTTP/$version, for requests, watches and lists", async ({ through, http2, version }) => {
    await using server = await loopback((request, response) => response.end(request.httpVersion), { tls: { cert, key } });
    await using proxy = await through("p:w");
    const ca = { data: new Secret(authority.certificate) };
    const config = { ...server.config, tls: { ca }, proxyUrl: proxy.url("me:p%3Aw") };
    const transport = undiciTransport(config, { environment, http2 });
    expect(textOf(await transport.request({ method: "GET", path: "/" }))).toBe(version);
    for (const how of [{ stream: true }, { chunks: true }]) {
      const { body } = await transport.request({ method: "GET", path: "/", ...how });
      expect(Buffer.concat(await Array.fromAsync(body as AsyncIterable<Uint8Array>)).toString()).toBe(version);
    }
    expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${server.port}`]));
    await transport.close?.();
  });

  it("that refuses us means the server never saw the request; the password is not repeated", async () => {
    await using server = await loopback(() => {}, { tls: { cert, key } });
    await using proxy = await tunnelling("pw");
    const transport = undiciTransport({ ...server.config, proxyUrl: proxy.url("me:canary") }, { environment });
    const error = await transport.request({ method: "POST", path: "/" }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "TRANSPORT_FAILED", outcome: "not-sent", message: expect.stringContaining("407") });
    expect(String(error)).not.toContain("canary");
    await transport.close?.();
  });
});
