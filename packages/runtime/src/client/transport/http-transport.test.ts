import { rename, writeFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../../concurrency/system-environment.ts";
import { eventually } from "../../testing/eventually.ts";
import { type Loopback, loopback, temporaryFolder } from "../../testing/loopback.ts";
import { issueServing, makeAuthority } from "../../webhook/certificates.ts";
import type { ConnectionConfig } from "../config/config.ts";
import { Secret } from "../config/config.ts";
import { TransportError } from "../errors.ts";
import { type HttpTransportOptions, httpTransport } from "./http-transport.ts";
import { type TransportRequest, textOf } from "./transport.ts";

const environment = systemEnvironment();
const lifetimeMs = 3_600_000;
const authority = await makeAuthority({ name: "test", lifetimeMs }, environment);
const issue = async (...names: readonly string[]) => {
  const { certificate: cert, key } = await issueServing(authority, { names, lifetimeMs }, environment);
  return { cert, key };
};
const tls = await issue("127.0.0.1");
const ca = { data: new Secret(authority.certificate) };
const get: TransportRequest = { method: "GET", path: "/api" };

function transportTo(
  config: ConnectionConfig,
  over: Partial<ConnectionConfig> = {},
  options: Partial<HttpTransportOptions> = {},
) {
  const transport = httpTransport({ ...config, ...over }, { environment, ...options });
  return { request: transport.request, [Symbol.asyncDispose]: () => transport.close?.() ?? Promise.resolve() };
}

/** The compatibility API of HTTP/2 calls the same listener. */
const over2 = (request: IncomingMessage) => request as IncomingMessage & Pick<Http2ServerRequest, "stream">;

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("one request", () => {
  it("sends method, path, query, headers and body, and returns status, headers and text", async () => {
    await using server = await loopback(async (request, response) => {
      const body = await Array.fromAsync(request);
      const { method, url, headers } = request;
      response.setHeader("X-Two", ["a", "b"]);
      response
        .writeHead(201)
        .end(JSON.stringify({ method, url, type: headers["content-type"], agent: headers["user-agent"], body: body.join("") }));
    });
    await using transport = transportTo(server.config, { server: `${server.url}/behind/a/proxy/` }, { userAgent: "me/1" });
    const query = { a: "x,y", none: undefined, n: 5, yes: true };
    const answer = await transport.request({
      method: "POST",
      path: "/api",
      query,
      headers: { "content-type": "text/x" },
      body: "žluť",
    });
    expect(answer).toMatchObject({ status: 201, headers: { "x-two": "a, b" } });
    expect(JSON.parse(textOf(answer))).toEqual({
      method: "POST",
      url: "/behind/a/proxy/api?a=x%2Cy&n=5&yes=true",
      type: "text/x",
      agent: "me/1",
      body: "žluť",
    });
  });

  it("rejects with the reason of its signal, also while it waits for a connection", async () => {
    const backlog = createTcpServer(() => {}); // accepts and never speaks: the TLS handshake hangs
    await new Promise<void>((listening) => backlog.listen(0, "127.0.0.1", listening));
    const { port } = backlog.address() as { port: number };
    await using transport = transportTo({
      server: `https://127.0.0.1:${port}`,
      namespace: "",
      tls: {},
      user: {},
      origin: "test",
    });
    const controller = new AbortController();
    const call = transport.request({ ...get, signal: controller.signal });
    setImmediate(() => controller.abort(new Error("enough")));
    await expect(call).rejects.toThrow("enough");
    backlog.close();
  });
});

describe("a request without a response", () => {
  it.each([
    { what: "a header of several lines", bad: { headers: { x: "a\nb" } } },
    { what: "a header without a name", bad: { headers: { "a b": "c" } } },
    { what: "a path that is not escaped", bad: { path: "/a b" } },
    { what: "a relative path", bad: { path: "api" } },
  ])("with $what is rejected, and other requests continue", { timeout: 10_000 }, async ({ bad }) => {
    await using server = await loopback((_, response) => response.end("hello"), { tls });
    await using transport = transportTo(server.config, { tls: { ca } });
    for (let time = 0; time < 2; time += 1) {
      expect(await failure(transport.request({ ...get, ...bad }))).toBeInstanceOf(TypeError);
      expect(textOf(await transport.request(get))).toBe("hello");
    }
  });

  it("is certainly not sent if no server listens", async () => {
    const server = await loopback(() => {});
    await server[Symbol.asyncDispose]();
    await using transport = transportTo(server.config);
    const error = await failure(transport.request({ ...get, method: "DELETE" }));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ outcome: "not-sent", message: expect.stringContaining("ECONNREFUSED") });
  });

  it("is certainly not sent if the certificate is not trusted", async () => {
    await using server = await loopback(() => {}, { tls });
    await using transport = transportTo(server.config);
    expect(await failure(transport.request(get))).toMatchObject({
      outcome: "not-sent",
      message: expect.stringContaining("certificate"),
    });
  });

  it.each(["h1", "h2"])("is unknown if the connection breaks after the request was written (%s)", async (version) => {
    await using server = await loopback((request) => request.socket.destroy(), { tls });
    await using transport = transportTo(server.config, { tls: { ca } }, { http2: version === "h2" });
    expect(await failure(transport.request({ ...get, method: "POST", body: "{}" }))).toMatchObject({ outcome: "unknown" });
  });
});

