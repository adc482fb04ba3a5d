// How lists are requested, on real sockets: in HTTP/1.1, each on a connection of its own.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { systemEnvironment } from "../../concurrency/system-environment.ts";
import { eventually } from "../../testing/eventually.ts";
import { loopback, temporaryFolder } from "../../testing/loopback.ts";
import { issueServing, makeAuthority } from "../../webhook/certificates.ts";
import type { ConnectionConfig } from "../config/config.ts";
import { Secret } from "../config/config.ts";
import { TransportError } from "../errors.ts";
import { type HttpTransportOptions, httpTransport } from "./http-transport.ts";
import type { TransportRequest, TransportResponse } from "./transport.ts";

const environment = systemEnvironment();
const lifetimeMs = 3_600_000;
const authority = await makeAuthority({ name: "test", lifetimeMs }, environment);
const { certificate: cert, key } = await issueServing(authority, { names: ["127.0.0.1"], lifetimeMs }, environment);
const tls = { cert, key };
const ca = { data: new Secret(authority.certificate) };
const list: TransportRequest = { method: "GET", path: "/api/v1/pods", chunks: true };

function transportTo(
  config: ConnectionConfig,
  over: Partial<ConnectionConfig> = {},
  options: Partial<HttpTransportOptions> = {},
) {
  const transport = httpTransport({ ...config, ...over }, { environment, ...options });
  return { request: transport.request, [Symbol.asyncDispose]: () => transport.close?.() ?? Promise.resolve() };
}

async function bodyOf({ body }: TransportResponse): Promise<string> {
  if (typeof body === "string") throw new Error(`expected chunks, found ${body}`);
  const copies: Buffer[] = [];
  for await (const chunk of body) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies).toString("utf8");
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A server that speaks as the test wants, byte by byte. */
async function speaking(say: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    say(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const config: ConnectionConfig = { server: `http://127.0.0.1:${port}`, namespace: "", tls: {}, user: {}, origin: "test" };
  const dispose = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { config, sockets, [Symbol.dispose]: dispose };
}

describe.each([{ with: "TLS" }, { with: "plain http" }])("a list, with $with", ({ with: around }) => {
  const options = around === "TLS" ? { tls } : {};

  it("uses a separate HTTP/1.1 connection, with path, query and headers of the request", async () => {
    await using server = await loopback((request, response) => {
      const { method, url, httpVersion, headers } = request;
      response.end(
        JSON.stringify({ method, url, httpVersion, accept: headers.accept, host: headers.host, agent: headers["user-agent"] }),
      );
    }, options);
    await using transport = transportTo(server.config, { server: `${server.url}/prefix`, tls: { ca } }, { userAgent: "me/1" });
    const asked = { ...list, query: { labelSelector: "a=b" }, headers: { accept: "text/x" } };
    for (let times = 1; times <= 2; times += 1) {
      expect(JSON.parse(await bodyOf(await transport.request(asked)))).toEqual({
        method: "GET",
        url: "/prefix/api/v1/pods?labelSelector=a%3Db",
        httpVersion: "1.1",
        accept: "text/x",
        host: `127.0.0.1:${server.port}`,
        agent: "me/1",
      });
      expect(server.connections).toBe(times);
    }
  });

  it("can have any size and be read at any speed", async () => {
    const text = Array.from({ length: 300_000 }, (_, at) => `${at},`).join("");
    await using server = await loopback((_request, response) => response.end(text), options);
    await using transport = transportTo(server.config, { tls: { ca } });
    const { body } = await transport.request(list);
    const got: string[] = [];
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      got.push(Buffer.from(chunk).toString("latin1"));
      if (got.length % 3 === 0) await environment.clock.sleep(1);
    }
    expect(got.join("") === text).toBe(true);
  });

  it("returns the text of an error response", async () => {
    await using server = await loopback((_request, response) => response.writeHead(403, { "x-a": "1" }).end("no, né"), options);
    await using transport = transportTo(server.config, { tls: { ca } });
    expect(await transport.request(list)).toMatchObject({ status: 403, headers: { "x-a": "1" }, body: "no, né" });
  });

  it("closes its connection when the reader stops", async () => {
    let closed = false;
    await using server = await loopback((_request, response) => {
      response.on("close", () => {
        closed = true;
      });
      response.write("x");
    }, options);
    await using transport = transportTo(server.config, { tls: { ca } });
    const { body } = await transport.request(list);
    for await (const _chunk of body as AsyncIterable<Uint8Array>) break;
    await eventually(
      () => closed,
      (it) => it,
    );
  });
});

