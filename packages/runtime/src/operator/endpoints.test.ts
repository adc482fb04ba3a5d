import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { type Endpoint, listenAt, onlyFromHere, type Route } from "./endpoints.ts";
import { healthRoute } from "./health.ts";

const open: Endpoint[] = [];
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.close();
});

async function listening(address: string, routes: Readonly<Record<string, Route>>): Promise<Endpoint> {
  const endpoint = await listenAt(address, routes);
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

describe("endpoints", () => {
  it("answer where they have a route and say what there is where they have none", async () => {
    const endpoint = await listening("127.0.0.1:0", { "/metrics": () => ({ body: "up 1\n" }) });
    expect(await read(endpoint, "/metrics")).toEqual({ status: 200, text: "up 1\n" });
    expect(await read(endpoint, "/elsewhere")).toEqual({ status: 404, text: "expected one of /metrics\n" });
    expect((await read(endpoint, "/constructor")).status).toBe(404);
    expect(await read(endpoint, "//")).toEqual({ status: 400, text: "expected a path\n" });
  });

  it("are switched off by 0", async () => expect(await listenAt("0", {})).toBeUndefined());

  it.each(["8080", "localhost", ":99999", "::1:8080", ""])(
    "refuse %j as an address and say what one looks like",
    async (address) => {
      await expect(listenAt(address, {})).rejects.toMatchObject({
        code: "ADDRESS",
        message: expect.stringContaining('like ":8080"'),
      });
    },
  );

  it("say what to do when an address is taken", async () => {
    const { port } = await listening("127.0.0.1:0", {});
    await expect(listenAt(`127.0.0.1:${port}`, {})).rejects.toMatchObject({ message: expect.stringContaining("choose another") });
  });

  it.each([
    { from: "127.0.0.1", status: 200 },
    { from: "::1", status: 200 },
    { from: "::ffff:127.0.0.1", status: 200 },
    { from: "10.0.0.7", status: 403 },
    { from: "::ffff:10.0.0.7", status: 403 },
    { from: "fd00::1", status: 403 },
    { from: undefined, status: 403 },
  ])("that are for this machine only answer $from with $status", async ({ from, status }) => {
    const request = { socket: { remoteAddress: from } } as IncomingMessage;
    const reply = await onlyFromHere(() => ({ status: 200, body: "inside" }))(new URL("http://x/"), request);
    expect(reply.status).toBe(status);
  });

  it("survive a route that throws", async () => {
    const endpoint = await listening("127.0.0.1:0", {
      "/": () => {
        throw new Error("oh");
      },
    });
    expect(await read(endpoint, "/")).toEqual({ status: 500, text: "oh\n" });
  });
});

describe("health", () => {
  it("is ok when all checks hold, and says which does not", async () => {
    let synced: true | string = "pods not synced";
    const endpoint = await listening("127.0.0.1:0", { "/readyz": healthRoute({ ping: () => true, caches: () => synced }) });
    expect(await read(endpoint, "/readyz")).toEqual({ status: 500, text: "[+]ping ok\n[-]caches: pods not synced\n" });
    synced = true;
    expect(await read(endpoint, "/readyz")).toEqual({ status: 200, text: "ok" });
    expect((await read(endpoint, "/readyz?verbose")).text).toBe("[+]ping ok\n[+]caches ok\n");
  });
});
