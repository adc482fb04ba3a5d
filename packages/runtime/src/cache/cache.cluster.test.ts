// Invariant W3, on an API server behind a fault proxy: whatever happens to the connection, the cache equals the server again soon
// after, and nothing crashes. "Soon" is a minute with production timing; here all times are shortened in proportion.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../client/config/load.ts";
import { createClient } from "../client/create-client.ts";
import { httpTransport } from "../client/transport/http-transport.ts";
import { silentLogger } from "../concurrency/environment.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { keyOf, type Stored } from "../objects/object.ts";
import { clientOf, quick } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import type { Fault, FaultPlan } from "../testing/fault-proxy.ts";
import { type FaultProxy, startFaultProxy } from "../testing/fault-proxy.ts";
import { startTcpProxy } from "../testing/loopback.ts";
import { Cache } from "./cache.ts";
import type { ReflectorTiming } from "./next-session.ts";
import { view } from "./projection.ts";

const timing = {
  idleMs: 3_000,
  answerMs: 1_000,
  quietTimeoutSeconds: 2,
  toleranceMs: 1_000,
  overdueMs: 500,
  backoff: { initialMs: 50, maxMs: 500, jitter: 0.25 },
};

// Every namespace has one ConfigMap that the test did not create.
const Mine = view(ConfigMap, { fieldSelector: "metadata.name!=kube-root-ca.crt" });

/** A cache that watches a namespace through a proxy, and a client with a direct connection. */
async function following(more: Partial<ReflectorTiming> = {}) {
  const cluster = await testCluster();
  const config = await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  const proxy = await startFaultProxy(httpTransport(config, quick), quick.environment);
  const proxied = createClient({ config: proxy.config, ...quick });
  const client = await clientOf(cluster);
  const namespace = cluster.defaultNamespace;
  const cache = new Cache<ConfigMap>({
    client: proxied,
    kind: Mine,
    namespaces: [namespace],
    environment: quick.environment,
    log: silentLogger,
    timing: { ...timing, ...more },
  });
  const removed: string[] = [];
  cache.onChange(({ type, object }) => type === "removed" && removed.push(object.metadata.uid));
  const put = (name: string, x: string) =>
    client.apply(ConfigMap, { metadata: { namespace, name }, data: { x } }, { fieldManager: "test" });
  const remove = (name: string) => client.delete(ConfigMap, { namespace, name });
  const annotate = async (name: string) => {
    const ref = { namespace, name };
    await eventually(
      () => client.find(ConfigMap, ref),
      (found) => found !== undefined,
    );
    return client.patch(ConfigMap, ref, {
      type: "merge",
      body: { metadata: { annotations: { "test.example.com/seen": "yes" } } },
    });
  };
  const truth = async () =>
    describeAll((await client.list(ConfigMap, { namespace, fieldSelector: Mine.selection?.fieldSelector })).items);
  const seen = () => describeAll([...cache.objects()]);
  const caughtUp = () =>
    eventually(
      async () => [cache.synced, seen(), await truth()],
      ([synced, a, b]) => synced === true && `${a}` === `${b}`,
    );
  const close = async () => {
    await cache.stop();
    await proxied.close();
    await proxy.close();
    await client.close();
    await cluster[Symbol.asyncDispose]();
  };
  return { proxy, cache, namespace, removed, put, annotate, remove, caughtUp, [Symbol.asyncDispose]: close };
}

type Following = Awaited<ReturnType<typeof following>>;

function describeAll(objects: readonly Stored<ConfigMap>[]): string[] {
  return objects.map(({ metadata, data }) => `${keyOf(metadata)} ${metadata.uid}@${metadata.resourceVersion} ${data?.x}`).sort();
}

/** Breaks every watch while this plan is active. */
const watches =
  (fault: Fault): FaultPlan =>
  ({ watch }) =>
    watch ? fault : undefined;
const everything =
  (fault: Fault): FaultPlan =>
  () =>
    fault;

