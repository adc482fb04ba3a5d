import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { manualClock } from "../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../concurrency/system-environment.ts";
import { listenForProfiles } from "./profiler.ts";

async function listening(clock = systemEnvironment().clock) {
  const endpoint = await listenForProfiles("127.0.0.1:0", clock);
  if (endpoint === undefined) throw new Error("expected it to listen");
  const get = async (path: string, host = "localhost") => {
    const sent = request({ host: "127.0.0.1", port: endpoint.port, path, agent: false, headers: { host } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode, body: await text(response) };
  };
  return { get, [Symbol.asyncDispose]: () => endpoint.close() };
}

describe("the profiler", () => {
  it("is disabled by default", async () => expect(await listenForProfiles("0", manualClock())).toBeUndefined());

  it.each(["0.0.0.0:6060", "[::]:6060", "10.0.0.7:6060", "example.com:6060"])("rejects the address %s", async (address) => {
    await expect(listenForProfiles(address, manualClock())).rejects.toMatchObject({
      code: "ADDRESS",
      message: expect.stringContaining("expected a loopback address for profiles"),
    });
  });

  it("records one CPU profile at a time", async () => {
    const clock = manualClock();
    await using profiler = await listening(clock);
    const first = profiler.get("/debug/profile?seconds=30");
    while (clock.pending === 0) await settled();
    expect(await profiler.get("/debug/profile?seconds=30")).toMatchObject({ status: 409 });
    await clock.advance(30_000);
    const { status, body } = await first;
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
  });

  it.each(["0", "-1", "301", "x", "NaN"])("rejects ?seconds=%s", async (seconds) => {
    await using profiler = await listening();
    expect(await profiler.get(`/debug/profile?seconds=${seconds}`)).toMatchObject({ status: 400 });
  });

  it("takes a heap snapshot", async () => {
    await using profiler = await listening();
    const { body } = await profiler.get("/debug/heap");
    expect(body.slice(0, 20)).toBe('{"snapshot":{"meta":');
  });

  it.each(["evil.example.com", "10.0.0.7:6060", "localhost.evil.example.com"])(
    "rejects a request with the Host header %s",
    async (host) => {
      await using profiler = await listening();
      expect(await profiler.get("/debug/heap", host)).toMatchObject({ status: 403 });
    },
  );
});
