import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createAuthority } from "../control-plane/certificates.ts";
import { host } from "./place.ts";
import { answersInside } from "./probe.ts";

vi.setConfig({ testTimeout: 60_000 }); // each starts a Node, which takes its time on a busy machine

let answers: number[];
let asked: string[];
const { certificate, key } = createAuthority("test").issue({ commonName: "test", hosts: ["127.0.0.1"] });
const server = createServer({ cert: certificate, key }, (request, response) => {
  asked.push(request.url ?? "");
  response.writeHead(answers.shift() ?? 200).end();
});

beforeEach(async () => {
  asked = [];
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});
const port = () => (server.address() as AddressInfo).port;

it("goes on asking until the answer is yes", async () => {
  answers = [503, 500];
  await answersInside(host, port())(new AbortController().signal);
  expect(asked).toEqual(["/healthz", "/healthz", "/healthz"]);
});

it("stops asking when nobody wants to know any more", async () => {
  answers = Array.from({ length: 10_000 }, () => 503);
  const abort = new AbortController();
  const question = answersInside(host, port())(abort.signal);
  await expect.poll(() => asked.length, { timeout: 30_000 }).toBeGreaterThan(0);
  abort.abort();
  await expect(question).rejects.toThrow();
});

it("says so when it cannot even ask", async () => {
  const nowhere = { name: "nowhere", command: () => ["false"] };
  await expect(answersInside(nowhere, 1)(new AbortController().signal)).rejects.toThrow(/port 1 in nowhere.*exit code 1/);
});