describe("a response that breaks off", () => {
  const breaks: readonly { name: string; how: (request: ReturnType<typeof over2>, server: Loopback) => void }[] = [
    { name: "the connection is reset", how: (_, server) => server.reset() },
    { name: "the server closes the session without an error", how: (request) => request.stream.session?.destroy() },
    { name: "the server resets the stream", how: ({ stream }) => stream.close(constants.NGHTTP2_INTERNAL_ERROR) },
  ];

  it.each(breaks)("is a failure over HTTP/2 if $name, as text and as a stream", async ({ how }) => {
    await using server: Loopback = await loopback(
      (request, response) => response.write("half", () => setImmediate(() => how(over2(request), server))),
      { tls },
    );
    await using transport = transportTo(server.config, { tls: { ca } });
    for (const request of [get, { ...get, method: "POST", body: "{}" }] as const)
      expect(await failure(transport.request(request))).toMatchObject({ code: "TRANSPORT_FAILED", outcome: "unknown" });
    const { body } = await transport.request({ ...get, stream: true });
    const chunks: string[] = [];
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(Buffer.from(chunk).toString());
    })();
    await expect(reading).rejects.toMatchObject({ code: "TRANSPORT_FAILED" });
    expect(chunks).toEqual(["half"]);
  });
});

describe("connections", () => {
  const versions = (server: { url: string }) => ({ ...server, tls: { ca } });

  it.each([
    { http2: true, version: "2.0", connections: 1 },
    { http2: false, version: "1.1", connections: 10 },
  ])("a hundred requests at once need $connections with HTTP/$version", async ({ http2, version, connections }) => {
    await using server = await loopback((request, response) => response.end(request.httpVersion), { tls });
    await using transport = transportTo({ ...server.config, ...versions(server) }, {}, { http2 });
    const answers = await Promise.all(Array.from({ length: 100 }, () => transport.request(get)));
    expect(new Set(answers.map(textOf))).toEqual(new Set([version]));
    expect(server.connections).toBeLessThanOrEqual(connections);
  });

  it("watches share a separate connection", async () => {
    await using server = await loopback((_, response) => response.write("x"), { tls });
    await using transport = transportTo(server.config, { tls: { ca } });
    await Promise.all(Array.from({ length: 20 }, () => transport.request({ ...get, stream: true })));
    expect(server.connections).toBe(1);
  });

  it("a second one is opened when the server's limit of concurrent HTTP/2 streams is reached", async () => {
    const settings = { maxConcurrentStreams: 2 };
    await using server = await loopback((_, response) => response.write("x"), { tls: { ...tls, settings } });
    await using transport = transportTo(server.config, { tls: { ca } });
    await Promise.all(Array.from({ length: 5 }, () => transport.request({ ...get, stream: true })));
    expect(server.connections).toBe(3);
  });

  it("a server without HTTP/2 gets HTTP/1.1 requests, the first on the connection that offered both", async () => {
    const answer: RequestListener = (request, response) => response.end(request.httpVersion);
    await using server = await loopback(answer, { tls: { ...tls, allowHTTP2: false } });
    await using transport = transportTo(server.config, { tls: { ca } });
    for (let time = 0; time < 3; time += 1) {
      expect(textOf(await transport.request(get))).toBe("1.1");
      await settled(); // the agent takes the connection back
    }
    expect(server.connections).toBe(1);
  });

  it("a request after the server has closed the HTTP/2 session gets a new one", async () => {
    await using server = await loopback(
      (request, response) => response.end("hello", () => over2(request).stream.session?.close()),
      { tls },
    );
    await using transport = transportTo(server.config, { tls: { ca } });
    for (let time = 1; time <= 3; time += 1) {
      expect(textOf(await transport.request({ ...get, method: "POST", body: "{}" }))).toBe("hello");
      await eventually(
        () => server.open,
        (open) => open === 0,
      );
      expect(server.connections).toBe(time);
    }
  });

  it("a plain http server gets HTTP/1.1 requests", async () => {
    await using server = await loopback((request, response) => response.end(request.httpVersion));
    await using transport = transportTo(server.config);
    expect(textOf(await transport.request(get))).toBe("1.1");
  });
});

