import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createAuthority } from "../control-plane/pki.ts";
import { host } from "./component.ts";
import { healthCheckIn } from "./probe.ts";

vi.setConfig({ testTimeout: 60_000 }); // each starts a Node, which takes its time on a busy machine

let answers: number[];
let asked: string[];
const { certificate, key } = await (await createAuthority("test")).issue({ commonName: "test", hosts: ["127.0.0.1"] });
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

it("the health check polls until the server is healthy", async () => {
  answers = [503, 500];
  await healthCheckIn(host, port())(new AbortController().signal);
  expect(asked).toEqual(["/healthz", "/healthz", "/healthz"]);
});

it("the health check stops when it is aborted", async () => {
  answers = Array.from({ length: 10_000 }, () => 503);
  const abort = new AbortController();
  const question = healthCheckIn(host, port())(abort.signal);
  await expect.poll(() => asked.length, { timeout: 30_000 }).toBeGreaterThan(0);
  abort.abort();
  await expect(question).rejects.toThrow();
});

it("the health check reports that it could not run", async () => {
  const nowhere = { name: "nowhere", command: () => ["false"] };
  await expect(healthCheckIn(nowhere, 1)(new AbortController().signal)).rejects.toThrow(/port 1 in nowhere.*exit code 1/);
});
