import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
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

/** A real HTTP proxy that tunnels, for those who know the password. */
async function tunnelling(password: string) {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on("connect", (request, socket: Socket) => {
    const expected = `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
    if (request.headers["proxy-authorization"] !== expected)
      return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    targets.push(request.url ?? "");
    const [host = "", port] = (request.url ?? "").split(":");
    const far = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      far.pipe(socket).pipe(far);
    });
    for (const end of [socket, far]) sockets.add(end.on("error", () => {}));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  };
  return {
    url: (as: string) => new Secret(`http://${as}@127.0.0.1:${(server.address() as AddressInfo).port}`),
    targets,
    [Symbol.asyncDispose]: close,
  };
}

describe("proxy-url", () => {
  it.each([
    { http2: true, version: "2.0" },
    { http2: false, version: "1.1" },
  ])("tunnels HTTP/$version, for requests and watches", async ({ http2, version }) => {
    await using server = await loopback((request, response) => response.end(request.httpVersion), { tls: { cert, key } });
    await using proxy = await tunnelling("pw");
    const config = { ...server.config, tls: { ca: { data: new Secret(authority.certificate) } }, proxyUrl: proxy.url("me:pw") };
    const transport = undiciTransport(config, { environment, http2 });
    expect(textOf(await transport.request({ method: "GET", path: "/" }))).toBe(version);
    const { body } = await transport.request({ method: "GET", path: "/", stream: true });
    expect(Buffer.concat(await Array.fromAsync(body as AsyncIterable<Uint8Array>)).toString()).toBe(version);
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
