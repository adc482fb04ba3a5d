import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { join } from "./join.ts";

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
const joinedTo = (port: number) => serve((socket) => join(socket, call(port)));

it("passes on the end of one side while the other still speaks", async () => {
  const upstream = await serve(async (socket) => socket.end(`heard: ${await text(socket)}`));
  const client = call(await joinedTo(upstream));
  client.end("a question");
  expect(await text(client)).toBe("heard: a question");
});

it("resets the caller when there is nobody on the other side", async () => {
  const nobody = await serve(() => {});
  servers.pop()?.close();
  const client = call(await joinedTo(nobody));
  const [error] = await once(client, "error");
  expect(error).toMatchObject({ code: "ECONNRESET" });
});

it("loses nothing of a large answer to a slow reader", async () => {
  const size = 8 * 1024 * 1024;
  const upstream = await serve((socket) => socket.end(Buffer.alloc(size, "x")));
  const client = call(await joinedTo(upstream));
  let seen = 0;
  for await (const chunk of client) seen += chunk.length;
  expect(seen).toBe(size);
});