describe("TLS", () => {
  it.each([
    { name: "requests and verifies tls-server-name", config: { ca, serverName: "api.internal" } },
    { name: "verifies nothing if insecure", config: { insecure: true } },
  ])("$name", async ({ config }) => {
    await using server = await loopback((request, response) => response.end((request.socket as TLSSocket).servername || "none"), {
      tls: await issue("api.internal"),
    });
    await using transport = transportTo(server.config, { tls: config });
    expect(textOf(await transport.request(get))).toBe("serverName" in config ? "api.internal" : "none");
  });

  it("rejects a certificate for another name", async () => {
    await using server = await loopback(() => {}, { tls: await issue("other.internal") });
    await using transport = transportTo(server.config, { tls: { ca } });
    expect(await failure(transport.request(get))).toMatchObject({ outcome: "not-sent" });
  });

  it("reads the CA file again after a failed handshake: a recreated server has a new CA", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "ca.crt");
    const another = await makeAuthority({ name: "another", lifetimeMs }, environment);
    await writeFile(file, another.certificate);
    await using server = await loopback((_, response) => response.end("hello"), { tls });
    await using transport = transportTo(server.config, { tls: { ca: { file } } }, { environment: manualEnvironment() });
    expect(await failure(transport.request(get))).toMatchObject({ outcome: "not-sent" });
    await writeFile(file, authority.certificate);
    expect(textOf(await transport.request(get))).toBe("hello");
  });

  it("uses a replaced client certificate file after an invalid one", async () => {
    await using folder = await temporaryFolder();
    const files = { certificate: { file: join(folder.path, "tls.crt") }, key: { file: join(folder.path, "tls.key") } };
    for (const { file } of Object.values(files)) await writeFile(file, "nonsense");
    await using server = await loopback((_, response) => response.end("hello"), { tls });
    await using transport = transportTo(server.config, { tls: { ca }, user: files }, { environment: manualEnvironment() });
    expect(await failure(transport.request(get))).toMatchObject({ code: "CLIENT_CONFIG" });
    const { cert, key } = await issue("me");
    await writeFile(files.certificate.file, cert);
    await writeFile(files.key.file, key);
    expect(textOf(await transport.request(get))).toBe("hello");
  });

  it("presents the client certificate, and a new one on new connections after the files are replaced", async () => {
    await using folder = await temporaryFolder();
    await using server = await loopback(
      (request, response) => response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN),
      { tls: { ...tls, requestCert: true } },
    );
    const files = { certificate: { file: join(folder.path, "tls.crt") }, key: { file: join(folder.path, "tls.key") } };
    const put = async (name: string) => {
      const { cert, key } = await issue(name);
      await writeFile(files.certificate.file, cert);
      await writeFile(files.key.file, key);
    };
    const manual = manualEnvironment();
    await put("first");
    await using transport = transportTo(server.config, { tls: { ca }, user: files }, { environment: manual });
    const whoAmI = async () => textOf(await transport.request(get));
    expect(await whoAmI()).toBe("first");
    await put("second");
    expect(await whoAmI()).toBe("first");
    await manual.clock.advance(61_000);
    expect(await whoAmI()).toBe("second");
    // Half a rotation: the certificate is new, the key still the old one. The pair that fits goes on.
    await writeFile(files.certificate.file, (await issue("third")).cert);
    await manual.clock.advance(61_000);
    expect(await whoAmI()).toBe("second");
  });
});