/** `unmet`: no request meets the fault while it lasts. Otherwise the fault lasts until one has. */
const faults: { name: string; begin: (proxy: FaultProxy) => void; unmet?: boolean }[] = [
  { name: "its connection is reset", begin: (proxy) => proxy.cut() },
  { name: "its connection is half-open: the peer has lost power", begin: (proxy) => proxy.freeze(), unmet: true },
  {
    name: "everything is swallowed, for a while",
    begin: (proxy) => {
      proxy.plan = everything({ kind: "silence" });
      proxy.freeze();
    },
  },
  {
    name: "every connection is reset, for a while",
    begin: (proxy) => {
      proxy.plan = everything({ kind: "reset" });
      proxy.cut();
    },
  },
  {
    name: "the server is busy (429), for a while",
    begin: (proxy) => {
      proxy.plan = everything({ kind: "answer", status: 429, retryAfterSeconds: 1 });
      proxy.cut();
    },
  },
  {
    name: "the server fails (500), for a while",
    begin: (proxy) => {
      proxy.plan = everything({ kind: "answer", status: 500 });
      proxy.cut();
    },
  },
  {
    name: "a login page answers (200, HTML), for a while",
    begin: (proxy) => {
      proxy.plan = everything({ kind: "answer", status: 200, body: "<html>Please log in</html>" });
      proxy.cut();
    },
  },
  ...(["reset", "silence", "truncate", "expire", "close"] as const).map((ending) => ({
    name: `every watch ends after one event (${ending}), for a while`,
    begin: (proxy: FaultProxy) => {
      proxy.plan = watches({ kind: "watch", afterEvents: 1, ending });
      proxy.cut();
    },
  })),
  {
    name: "every event comes twice, for a while",
    begin: (proxy) => {
      proxy.plan = watches({ kind: "duplicate" });
      proxy.cut();
    },
  },
  {
    name: "answers are slow, for a while",
    begin: (proxy) => {
      proxy.plan = everything({ kind: "delay", ms: 300 });
      proxy.cut();
    },
  },
];

const inOnePiece = (query: URLSearchParams) => !query.has("watch") && !query.has("limit");

describe("W3: a cache recovers after", () => {
  it.each(faults)("$name", async ({ begin, unmet }) => {
    await using it = await following();
    for (const name of ["kept", "changed", "gone", "replaced"]) await it.put(name, "before");
    it.cache.start();
    await it.caughtUp();
    const before = it.proxy.requests;
    begin(it.proxy);
    await it.put("changed", "during");
    await it.remove("gone");
    await it.remove("replaced");
    await it.put("replaced", "during");
    await it.put("new", "during");
    if (!unmet) {
      await eventually(
        () => it.proxy.requests,
        (requests) => requests > before,
      );
    }
    it.proxy.plan = () => undefined;
    await it.put("changed", "after");
    await it.caughtUp();
    await it.put("new", "later");
    await it.caughtUp();
  });

  it("every watch is accepted but delivers no event, while the fault lasts", async () => {
    await using it = await following();
    await it.put("gone", "before");
    it.cache.start();
    await it.caughtUp();
    it.proxy.plan = watches({ kind: "watch", afterEvents: 0, ending: "silence" });
    it.proxy.cut();
    await it.remove("gone");
    await it.put("new", "during");
    await it.caughtUp();
    await it.put("new", "later");
    await it.caughtUp();
  });

  it("a start during an outage", async () => {
    await using it = await following();
    await it.put("a", "before");
    it.proxy.plan = everything({ kind: "reset" });
    it.cache.start();
    await eventually(
      () => it.proxy.requests,
      (requests) => requests > 2,
    );
    expect([it.cache.synced, it.cache.size]).toEqual([false, 0]);
    it.proxy.plan = () => undefined;
    await it.caughtUp();
  });

  it.each([
    { name: "lists in one piece: they come as events", refuse: (query: URLSearchParams) => inOnePiece(query) },
    {
      name: "lists in one piece nor as events: they come in pages",
      refuse: (query: URLSearchParams) => inOnePiece(query) || query.has("sendInitialEvents"),
    },
  ])("a server gives no $name", async ({ refuse }) => {
    await using it = await following();
    for (const name of ["a", "b", "c"]) await it.put(name, "before");
    it.proxy.plan = ({ query }) =>
      refuse(query) ? { kind: "answer", status: query.has("watch") ? 422 : 200, body: "no" } : undefined;
    it.cache.start();
    await it.caughtUp();
    await it.put("a", "later");
    await it.caughtUp();
  });
});

