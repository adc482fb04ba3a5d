import { once } from "node:events";
import { request as ask, get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { settled } from "../concurrency/system-environment.ts";
import type { ObjectRef } from "../objects/object.ts";
import {
  type Endpoint,
  type EndpointOptions,
  explainRoute,
  healthRoute,
  listenAt,
  loopbackOnly,
  type Route,
} from "./endpoints.ts";

const open: Endpoint[] = [];
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.close();
});

async function listening(address: string, routes: Readonly<Record<string, Route>>, options?: EndpointOptions): Promise<Endpoint> {
  const endpoint = await listenAt(address, routes, options);
  if (endpoint === undefined) throw new Error("expected it to listen");
  open.push(endpoint);
  return endpoint;
}

async function read(endpoint: Endpoint, path: string, host = "127.0.0.1") {
  const [response] = await once(get({ host, port: endpoint.port, path, agent: false }), "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode as number, text };
}

async function opened(endpoint: Endpoint): Promise<Socket> {
  const socket = connect(endpoint.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

describe("endpoints", () => {
  it("answer known paths and list them in a 404", async () => {
    const endpoint = await listening("127.0.0.1:0", { "/metrics": () => ({ body: "up 1\n" }) });
    expect(await read(endpoint, "/metrics")).toEqual({ status: 200, text: "up 1\n" });
    expect(await read(endpoint, "/elsewhere")).toEqual({ status: 404, text: "expected one of /metrics\n" });
    expect((await read(endpoint, "/constructor")).status).toBe(404);
    expect(await read(endpoint, "//")).toEqual({ status: 400, text: "expected a path\n" });
  });

  it("are disabled by the address 0", async () => expect(await listenAt("0", {})).toBeUndefined());

  it.each(["8080", "localhost", ":99999", "::1:8080", ""])("reject the address %j and show a valid one", async (address) => {
    await expect(listenAt(address, {})).rejects.toMatchObject({
      code: "ADDRESS",
      message: expect.stringContaining('like ":8080"'),
    });
  });

  it("report an address that is in use, and what to do", async () => {
    const { port } = await listening("127.0.0.1:0", {});
    await expect(listenAt(`127.0.0.1:${port}`, {})).rejects.toMatchObject({ message: expect.stringContaining("choose another") });
  });

  it.each([
    { from: "127.0.0.1", host: "localhost:8080", status: 200 },
    { from: "::1", host: "[::1]:8080", status: 200 },
    { from: "::ffff:127.0.0.1", host: "127.0.0.1", status: 200 },
    { from: "10.0.0.7", host: "localhost", status: 403 },
    { from: "::ffff:10.0.0.7", host: "localhost", status: 403 },
    { from: "fd00::1", host: "localhost", status: 403 },
    { from: "::1:2:3", host: "localhost", status: 403 },
    { from: undefined, host: "localhost", status: 403 },
    { from: "127.0.0.1", host: "rebound.example.org", status: 403 },
    { from: "127.0.0.1", host: "10.0.0.7:8080", status: 403 },
    { from: "127.0.0.1", host: undefined, status: 403 },
  ])("that are for this machine only answer $from, who asks for $host, with $status", async ({ from, host, status }) => {
    const request = { socket: { remoteAddress: from }, headers: { host } } as IncomingMessage;
    const reply = await loopbackOnly(() => ({ status: 200, body: "inside" }))(new URL("http://x/"), request);
    expect(reply.status).toBe(status);
  });

  it("survive a route that throws, report it once, and do not reveal the error to the client", async () => {
    const errors: unknown[] = [];
    const failing = () => {
      throw new Error("token abc");
    };
    const onError = (error: unknown, path: string) => errors.push([path, error]);
    const endpoint = await listening("127.0.0.1:0", { "/": failing }, { onError });
    expect(await read(endpoint, "/")).toEqual({ status: 500, text: "internal error; see the log of the operator\n" });
    expect(errors).toMatchObject([["/", { message: "token abc" }]]);
  });

  it("close the connection if a response fails midway, and report it", async () => {
    const errors: unknown[] = [];
    async function* broken() {
      yield "half";
      throw new Error("oh");
    }
    const endpoint = await listening(
      "127.0.0.1:0",
      { "/": () => ({ body: broken() }) },
      { onError: (error) => errors.push(error) },
    );
    await expect(read(endpoint, "/")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(errors).toMatchObject([{ message: "oh" }]);
  });

  it("respond 405 with the allowed methods to any other method", async () => {
    const endpoint = await listening("127.0.0.1:0", { "/": () => ({ body: "" }) });
    const [response] = await once(
      ask({ host: "127.0.0.1", port: endpoint.port, method: "DELETE", agent: false }).end(),
      "response",
    );
    expect([response.statusCode, response.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("serve new clients while idle connections use up the limit", async () => {
    const endpoint = await listening("127.0.0.1:0", { "/": () => ({ body: "here" }) }, { maxConnections: 5 });
    const silent = await Promise.all(Array.from({ length: 20 }, () => opened(endpoint)));
    expect((await read(endpoint, "/")).text).toBe("here");
    for (const socket of silent) socket.destroy();
  });

  it("answer one request per connection at a time, so that pipelining cannot multiply the load", async () => {
    let asked = 0;
    const slowly = async () => {
      asked += 1;
      await settled();
      return { body: "here" };
    };
    const endpoint = await listening("127.0.0.1:0", { "/": slowly });
    const socket = await opened(endpoint);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000));
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text).toMatch(/^HTTP\/1.1 200 .*^HTTP\/1.1 503 /ms);
    expect(asked).toBe(1);
  });
});

describe("health", () => {
  it("is ok when all checks pass, and names the failed ones", async () => {
    let synced: true | string = "pods not synced";
    const endpoint = await listening("127.0.0.1:0", { "/readyz": healthRoute({ ping: () => true, caches: () => synced }) });
    expect(await read(endpoint, "/readyz")).toEqual({ status: 500, text: "[+]ping ok\n[-]caches: pods not synced\n" });
    synced = true;
    expect(await read(endpoint, "/readyz")).toEqual({ status: 200, text: "ok" });
    expect((await read(endpoint, "/readyz?verbose")).text).toBe("[+]ping ok\n[+]caches ok\n");
  });

  it("awaits asynchronous checks and treats an exception as a failure", async () => {
    const checks = { later: async () => "not yet", broken: () => Promise.reject(new Error("no answer")) };
    const endpoint = await listening("127.0.0.1:0", { "/healthz": healthRoute(checks) });
    expect(await read(endpoint, "/healthz")).toEqual({ status: 500, text: "[-]later: not yet\n[-]broken: no answer\n" });
  });
});

const record = { ...{ at: "t", because: [], waitedMs: 0, tookMs: 1, read: [], wrote: [], notes: [] }, ended: "done", times: 1 };
const gordons = {
  controller: { name: "gordon" },
  explained: () => ["apps/a", "node-1"],
  explain: ({ namespace, name }: ObjectRef) => (namespace === "apps" && name === "a" ? [record] : []),
};

async function explained(query: string) {
  const { body } = await explainRoute(() => [gordons])(new URL(`http://x/debug/explain${query}`), {} as IncomingMessage);
  return JSON.parse(String(body));
}

describe("explain", () => {
  it("returns the recorded reconciles of an object, by controller", async () => {
    expect(await explained("?key=apps/a")).toEqual({ gordon: [record] });
    expect(await explained("?key=a")).toEqual({ gordon: [] });
    expect(await explained("?key=apps/a/b")).toEqual({ gordon: [] });
  });

  it("lists the known keys if none is given", async () => {
    expect(await explained("")).toEqual({ gordon: ["apps/a", "node-1"] });
  });
});
