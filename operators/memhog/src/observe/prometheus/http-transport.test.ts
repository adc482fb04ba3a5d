// Against a small server of our own: what a Prometheus, a proxy or a liar can do to us over HTTP.
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemEnvironment } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { answeredAtMs, matrix } from "./answers.fixture.ts";
import { certificate } from "./certificate.fixture.ts";
import type { PrometheusOptions } from "./http-transport.ts";
import { httpTransport } from "./http-transport.ts";
import { ask } from "./query.ts";

const date = new Date(answeredAtMs).toUTCString();
const life = { id: undefined, startedAtMs: 0 };
const one = matrix({ points: [[10, 1]] });
const secret = "canary-s3cret";

async function serving(answer: RequestListener, tls?: { readonly key: string; readonly cert: string }) {
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { address: `${tls ? "https" : "http"}://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

async function asking(options: PrometheusOptions, { timeoutMs = 10_000, signal = new AbortController().signal } = {}) {
  const transport = httpTransport(options);
  const { clock } = systemEnvironment();
  const question = { metrics: ["WorkingSet"], labels: "new", namespaces: ["shop"] } as const;
  try {
    return await ask(question, { transport, clock, timeoutMs, signal, isWanted: () => true });
  } finally {
    await transport.close?.();
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  return Buffer.concat(await Array.fromAsync(incoming)).toString("utf8");
}

describe("a question over HTTP", () => {
  it("is a POST of a form below the base path, and the Date of the answer tells the age", async () => {
    const seen: string[] = [];
    await using server = await serving(async (request, response) => {
      seen.push(`${request.method} ${request.url}`, new URLSearchParams(await textOf(request)).get("query") ?? "");
      response.writeHead(200, { date }).end(one);
    });
    const { samples } = await asking({ address: `${server.address}/prometheus/` });
    expect(seen).toEqual([
      "POST /prometheus/api/v1/query",
      'container_memory_working_set_bytes{container!="",container!="POD",namespace="shop"}[120s]',
    ]);
    const [sample] = samples.of("WorkingSet", { namespace: "shop", pod: "web", container: "main" }, life).samples;
    expect(sample?.ageMs).toBeGreaterThanOrEqual(10_000);
  });

  it("brings what it was told to bring, and reads files for every question", async () => {
    const seen: unknown[] = [];
    await using server = await serving((request, response) => {
      seen.push([request.headers.authorization, request.headers["x-scope-orgid"]]);
      response.writeHead(200).end(one);
    });
    await using folder = await mkdtempDisposable(join(tmpdir(), "prometheus-"));
    const file = join(folder.path, "secret");
    const { address } = server;
    await writeFile(file, "first\n");
    await asking({ address, bearerTokenFile: file, headers: { "X-Scope-OrgID": "team-a" } });
    await writeFile(file, "second");
    await asking({ address, bearerTokenFile: file });
    await asking({ address, username: "me", passwordFile: file });
    await asking({ address: address.replace("//", "//you:p%40ss@") });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
    expect(seen).toEqual([
      ["Bearer first", "team-a"],
      ["Bearer second", undefined],
      [basic("me:second"), undefined],
      [basic("you:p@ss"), undefined],
    ]);
  });

  const faults: readonly { name: string; answer: RequestListener; code: string }[] = [
    { name: "500", answer: (_, response) => response.writeHead(500).end(secret), code: "PROMETHEUS_REFUSED" },
    {
      name: "a login page with 200",
      answer: (_, response) => response.end(`<html>${secret}`),
      code: "PROMETHEUS_NOT_PROMETHEUS",
    },
    {
      name: "a redirect",
      answer: (_, response) => response.writeHead(302, { location: `/login?${secret}` }).end(),
      code: "PROMETHEUS_NOT_PROMETHEUS",
    },
    { name: "a connection that breaks", answer: (request) => request.socket.destroy(), code: "PROMETHEUS_UNREACHABLE" },
    {
      name: "an answer that breaks off",
      answer: (request, response) => {
        response.writeHead(200, { "content-length": "100000" });
        response.write(one.slice(0, 50), () => request.socket.destroy());
      },
      code: "PROMETHEUS_UNREACHABLE",
    },
  ];
  it.each(faults)("M1: $name is a failure, and no secret is repeated", async ({ answer, code }) => {
    await using server = await serving(answer);
    const address = server.address.replace("//", `//me:${secret}@`);
    const error = await asking({ address, headers: { "x-key": secret } }).catch((found: Error) => found);
    expect(error).toMatchObject({ code });
    expect(`${error} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain(secret);
  });

  it("M1: a redirect is not followed: our token would go with it", async () => {
    let followed = 0;
    await using other = await serving((_, response) => {
      followed += 1;
      response.end(one);
    });
    await using server = await serving((_, response) => response.writeHead(307, { location: other.address }).end());
    await expect(asking({ address: server.address })).rejects.toMatchObject({ code: "PROMETHEUS_NOT_PROMETHEUS" });
    expect(followed).toBe(0);
  });

  it("M1: nobody there is a failure that names the address without its password", async () => {
    const gone = await serving(() => {});
    await gone[Symbol.asyncDispose]();
    const error = await asking({ address: gone.address.replace("//", `//me:${secret}@`) }).catch((found: Error) => found);
    expect(error).toMatchObject({ code: "PROMETHEUS_UNREACHABLE", message: expect.stringContaining(`${gone.address}, found`) });
    expect(String(error)).not.toContain(secret);
  });

  it("M1: one who never answers is given up, and hears that we left", async () => {
    const left = Promise.withResolvers<void>();
    await using server = await serving((request) => request.socket.once("close", () => left.resolve()));
    await expect(asking({ address: server.address }, { timeoutMs: 50 })).rejects.toMatchObject({
      code: "PROMETHEUS_UNREACHABLE",
    });
    await left.promise;
  });

  it("S3: of an endless answer only so much is read", async () => {
    const left = Promise.withResolvers<void>();
    await using server = await serving((request, response) => {
      request.socket.once("close", () => left.resolve());
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, " ")));
        response.once("drain", more);
      };
      more();
    });
    await expect(asking({ address: server.address }, { timeoutMs: 80_000 })).rejects.toMatchObject({
      code: "PROMETHEUS_TOO_LARGE",
    });
    await left.promise;
  });

  it("M1: a certificate of nobody we trust is a failure; of one we were told to trust it is not", async () => {
    const tls = await certificate("127.0.0.1");
    await using server = await serving((_, response) => response.end(one), tls);
    await using folder = await mkdtempDisposable(join(tmpdir(), "prometheus-"));
    const caFile = join(folder.path, "ca.crt");
    await writeFile(caFile, tls.trust);
    const { address } = server;
    await expect(asking({ address })).rejects.toMatchObject({ code: "PROMETHEUS_UNREACHABLE" });
    expect((await asking({ address, caFile })).series).toBe(1);
    await writeFile(caFile, (await certificate("127.0.0.1")).trust);
    await expect(asking({ address, caFile })).rejects.toMatchObject({ code: "PROMETHEUS_UNREACHABLE" });
  });

  it.each([
    { name: "an address that is none", options: { address: `ftp://me:${secret}@host` } },
    { name: "a token file that is not there", options: { address: "http://127.0.0.1:1", bearerTokenFile: "/nowhere/token" } },
  ])("refuses $name with what was expected", async ({ options }) => {
    const error = await asking(options).catch((found: Error) => found);
    expect(error).toMatchObject({ code: "PROMETHEUS_CONFIG", message: expect.stringContaining("expected") });
    expect(String(error)).not.toContain(secret);
  });
});