it.each([
  { what: "a removal", swallowed: '"DELETED"', happens: (it: Following) => it.remove("a") },
  { what: "a change", swallowed: '"MODIFIED"', happens: (it: Following) => it.put("a", "during") },
  { what: "an addition", swallowed: '"ADDED"', happens: (it: Following) => it.put("b", "during") },
])(
  "W2: $what that something on the way swallowed is found by the listing that comes now and then",
  async ({ swallowed, happens }) => {
    await using it = await following({ relistMs: 3_000 });
    await it.put("a", "before");
    it.proxy.plan = watches({ kind: "swallow", containing: swallowed });
    it.cache.start();
    await it.caughtUp();
    await happens(it);
    await it.caughtUp();
  },
);

it("W3: a cache is stale while it cannot reach the server, and synced again once it can", async () => {
  await using it = await following();
  await it.put("a", "before");
  it.cache.start();
  await it.caughtUp();
  it.proxy.plan = everything({ kind: "reset" });
  it.proxy.cut();
  await eventually(
    () => it.cache.status()[0]?.state,
    (state) => state === "stale",
  );
  it.proxy.plan = () => undefined;
  await it.caughtUp();
});

it("W4: an object replaced during an outage is reported as removed and added", async () => {
  await using it = await following();
  const first = await it.put("a", "first");
  it.cache.start();
  await it.caughtUp();
  it.proxy.plan = everything({ kind: "reset" });
  it.proxy.cut();
  await it.remove("a");
  const second = await it.put("a", "second");
  it.proxy.plan = () => undefined;
  await it.caughtUp();
  expect(it.removed).toEqual([first.metadata.uid]);
  expect(it.cache.get({ namespace: it.namespace, name: "a" })?.metadata.uid).toBe(second.metadata.uid);
});

it("W1: a cache reaches a write, also one outside its selection and one during a dead connection", async () => {
  await using it = await following();
  it.cache.start();
  await it.caughtUp();
  const seen = await it.put("a", "x");
  await it.cache.whenReached(it.cache.written(seen));
  expect(it.cache.get(seen.metadata)?.metadata.resourceVersion).toBe(seen.metadata.resourceVersion);
  const leftOut = await it.annotate("kube-root-ca.crt");
  await it.cache.whenReached(it.cache.written(leftOut));
  it.proxy.freeze();
  const later = await it.put("a", "y");
  await it.cache.whenReached(it.cache.written(later));
  expect(it.cache.get(later.metadata)?.data).toEqual({ x: "y" });
});

it("W3: a cache recovers after a half-open HTTP/2 connection shared by all its requests", async () => {
  await using cluster = await testCluster();
  const { server } = await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  const { hostname, port } = new URL(server);
  await using cable = await startTcpProxy({ host: hostname, port: Number(port) });
  await using proxied = await clientOf(cluster, { config: { server: `https://${hostname}:${cable.port}` } });
  await using client = await clientOf(cluster);
  const { environment } = quick;
  const namespace = cluster.defaultNamespace;
  const cache = new Cache<ConfigMap>({
    client: proxied,
    kind: Mine,
    namespaces: [namespace],
    environment,
    log: silentLogger,
    timing,
  });
  await using _stopping = { [Symbol.asyncDispose]: () => cache.stop() };
  cache.start();
  await cache.whenSynced();
  cable.freeze();
  await client.create(ConfigMap, { metadata: { namespace, name: "a" } });
  await eventually(
    () => cache.size,
    (size) => size === 1,
  );
});
