import { once } from "node:events";
import { type RequestOptions, request } from "node:http";
import { ConfigMap, systemEnvironment } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../simulator.ts";

async function ask({ url = "" }: Simulator, options: RequestOptions, body = "") {
  const { port } = new URL(url);
  const sent = request({ host: "127.0.0.1", port, agent: false, ...options });
  sent.on("error", () => {}).end(body);
  const [response] = await once(sent, "response");
  return { status: response.statusCode as number, text: (await response.toArray()).join("") };
}

describe("the HTTP API server", () => {
  it.each([
    { name: "a request target that starts with two slashes", options: { path: "//" }, status: 400 },
    { name: "a request target that is not a path", options: { path: "*", method: "OPTIONS" }, status: 400 },
    { name: "a path with invalid percent-encoding", options: { path: "/api/v1/namespaces/%zz" }, status: 400 },
    { name: "a query parameter named __proto__", options: { path: "/api/v1/pods?__proto__=1&constructor=2" }, status: 200 },
  ])("answers $name with $status and continues to serve", async ({ options, status }) => {
    await using simulator = await startSimulator({ environment: systemEnvironment(), http: true });
    expect((await ask(simulator, options)).status).toBe(status);
    expect((await ask(simulator, { path: "/version" })).status).toBe(200);
  });

  it("accepts bodies up to 3 MiB and rejects larger ones with 413", async () => {
    await using simulator = await startSimulator({ environment: systemEnvironment(), http: true });
    const target = { path: "/api/v1/namespaces/default/configmaps", method: "POST" };
    const { status, text } = await ask(simulator, target, "x".repeat(3 * 2 ** 20 + 1));
    expect([status, JSON.parse(text).message]).toEqual([413, "Request entity too large: limit is 3145728"]);
  });

  it("does not treat an unknown method as DELETE", async () => {
    await using simulator = await startSimulator({ environment: systemEnvironment(), http: true });
    await simulator.client().create(ConfigMap, { metadata: { namespace: "default", name: "here" } });
    const path = "/api/v1/namespaces/default/configmaps/here";
    for (const method of ["HEAD", "OPTIONS"]) expect((await ask(simulator, { path, method })).status).toBe(405);
    expect((await ask(simulator, { path })).status).toBe(200);
  });
});
