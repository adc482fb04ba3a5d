// Calls of hooks: functions, and URLs that answer well, badly, slowly or without end.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { manualClock } from "../concurrency/manual-clock.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { type CompositeRequest, type CompositeResponse, callHook, compositeResponse, type Hook, nodeHook } from "./hook.ts";

const request: CompositeRequest = {
  controller: {},
  parent: { metadata: { name: "web" } },
  children: { "Pod.v1": {} },
  related: {},
  finalizing: false,
};
const { clock } = systemEnvironment();
const call = { name: "sync", clock, signal: new AbortController().signal };
const ask = (hook: Hook<CompositeRequest, CompositeResponse>, options = call) =>
  callHook<CompositeRequest, CompositeResponse>(hook, request, compositeResponse, options);

describe("a function", () => {
  it("receives a copy of the request, and may change it", async () => {
    const before = structuredClone(request);
    await ask((asked) => {
      asked.parent.metadata.name = "changed";
      return {};
    });
    expect(request).toEqual(before);
  });

  it("may leave out every field of its response", async () => expect(await ask(() => ({}))).toEqual({}));

  const wrong: readonly { name: string; answer: unknown }[] = [
    { name: "children that are a map", answer: { children: { a: {} } } },
    { name: "a status that is a text", answer: { status: "fine" } },
    { name: "a time that is a text", answer: { resyncAfterSeconds: "5" } },
    { name: "a list", answer: [] },
  ];
  it.each(wrong)("that returns $name is an error", async ({ answer }) => {
    await expect(ask(() => answer as CompositeResponse)).rejects.toMatchObject({ code: "HOOK" });
  });

  it("in the convention of metacontroller's Node.js server works unchanged", async () => {
    const sync = nodeHook(async (context) => ({
      status: 200,
      headers: { "Content-Type": "application/json" },
      body: { status: { seen: context.request.body.parent.metadata.name } },
    }));
    expect(await ask(sync)).toEqual({ status: { seen: "web" } });
    await expect(ask(nodeHook(async () => ({ status: 500, body: "no" })))).rejects.toThrow("expected status 200, found 500: no");
  });
});

async function serve(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sync`, [Symbol.asyncDispose]: close };
}

describe("a URL", () => {
  it("receives the request as a POST with JSON, and answers with JSON", async () => {
    await using server = await serve((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("end", () => {
        const asked = JSON.parse(Buffer.concat(chunks).toString());
        const { "content-type": type } = incoming.headers;
        response.end(JSON.stringify({ status: { method: incoming.method, type, asked } }));
      });
    });
    const { status } = await ask({ url: server.url });
    expect(status).toEqual({ method: "POST", type: "application/json", asked: request });
  });

  const answers: readonly { name: string; answer: RequestListener; message: string }[] = [
    { name: "an error", answer: (_, response) => response.writeHead(500).end("boom"), message: "found 500: boom" },
    {
      name: "a redirect, which is not followed",
      answer: (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/elsewhere" }).end(),
      message: "expected status 200, found 307",
    },
    { name: "no JSON", answer: (_, response) => response.end("<html>"), message: 'expected JSON, found "<html>"' },
    { name: "too much", answer: (_, response) => response.end("x".repeat(2_000)), message: "expected at most 1000 bytes" },
  ];
  it.each(answers)("that answers with $name is an error", async ({ answer, message }) => {
    await using server = await serve(answer);
    await expect(ask({ url: server.url, maxBytes: 1_000 })).rejects.toThrow(message);
  });

  it("that does not answer in time is an error", async () => {
    const manual = manualClock();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    await using server = await serve(() => resolve());
    const answer = ask({ url: server.url, timeoutMs: 500 }, { ...call, clock: manual });
    answer.catch(() => {});
    await asked;
    await manual.advance(500);
    await expect(answer).rejects.toThrow(`hook sync at ${server.url}`);
  });

  it("that begins its answer and does not finish it in time is the same error", async () => {
    await using server = await serve((_, response) => void response.writeHead(200).write("{"));
    await expect(ask({ url: server.url, timeoutMs: 200 })).rejects.toThrow(`hook sync at ${server.url}`);
  });
});