describe("a list without a response", () => {
  it("is certainly not sent if no server listens, or if its certificate is not trusted", async () => {
    const gone = await loopback(() => {});
    await gone[Symbol.asyncDispose]();
    await using stranger = await loopback(() => {}, { tls });
    const { certificate: cert, key } = await issueServing(authority, { names: ["somebody.else"], lifetimeMs }, environment);
    await using misnamed = await loopback(() => {}, { tls: { cert, key } });
    for (const [config, message] of [
      [gone.config, /expected a connection, found .*ECONNREFUSED/],
      [stranger.config, /expected a connection, found .*certificate/],
      [{ ...misnamed.config, tls: { ca } }, /expected a connection, found .*127\.0\.0\.1 is not in the cert's list/],
    ] as const) {
      await using transport = transportTo(config);
      const error = await failure(transport.request(list));
      expect(error).toBeInstanceOf(TransportError);
      expect(error).toMatchObject({ outcome: "not-sent", message: expect.stringMatching(message) });
    }
  });

  it.each([
    { name: "the connection is reset", say: (socket: Socket) => socket.resetAndDestroy(), found: /ECONNRESET/ },
    { name: "the server closes the connection", say: (socket: Socket) => socket.end(), found: /socket hang up/ },
    {
      name: "the response is not HTTP",
      say: (socket: Socket) => socket.end("hello\r\n\r\n"),
      found: /Expected HTTP/,
    },
  ])("is unknown if $name", async ({ say, found }) => {
    using server = await speaking((socket) => socket.once("data", () => say(socket)));
    await using transport = transportTo(server.config);
    const error = await failure(transport.request(list));
    expect(error).toMatchObject({ outcome: "unknown", message: expect.stringMatching(found) });
  });

  it.each([
    { name: "reset", say: (socket: Socket) => socket.resetAndDestroy(), found: /ECONNRESET/ },
    { name: "closed early", say: (socket: Socket) => socket.end("0"), found: /a closed connection/ },
    { name: "malformed", say: (socket: Socket) => socket.write("zz\r\n"), found: /Invalid character in chunk size/ },
    { name: "malformed in the same packet", say: "zz\r\n", found: /Invalid character in chunk size/ },
  ])("delivers the data received so far, then fails: $name", async ({ say, found }) => {
    using server = await speaking((socket) => {
      socket.once("data", () => {
        const behind = typeof say === "string" ? say : "";
        socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n${behind}`);
        if (typeof say !== "string") setTimeout(() => say(socket), 20);
      });
    });
    await using transport = transportTo(server.config);
    const { body } = await transport.request(list);
    const got: string[] = [];
    const reading = (async () => {
      for await (const chunk of body as AsyncIterable<Uint8Array>) got.push(Buffer.from(chunk).toString());
    })();
    await expect(reading).rejects.toThrow(found);
    expect(got).toEqual(["abc"]);
  });

  it("rejects with the reason of its signal, before and during the response", async () => {
    for (const said of ["", "HTTP/1.1 200 OK\r\n\r\nabc"]) {
      using server = await speaking((socket) => socket.once("data", () => socket.write(said)));
      await using transport = transportTo(server.config);
      const controller = new AbortController();
      const reading = transport.request({ ...list, signal: controller.signal }).then(bodyOf);
      await eventually(
        () => server.sockets.size,
        (size) => size === 1,
      );
      setTimeout(() => controller.abort(new Error("enough")), 20);
      await expect(reading).rejects.toThrow("enough");
      await eventually(
        () => server.sockets.size,
        (size) => size === 0,
      );
    }
  });

  it("is not sent if its signal aborts or the client closes while credentials are loaded", async () => {
    let asked = 0;
    using server = await speaking((socket) => socket.on("data", () => (asked += 1)));
    const transport = transportTo(server.config);
    const controller = new AbortController();
    const aborted = transport.request({ ...list, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    const closed = expect(transport.request(list)).rejects.toThrow("the client is closed");
    await transport[Symbol.asyncDispose]();
    await closed;
    await eventually(
      () => server.sockets.size,
      (size) => size === 0,
    );
    expect(asked).toBe(0);
  });

  it("fails if there is no connection within the connect timeout", async () => {
    using server = await speaking(() => {}); // accepts, and never shakes hands
    const config = { ...server.config, server: server.config.server.replace("http:", "https:") };
    await using transport = transportTo(config, {}, { connectTimeoutMs: 1 });
    expect(await failure(transport.request(list))).toMatchObject({
      outcome: "not-sent",
      message: expect.stringMatching(/found none to 127\.0\.0\.1:\d+ within 1 ms/),
    });
  });

  it("fails when the client is closed", async () => {
    using server = await speaking((socket) => socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\nabc")));
    const transport = transportTo(server.config);
    const reading = bodyOf(await transport.request(list));
    const ended = expect(reading).rejects.toBeInstanceOf(TransportError);
    await transport[Symbol.asyncDispose]();
    await ended;
  });

  it("is never sent with a header of several lines", async () => {
    using server = await speaking(() => {});
    await using transport = transportTo(server.config);
    await expect(transport.request({ ...list, headers: { accept: "a\r\nx: y" } })).rejects.toThrow(/expected one line/);
    expect(server.sockets.size).toBe(0);
  });
});

describe("a server without HTTP/1.1", () => {
  it("gets this list and all later ones over HTTP/2", async () => {
    const only2 = { tls: { ...tls, allowHTTP1: false } };
    await using server = await loopback((request, response) => response.end(request.httpVersion), only2);
    await using transport = transportTo(server.config, { tls: { ca } });
    for (let times = 1; times <= 3; times += 1) {
      expect(await bodyOf(await transport.request(list))).toBe("2.0");
      expect(server.connections).toBe(2); // one that was refused, one for all
    }
  });
});

it("a list is repeated after 401 if the token has changed", async () => {
  await using folder = await temporaryFolder();
  const tokenFile = join(folder.path, "token");
  await writeFile(tokenFile, "one");
  let good = "Bearer one";
  const seen: unknown[] = [];
  await using server = await loopback(({ headers: { authorization } }, response) => {
    seen.push(authorization);
    response.writeHead(authorization === good ? 200 : 401).end("the list");
  });
  await using transport = transportTo(server.config, { user: { tokenFile } });
  expect(await bodyOf(await transport.request(list))).toBe("the list");
  await writeFile(tokenFile, "two");
  good = "Bearer two";
  expect(await bodyOf(await transport.request(list))).toBe("the list");
  good = "Bearer three";
  expect(await transport.request(list)).toMatchObject({ status: 401 }); // and not for ever
  expect(seen).toEqual(["Bearer one", "Bearer one", "Bearer two", "Bearer two"]);
});

it("a list works without certificate verification if the configuration says so", async () => {
  await using server = await loopback((_request, response) => response.end("the list"), { tls });
  await using transport = transportTo(server.config, { tls: { insecure: true } });
  expect(await bodyOf(await transport.request(list))).toBe("the list");
});

it("a list uses tls-server-name and presents the client certificate", async () => {
  const me = await issueServing(authority, { names: ["me"], lifetimeMs }, environment);
  const named = await issueServing(authority, { names: ["api.internal"], lifetimeMs }, environment);
  await using server = await loopback(
    (request, response) => {
      const socket = request.socket as TLSSocket;
      response.end(`${socket.servername} ${socket.getPeerCertificate().subject.CN}`);
    },
    { tls: { cert: named.certificate, key: named.key, requestCert: true } },
  );
  const user = { certificate: { data: new Secret(me.certificate) }, key: { data: new Secret(me.key) } };
  await using transport = transportTo(server.config, { tls: { ca, serverName: "api.internal" }, user });
  expect(await bodyOf(await transport.request(list))).toBe("api.internal me");
});
