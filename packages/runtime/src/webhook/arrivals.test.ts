// Requests that are never completed must not block complete ones.
import { EventEmitter, once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../concurrency/system-environment.ts";
import type { Kind } from "../objects/object.ts";
import { allowed } from "./admission.ts";
import { issueServing, makeAuthority } from "./certificates.ts";
import { requestHandler } from "./request-handler.ts";
import { WebhookServer, type WebhookServerOptions } from "./server.ts";
import { type Validator, validate } from "./webhooks.ts";

const environment = systemEnvironment();
const authority = await makeAuthority({ name: "test", lifetimeMs: 86_400_000 }, environment);
const serving = await issueServing(authority, { names: ["localhost"], lifetimeMs: 3_600_000 }, environment);
const Gordon: Kind = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const path = "/validate-operator-prgcont-cz-v1-gordon";
const body = JSON.stringify({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "7", operation: "CREATE", object: { metadata: { name: "g" } } },
});

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options: Partial<WebhookServerOptions> = {}, validator: Validator<object> = () => allowed()) {
  const webhooks = [validate(Gordon, validator)];
  const server = new WebhookServer({ webhooks, host: "127.0.0.1", port: 0, environment: manualEnvironment(), ...options });
  await server.start(serving);
  closing.push(() => server.close());
  return server;
}

function post(server: WebhookServer) {
  const sent = request({
    ...{ host: "localhost", port: server.port, path, method: "POST", agent: false },
    ca: authority.certificate,
  });
  closing.push(() => sent.destroy());
  sent.on("error", () => {});
  const status = once(sent, "response").then(([response]) => response.resume().statusCode as number);
  status.catch(() => {}); // some requests never get a response
  return { sent, status };
}

/** Starts a review and sends only this part of its body. */
function begin(server: WebhookServer, bytes = 1) {
  const { sent, status } = post(server);
  sent.write("x".repeat(bytes));
  return { sent, status };
}

async function untilPending(server: WebhookServer, bytes: number): Promise<void> {
  while (server.pending.bytes !== bytes) await settled();
}

async function review(server: WebhookServer): Promise<number> {
  const { sent, status } = post(server);
  sent.end(body);
  return status;
}

describe("incomplete review bodies", () => {
  it("do not count as concurrent reviews: a complete review is answered beside 110 of them", async () => {
    const server = await start();
    for (let count = 0; count < 110; count += 1) begin(server);
    await untilPending(server, 110);
    expect(server.pending).toEqual({ connections: 110, bodies: 110, bytes: 110 });
    expect(await review(server)).toBe(200);
  });

  it("do not count as concurrent reviews over HTTP/2: 110 streams of one connection", async () => {
    const server = await start();
    const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.certificate });
    closing.push(() => session.destroy());
    for (let count = 0; count < 110; count += 1) {
      session
        .request({ ":path": path, ":method": "POST" })
        .on("error", () => {})
        .write("x");
    }
    await untilPending(server, 110);
    const stream = session.request({ ":path": path, ":method": "POST" });
    stream.end(body);
    const [headers] = await once(stream.resume(), "response");
    expect(headers[":status"]).toBe(200);
  });

  it("are dropped oldest first when there are too many", async () => {
    const server = await start({ maxArriving: 3 });
    const first = begin(server);
    await untilPending(server, 1);
    begin(server);
    begin(server);
    await untilPending(server, 3);
    begin(server);
    expect(await first.status).toBe(408);
    await untilPending(server, 3);
    expect(server.pending.bodies).toBe(3);
    expect(await review(server)).toBe(200);
  });

  it("are dropped oldest first when their total size is too large", async () => {
    const server = await start({ maxArrivingBytes: 25_000 });
    const first = begin(server, 10_000);
    await untilPending(server, 10_000);
    begin(server, 10_001);
    await untilPending(server, 20_001);
    begin(server, 10_000);
    expect(await first.status).toBe(408);
    await untilPending(server, 20_001);
    expect(server.pending.bodies).toBe(2);
    expect(await review(server)).toBe(200);
  });

  it("are released when their connection closes, without a reported failure", async () => {
    const failures: unknown[] = [];
    const server = await start({ reporter: { failed: (_path, error) => failures.push(error) } });
    const { sent } = begin(server, 100);
    await untilPending(server, 100);
    sent.destroy();
    while (server.pending.connections > 0) await settled();
    expect(server.pending).toEqual({ connections: 0, bodies: 0, bytes: 0 });
    expect(failures).toEqual([]);
  });
});

describe("idle connections", () => {
  it("are closed in favor of new ones when there are too many", async () => {
    const server = await start({ maxConnections: 3 });
    for (let count = 0; count < 10; count += 1) {
      const silent = connect(server.port, "127.0.0.1");
      closing.push(() => silent.destroy());
      await once(
        silent.on("error", () => {}),
        "connect",
      );
    }
    expect(await review(server)).toBe(200);
    expect(server.pending.connections).toBeLessThanOrEqual(3);
  });

  it("never prevent the answer to a review", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const server = await start({ maxConnections: 1 }, async () => {
      arrived.resolve();
      await promise;
      return allowed();
    });
    const status = review(server);
    await arrived.promise;
    const silent = connect(server.port, "127.0.0.1");
    await once(
      silent.on("error", () => {}),
      "close",
    ); // closed at once: every other connection has a review in progress
    resolve();
    expect(await status).toBe(200);
  });
});

it("a response that the client does not read is aborted, so that the server can close", async () => {
  const manual = manualEnvironment();
  const handler = requestHandler({ webhooks: [], environment: manual }, () => ({ [Symbol.dispose]: () => {} }));
  const ended: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    writeHead: () => {},
    end: () => ended.push("end"),
    destroy: () => {
      ended.push("destroy");
      response.emit("close");
    },
  });
  handler.handle({ url: "/", method: "GET" } as never, response as never);
  await manual.clock.advance(9_999);
  expect(ended).toEqual(["end"]);
  await manual.clock.advance(1);
  expect(ended).toEqual(["end", "destroy"]);
  await handler.idle();
});
