import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEgressProxy, destinationOf } from "./egress-proxy.ts";

describe("where the API server may connect to", () => {
  const allowed: readonly [string, string, number][] = [
    ["127.0.0.1:8443", "127.0.0.1", 8443],
    ["127.9.9.9:1", "127.9.9.9", 1],
    ["localhost:443", "127.0.0.1", 443],
    ["[::1]:443", "::1", 443],
    ["[::ffff:127.0.0.1]:443", "::ffff:127.0.0.1", 443],
  ];
  it.each(allowed)("%s", (target, host, port) => expect(destinationOf(target)).toEqual({ host, port }));

  it.each([
    "10.96.0.10:443",
    "10.244.0.7:443",
    "192.0.2.1:443",
    "0.0.0.0:443",
    "169.254.169.254:80",
    "[2001:db8::1]:443",
    "[::ffff:10.0.0.1]:443",
    "[fe80::1]:443",
    "webhook.default.svc:443",
    "webhook.default.svc.cluster.local:443",
    "localhost.example.com:443",
    "127.0.0.1.example.com:443",
    "127.1:443",
    "2130706433:443",
    "127.0.0.1:65536",
    "127.0.0.1:",
    "127.0.0.1",
    "::1:443",
    "[127.0.0.1:443",
    ":443",
    "",
    "http://127.0.0.1:443/",
  ])("not %j", (target) => expect(destinationOf(target)).toBeUndefined());
});

describe("the egress proxy", () => {
  const log: string[] = [];
  let folder: string;
  let proxy: ReturnType<typeof createEgressProxy>;
  const socketPath = () => join(folder, "egress");

  beforeEach(async () => {
    log.length = 0;
    folder = await mkdtemp(join(tmpdir(), "egress-"));
    proxy = createEgressProxy((line) => log.push(line)).listen(socketPath());
    await once(proxy, "listening");
  });
  afterEach(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await rm(folder, { recursive: true });
  });

  /** The status line of a CONNECT, and the tunnel. */
  async function connectTo(path: string) {
    const call = request({ socketPath: socketPath(), method: "CONNECT", path, agent: false }).end();
    const [response, tunnel] = await once(call, "connect");
    return { status: response.statusCode as number, reason: response.statusMessage as string, tunnel: tunnel as Socket };
  }

  it("passes bytes both ways to a loopback address, and the end of one side to the other", async () => {
    const server = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { status, tunnel } = await connectTo(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(status).toBe(200);
    tunnel.end("hello");
    expect(Buffer.concat(await tunnel.toArray()).toString()).toBe("hello");
    server.close();
    expect(log).toEqual([]);
  });

  it("refuses anything else without a lookup, says why, and logs it", async () => {
    const { status, reason } = await connectTo("webhook.default.svc:443");
    expect({ status, reason }).toEqual({ status: 403, reason: expect.stringContaining("only loopback addresses") });
    expect(log).toEqual(["refused webhook.default.svc:443"]);
  });

  it("reports a loopback port that nothing listens on", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    expect(await connectTo(`127.0.0.1:${port}`)).toMatchObject({ status: 502, reason: expect.stringContaining("ECONNREFUSED") });
  });

  it.each([
    "GET / HTTP/1.1\r\n\r\n",
    "CONNECT  HTTP/1.1\r\n\r\n",
    "CONNECT //\r\n\r\n",
    "\u0000\u0001",
    "CONNECT a:1 HTTP/1.1\r\n",
  ])("survives %j and a client that disconnects", async (bytes) => {
    const client = connect(socketPath());
    client.on("error", () => {});
    client.end(bytes);
    client.resume();
    await once(client, "close");
    expect(await connectTo("10.0.0.1:1")).toMatchObject({ status: 403 });
  });
});
