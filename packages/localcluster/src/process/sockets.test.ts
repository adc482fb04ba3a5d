import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { ComponentFailedError } from "../errors.ts";
import { assertPortFree, freePort, joinSockets, withFreePort } from "./sockets.ts";

const taken = () =>
  new ComponentFailedError("kube-apiserver", "ended", { logFile: "x.log", log: "bind: address already in use" });

describe("ports", () => {
  it("finds a free port", async () => {
    const server = createServer().listen(await freePort(), "127.0.0.1");
    await once(server, "listening");
    server.close();
  });

  it("names the process that uses a requested port", async () => {
    const port = await freePort();
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    await expect(assertPortFree(port)).rejects.toMatchObject({ code: "PORT_IN_USE" });
    await expect(assertPortFree(port)).rejects.toThrow(`port ${port}: in use by process ${process.pid}`);
    server.close();
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])("rejects %d, which is not a port", async (port) => {
    await expect(assertPortFree(port)).rejects.toThrow(/number from 1 to 65535/);
  });

  it("tries another port if the first was taken in between", async () => {
    const tried: number[] = [];
    const got = await withFreePort(async (port) => {
      tried.push(port);
      if (tried.length < 3) throw taken();
      return port;
    });
    expect(tried).toHaveLength(3);
    expect(got).toBe(tried[2]);
  });

  it("gives up after a few attempts, and at once for any other error", async () => {
    let tries = 0;
    const fail = (error: Error) => async () => {
      tries += 1;
      throw error;
    };
    await expect(withFreePort(fail(taken()), 2)).rejects.toMatchObject({ code: "COMPONENT_FAILED" });
    await expect(withFreePort(fail(new Error("no such file")))).rejects.toThrow("no such file");
    expect(tries).toBe(3);
  });
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, onConnection).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const call = (port: number) => connect({ port, host: "127.0.0.1", allowHalfOpen: true });
const joinedTo = (port: number) => serve((socket) => joinSockets(socket, call(port)));

it("joined sockets: one side can end while the other still sends", async () => {
  const upstream = await serve(async (socket) => socket.end(`onStderr: ${await text(socket)}`));
  const client = call(await joinedTo(upstream));
  client.end("a question");
  expect(await text(client)).toBe("onStderr: a question");
});

it("joined sockets: a failed connection resets the other side", async () => {
  const nobody = await serve(() => {});
  servers.pop()?.close();
  const client = call(await joinedTo(nobody));
  const [error] = await once(client, "error");
  expect(error).toMatchObject({ code: "ECONNRESET" });
});

it("joined sockets: a failed connection closes a Unix socket, which cannot be reset", async () => {
  const nobody = await serve(() => {});
  servers.pop()?.close();
  const path = join(mkdtempSync(join(tmpdir(), "sockets-")), "socket");
  const server = createServer((socket) => joinSockets(socket, call(nobody))).listen(path);
  servers.push(server);
  await once(server, "listening");
  const client = connect(path);
  await once(client.resume(), "close");
  rmSync(dirname(path), { recursive: true });
});

it("joined sockets: a slow reader receives a large response completely", async () => {
  const size = 8 * 1024 * 1024;
  const upstream = await serve((socket) => socket.end(Buffer.alloc(size, "x")));
  const client = call(await joinedTo(upstream));
  let seen = 0;
  for await (const chunk of client) seen += chunk.length;
  expect(seen).toBe(size);
});
