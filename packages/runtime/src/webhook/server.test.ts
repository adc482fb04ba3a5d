import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { Agent, request } from "node:https";
import { connect } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../concurrency/system-environment.ts";
import type { Kind } from "../objects/object.ts";
import { allowed, denied } from "./admission.ts";
import { type CertifiedKey, issueServing, makeAuthority } from "./certificates.ts";
import { convert } from "./conversion.ts";
import { WebhookServer, type WebhookServerOptions } from "./server.ts";
import { type Validator, validate } from "./webhooks.ts";

const environment = systemEnvironment();
const authority = await makeAuthority({ name: "test", lifetimeMs: 86_400_000 }, environment);
const serving = () => issueServing(authority, { names: ["localhost"], lifetimeMs: 3_600_000 }, environment);
const Gordon: Kind = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const path = "/validate-operator-prgcont-cz-v1-gordon";
const review = (extra: object = {}) =>
  JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "7", operation: "CREATE", object: { metadata: { name: "g" } }, ...extra },
  });

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Given extends Partial<WebhookServerOptions> {
  readonly validator?: Validator<object>;
  readonly shown?: CertifiedKey;
}

async function start({ validator = () => allowed(), shown, ...options }: Given = {}) {
  const server = new WebhookServer({
    webhooks: [validate(Gordon, validator)],
    host: "127.0.0.1",
    port: 0,
    environment,
    ...options,
  });
  await server.start(shown ?? (await serving()));
  closing.push(() => server.close());
  return server;
}

interface Call {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
  readonly agent?: Agent;
}

/** Sends one HTTP/1.1 request; the serial number identifies the certificate that the server presented. */
async function call(server: WebhookServer, { body = review(), ...options }: Call = {}) {
  const sent = request({ host: "localhost", port: server.port, ca: authority.certificate, path, method: "POST", ...options });
  sent.end(body);
  const [response] = await once(sent, "response");
  const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode as number, headers: response.headers, text, serial };
}

