// Tests the proxy, and how the client handles its faults.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import type { WatchEvent } from "../client/client.ts";
import { loadConfig } from "../client/config/load.ts";
import { createClient } from "../client/create-client.ts";
import * as errors from "../client/errors.ts";
import { httpTransport } from "../client/transport/http-transport.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { quick } from "./cluster-world.ts";
import type { Fault } from "./fault-proxy.ts";
import { startFaultProxy } from "./fault-proxy.ts";

/** A cluster, a proxy in front of it, and a client that connects through the proxy. */
async function world() {
  const cluster = await testCluster();
  const config = await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  const proxy = await startFaultProxy(httpTransport(config, quick), quick.environment);
  const client = createClient({ config: proxy.config, ...quick });
  const namespace = cluster.defaultNamespace;
  const watch = (options = {}) =>
    client.watch(ConfigMap, { namespace, fieldSelector: "metadata.name!=kube-root-ca.crt", sendInitialEvents: true, ...options });
  const close = async () => {
    await client.close();
    await proxy.close();
    await cluster[Symbol.asyncDispose]();
  };
  return {
    proxy,
    client,
    watch,
    ref: { namespace, name: "a" },
    object: { metadata: { namespace, name: "a" } },
    [Symbol.asyncDispose]: close,
  };
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Injects the fault into the first request only. */
const once = (fault: Fault) => {
  let left = 1;
  return () => (left-- > 0 ? fault : undefined);
};

describe("a write", () => {
  it.each([
    { fault: { kind: "reset" } as const, arrives: false },
    { fault: { kind: "lose" } as const, arrives: true },
  ])("whose connection breaks ($fault.kind) has an unknown outcome, which a read resolves", async ({ fault, arrives }) => {
    await using it = await world();
    it.proxy.plan = once(fault);
    expect(await failure(it.client.create(ConfigMap, it.object))).toMatchObject({ code: "TRANSPORT_FAILED", outcome: "unknown" });
    expect((await it.client.find(ConfigMap, it.ref)) !== undefined).toBe(arrives);
  });

  it("without a response times out with an unknown outcome", async () => {
    await using it = await world();
    it.proxy.plan = once({ kind: "silence" });
    expect(await failure(it.client.create(ConfigMap, it.object, { timeoutMs: 200 }))).toMatchObject({
      code: "TRANSPORT_TIMEOUT",
      outcome: "unknown",
    });
    await it.client.create(ConfigMap, it.object);
  });

  it("is retried after 429 with Retry-After", async () => {
    await using it = await world();
    it.proxy.plan = once({ kind: "answer", status: 429, retryAfterSeconds: 1 });
    await it.client.create(ConfigMap, it.object);
    expect(it.proxy.requests).toBe(2);
  });

  it("is not retried after 500", async () => {
    await using it = await world();
    it.proxy.plan = once({ kind: "answer", status: 500 });
    expect(await failure(it.client.create(ConfigMap, it.object))).toBeInstanceOf(errors.InternalError);
    expect(it.proxy.requests).toBe(1);
  });
});

describe("a read", () => {
  it.each([
    { fault: { kind: "reset" } as const },
    { fault: { kind: "lose" } as const },
    { fault: { kind: "answer", status: 500 } as const },
    { fault: { kind: "answer", status: 429 } as const },
    { fault: { kind: "truncate", afterBytes: 20 } as const },
    { fault: { kind: "delay", ms: 50 } as const },
  ])("survives $fault.kind $fault.status", async ({ fault }) => {
    await using it = await world();
    await it.client.create(ConfigMap, it.object);
    it.proxy.plan = once(fault);
    expect((await it.client.get(ConfigMap, it.ref)).metadata.name).toBe("a");
  });
});

describe("a watch", () => {
  const run = async (events: AsyncIterable<WatchEvent<ConfigMap>>, each: () => unknown = () => {}) => {
    const seen: string[] = [];
    try {
      for await (const { type } of events) {
        seen.push(type);
        await each();
      }
    } catch (end) {
      return { seen, end };
    }
    return { seen, end: undefined };
  };

  it.each([
    { ending: "reset" as const, is: errors.BrokenStreamError },
    { ending: "silence" as const, is: errors.IdleWatchError },
    { ending: "expire" as const, is: errors.ExpiredError },
    { ending: "close" as const, is: undefined },
  ])("that ends in $ending after one event", async ({ ending, is }) => {
    await using it = await world();
    await it.client.create(ConfigMap, it.object);
    it.proxy.plan = ({ watch }) => (watch ? { kind: "watch", afterEvents: 1, ending } : undefined);
    const { seen, end } = await run(it.watch({ idleMs: 500 }));
    expect(seen).toEqual(["ADDED"]);
    expect(end?.constructor).toBe(is);
  });

  it.each([
    {
      name: "half an event and a regular end",
      fault: { kind: "watch", afterEvents: 1, ending: "truncate" } as const,
      seen: ["ADDED"],
    },
    { name: "a chunk shorter than announced", fault: { kind: "truncate", afterBytes: 50 } as const, seen: [] },
  ])("that ends in $name is broken", async ({ fault, seen }) => {
    await using it = await world();
    await it.client.create(ConfigMap, it.object);
    it.proxy.plan = () => fault;
    const result = await run(it.watch());
    expect(result.seen).toEqual(seen);
    expect(result.end).toBeInstanceOf(errors.BrokenStreamError);
  });

  it("can receive every event twice", async () => {
    await using it = await world();
    await it.client.create(ConfigMap, it.object);
    it.proxy.plan = () => ({ kind: "duplicate" });
    const { seen } = await run(it.watch({ timeoutSeconds: 1 }));
    expect(seen.slice(0, 4)).toEqual(["ADDED", "ADDED", "BOOKMARK", "BOOKMARK"]);
  });

  it("breaks when all connections are reset, times out when they freeze, and can be restarted both times", async () => {
    await using it = await world();
    await it.client.create(ConfigMap, it.object);
    expect((await run(it.watch(), () => it.proxy.cut())).end).toBeInstanceOf(errors.BrokenStreamError);
    expect((await run(it.watch({ idleMs: 500 }), () => it.proxy.freeze())).end).toBeInstanceOf(errors.IdleWatchError);
    for await (const { type } of it.watch()) {
      expect(type).toBe("ADDED");
      break;
    }
  });
});