describe("tokens", () => {
  it("are read from their file again after a minute, and at once after 401", async () => {
    await using folder = await temporaryFolder();
    const tokenFile = join(folder.path, "token");
    const put = async (token: string) => {
      await writeFile(`${tokenFile}.new`, `${token}\n`);
      await rename(`${tokenFile}.new`, tokenFile);
    };
    let good = "one";
    const seen: (string | undefined)[] = [];
    await using server = await loopback((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(request.headers.authorization === `Bearer ${good}` ? 200 : 401).end();
    });
    const manual = manualEnvironment();
    await put("one");
    await using transport = transportTo(server.config, { user: { tokenFile } }, { environment: manual });
    const status = async () => (await transport.request({ ...get, method: "POST" })).status;
    expect(await status()).toBe(200);
    await put("two");
    expect(await status()).toBe(200); // a minute has not passed: still the old one, which is still good
    good = "two";
    expect(await status()).toBe(200); // refused, read again, repeated
    await put("three");
    good = "three";
    await manual.clock.advance(61_000);
    expect(await status()).toBe(200);
    good = "four";
    expect(await status()).toBe(401); // nothing newer to try: one attempt is enough
    expect(seen.map((token) => token?.split(" ")[1])).toEqual(["one", "one", "one", "two", "three", "three"]);
  });

  it.each(["", "two\nlines", "\0\x01"])(
    "that are invalid (%j) are ignored in favor of the previous or the next one",
    async (nonsense) => {
      await using folder = await temporaryFolder();
      const tokenFile = join(folder.path, "token");
      let good = "one";
      await using server = await loopback(
        (request, response) => response.writeHead(request.headers.authorization === `Bearer ${good}` ? 200 : 401).end(),
        { tls },
      );
      const manual = manualEnvironment();
      const config = { tls: { ca }, user: { tokenFile } };
      await writeFile(tokenFile, nonsense);
      await using transport = transportTo(server.config, config, { environment: manual });
      expect(await failure(transport.request(get))).toMatchObject({ code: "CLIENT_CONFIG" });
      await writeFile(tokenFile, "one");
      expect((await transport.request(get)).status).toBe(200);
      await writeFile(tokenFile, nonsense);
      await manual.clock.advance(61_000);
      expect((await transport.request(get)).status).toBe(200);
      good = "two";
      expect((await transport.request(get)).status).toBe(401);
      await writeFile(tokenFile, "two");
      expect((await transport.request(get)).status).toBe(200);
    },
  );

  it("in the configuration that are invalid are rejected before a request, and the message does not contain them", () => {
    const token = new Secret("canary\ncanary");
    const config = { server: "https://127.0.0.1", namespace: "default", tls: {}, user: { token }, origin: "test" };
    expect(() => httpTransport(config, { environment })).toThrow(
      /^test: expected a token of one line, found several lines[^y]*$/,
    );
  });

  it("with username and password become Basic, with impersonation headers", async () => {
    await using server = await loopback((request, response) => response.end(JSON.stringify(request.headers)));
    const impersonate = { user: "jane", uid: "7", groups: ["a", "b"], extra: { "example.com/x": ["1"] } };
    await using transport = transportTo(server.config, {
      user: { basic: { username: "me", password: new Secret("pw") }, impersonate },
    });
    expect(JSON.parse(textOf(await transport.request(get)))).toMatchObject({
      authorization: `Basic ${Buffer.from("me:pw").toString("base64")}`,
      "impersonate-user": "jane",
      "impersonate-uid": "7",
      "impersonate-group": "a, b",
      "impersonate-extra-example.com%2fx": "1",
    });
  });

  it.each([
    { by: "HTTP/1.1", over: {}, how: {} },
    { by: "HTTP/2", over: { tls }, how: {} },
    { by: "list connections", over: {}, how: { chunks: true } },
  ])("impersonate a user in UTF-8, as Go does, over $by", async ({ over, how }) => {
    const seen: unknown[] = [];
    const answer: RequestListener = ({ headers }, response) => {
      seen.push(Buffer.from(String(headers["impersonate-user"]), "latin1").toString("utf8"));
      response.end();
    };
    await using server = await loopback(answer, over);
    const impersonate = { user: "jürgen žluťoučký 🐎" };
    await using transport = transportTo(server.config, { tls: { ca }, user: { impersonate } });
    await transport.request({ ...get, ...how });
    expect(seen).toEqual([impersonate.user]);
  });
});