/** A validator that waits for a promise which the test resolves. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<AbortSignal>();
  const validator: Validator<object> = async (_object, _old, { signal }) => {
    arrived.resolve(signal);
    await promise;
    return allowed();
  };
  return { validator, release: resolve, arrived: arrived.promise };
}

describe("the webhook server", () => {
  it("answers a review over HTTP/1.1", async () => {
    const { status, text } = await call(await start({ validator: () => denied("no") }));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      kind: "AdmissionReview",
      response: { uid: "7", allowed: false, status: { message: "no" } },
    });
  });

  it("answers a review over HTTP/2", async () => {
    const server = await start({ validator: () => denied("no") });
    const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.certificate });
    closing.push(() => session.destroy());
    const stream = session.request({ ":path": `${path}?timeout=5s`, ":method": "POST" });
    stream.end(review());
    let text = "";
    for await (const chunk of stream) text += chunk;
    expect(JSON.parse(text)).toMatchObject({ response: { allowed: false } });
  });

  it.each([
    { name: "an unknown path", given: { path: "/elsewhere" }, status: 404 },
    { name: "a GET", given: { method: "GET", body: "" }, status: 405 },
    { name: "a body that is not JSON", given: { body: "{" }, status: 400 },
    { name: "a body that is not a review", given: { body: "{}" }, status: 400 },
    { name: "a body that is null", given: { body: "null" }, status: 400 },
    { name: "a review whose kind is not a string", given: { body: '{"kind":{"toString":1}}' }, status: 400 },
    { name: "a review of an object that is a number", given: { body: review({ object: 1 }) }, status: 400 },
    { name: "an invalid path", given: { path: "//" }, status: 400 },
    { name: "a body over 7 MiB", given: { body: review({ padding: "x".repeat(7 * 1024 * 1024) }) }, status: 413 },
  ])("rejects $name with $status", async ({ given, status }) => expect((await call(await start(), given)).status).toBe(status));

  it("accepts an update of the largest possible object, old and new", async () => {
    const object = { padding: "x".repeat(3 * 1024 * 1024) };
    expect((await call(await start(), { body: review({ operation: "UPDATE", object, oldObject: object }) })).status).toBe(200);
  });

  it("reports a review that is too large, since it never succeeds and the API server gives no reason", async () => {
    const failures: unknown[] = [];
    const server = await start({ maxBodyBytes: 10, reporter: { failed: (at, error) => failures.push([at, error]) } });
    expect((await call(server)).status).toBe(413);
    expect(failures).toMatchObject([[path, { message: "expected at most 10 bytes (maxBodyBytes)" }]]);
  });

  it("answers 500 when a function throws, reports it once, and reveals no details to the client", async () => {
    const failures: unknown[] = [];
    const secret = new Error("token abc");
    const validator = () => {
      throw secret;
    };
    const { status, text } = await call(await start({ validator, reporter: { failed: (_path, error) => failures.push(error) } }));
    expect(status).toBe(500);
    expect(text).not.toContain("abc");
    expect(failures).toEqual([secret]);
  });

  it.each([
    { name: "a version that is a number", asked: { desiredAPIVersion: 1, objects: [] } },
    { name: "objects that are not a list", asked: { desiredAPIVersion: "a/v1", objects: {} } },
    { name: "an object that is null", asked: { desiredAPIVersion: "a/v1", objects: [null] } },
    { name: "an object without a kind", asked: { desiredAPIVersion: "a/v1", objects: [{ apiVersion: "a/v1" }] } },
  ])("rejects a conversion with $name and does not report it as a webhook failure", async ({ asked }) => {
    const failures: unknown[] = [];
    const server = await start({ webhooks: [convert(Gordon, {})], reporter: { failed: (_at, error) => failures.push(error) } });
    const body = JSON.stringify({ kind: "ConversionReview", request: { uid: "7", ...asked } });
    expect((await call(server, { path: "/convert", body })).status).toBe(400);
    expect(failures).toEqual([]);
  });

  it("reports a failed conversion, although its HTTP status is 200", async () => {
    const failures: unknown[] = [];
    const reporter = { failed: (at: string, error: unknown) => failures.push([at, error]) };
    const server = await start({ webhooks: [convert(Gordon, {})], reporter });
    const objects = [{ apiVersion: "operator.prgcont.cz/v1alpha1", kind: "Gordon", metadata: { name: "g" } }];
    const asked = { uid: "7", desiredAPIVersion: "operator.prgcont.cz/v1", objects };
    const body = JSON.stringify({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request: asked });
    expect((await call(server, { path: "/convert", body })).status).toBe(200);
    expect(failures).toMatchObject([["/convert", { code: "WEBHOOK_CONVERSION" }]]);
  });

  it("A2: answers 429 with Retry-After above the limit of concurrent reviews", async () => {
    const { validator, release, arrived } = held();
    const server = await start({ validator, maxConcurrent: 1 });
    const first = call(server);
    await arrived;
    const second = await call(server);
    expect(second).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    release();
    expect((await first).status).toBe(200);
  });

  it("A2: does not count canceled requests as concurrent, over HTTP/2 as the API server sends them", async () => {
    const { validator, release, arrived } = held();
    const ended = Promise.withResolvers<void>();
    const server = await start({ validator, maxConcurrent: 1, reporter: { ended: (at) => at === path && ended.resolve() } });
    const session = connectHttp2(`https://localhost:${server.port}`, { ca: authority.certificate });
    closing.push(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": path });
    stream.on("error", () => {}).end(review());
    await arrived;
    stream.close(constants.NGHTTP2_CANCEL);
    await once(stream, "close");
    await call(server, { path: "/elsewhere" }); // by now the server has processed the cancellation
    release();
    await ended.promise;
    expect((await call(server)).status).toBe(200);
  });

  it("stops waiting when the API server's timeout ends, and aborts the function's signal", async () => {
    const manual = manualEnvironment();
    const { validator, arrived } = held();
    const server = await start({ validator, environment: manual });
    const answer = call(server, { path: `${path}?timeout=3s` });
    const signal = await arrived;
    await manual.clock.advance(2_999);
    expect(signal.aborted).toBe(false);
    await manual.clock.advance(1);
    expect(signal.aborted).toBe(true);
    expect((await answer).status).toBe(504);
  });

  it("presents a new certificate to new connections and keeps existing ones open", async () => {
    const server = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closing.push(() => agent.destroy());
    const before = await call(server, { agent });
    server.use(await serving());
    expect((await call(server, { agent })).serial).toBe(before.serial);
    expect((await call(server)).serial).not.toBe(before.serial);
  });

  it("waits for reviews in progress when it closes, and closes idle connections", async () => {
    const { validator, release, arrived } = held();
    const server = await start({ validator });
    const agent = new Agent({ keepAlive: true });
    closing.push(() => agent.destroy());
    const answer = call(server, { agent });
    await arrived;
    const closed = server.close();
    release();
    expect((await answer).status).toBe(200);
    await closed;
  });

  it("closes connections that never started TLS when it closes", async () => {
    const server = await start();
    const silent = connect(server.port, "127.0.0.1");
    closing.push(() => silent.destroy());
    await once(silent, "connect");
    expect((await call(server)).status).toBe(200); // earlier connections have been accepted, too
    await server.close();
  });

  /** A review whose body never completes. */
  async function unfinished(server: WebhookServer, started: Promise<void>) {
    const url = {
      host: "localhost",
      port: server.port,
      ca: authority.certificate,
      path: `${path}?timeout=86400s`,
      method: "POST",
    };
    const sent = request(url);
    closing.push(() => sent.destroy());
    sent.on("error", () => {}).write("{");
    const status = once(sent, "response").then(([response]) => response.statusCode as number);
    await started;
    return { status };
  }

  it("A2: limits a requested timeout to the API server's maximum", async () => {
    const manual = manualEnvironment();
    const started = Promise.withResolvers<void>();
    const server = await start({ environment: manual, reporter: { started: () => started.resolve() } });
    const { status } = await unfinished(server, started.promise);
    await settled();
    await manual.clock.advance(30_000);
    expect(await status).toBe(504);
  });

  it("does not wait for an incomplete body when it closes", async () => {
    const manual = manualEnvironment();
    const started = Promise.withResolvers<void>();
    const server = await start({ environment: manual, reporter: { started: () => started.resolve() } });
    const { status } = await unfinished(server, started.promise);
    const closed = server.close();
    await manual.clock.advance(1_000);
    await closed;
    expect(await status).toBe(503);
  });

  it("counts each review by path and status, and all unknown paths as one", async () => {
    const ended: string[] = [];
    const server = await start({ reporter: { ended: (at, status) => ended.push(`${at} ${status}`) } });
    await call(server);
    await call(server, { path: "/wp-admin" });
    expect(ended).toEqual([`${path} 200`, "unknown 404"]);
  });
});
