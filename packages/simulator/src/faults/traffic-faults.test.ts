import { type Client, ConfigMap } from "@memhog/runtime";
import { createClient, TransportError } from "@memhog/runtime/client";
import { manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { startSimulator } from "../simulator.ts";
import { crashAt } from "./cluster-faults.ts";
import { makeTrafficFaults, type TrafficFaultPlan } from "./traffic-faults.ts";

const ref = { namespace: "default", name: "a" };
const object = (data: Record<string, string> = {}) => ({ metadata: ref, data });

async function setUp() {
  const environment = manualEnvironment();
  const { clock } = environment;
  const faults = makeTrafficFaults({ clock });
  const simulator = await startSimulator({ environment, middleware: [faults.middleware] });
  return { clock, faults, client: simulator.client(), simulator, [Symbol.asyncDispose]: () => simulator.stop() };
}

const onWrites =
  (fault: NonNullable<ReturnType<TrafficFaultPlan>>): TrafficFaultPlan =>
  ({ method }) =>
    method === "GET" ? undefined : fault;
const failed = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The types of the next events, until `count` of them arrived or the watch ended. */
async function typesOf(client: Client, count: number): Promise<readonly string[]> {
  const types: string[] = [];
  try {
    for await (const event of client.watch(ConfigMap, { namespace: "default" })) {
      if (event.type !== "BOOKMARK") types.push(event.type);
      if (types.length === count) break;
    }
  } catch (error) {
    types.push((error as { code: string }).code);
  }
  return types;
}

describe("a traffic fault", () => {
  it("reset: the server does not receive the write, and the client knows it", async () => {
    await using it = await setUp();
    it.faults.plan = ({ number, method }) => (method === "POST" && number < 100 ? { kind: "reset" } : undefined);
    const error = failed(it.client.create(ConfigMap, object(), { timeoutMs: 1 }));
    await it.clock.advance(60_000);
    expect(await error).toBeInstanceOf(TransportError);
    expect(await it.client.find(ConfigMap, ref)).toBeUndefined();
  });

  it("lose: the server executes the write, and the client cannot know", async () => {
    await using it = await setUp();
    it.faults.plan = onWrites({ kind: "lose" });
    expect(await failed(it.client.create(ConfigMap, object()))).toMatchObject({ outcome: "unknown" });
    expect(await it.client.find(ConfigMap, ref)).toBeDefined();
  });

  it("delay: the server receives the request only after the delay", async () => {
    await using it = await setUp();
    it.faults.plan = onWrites({ kind: "delay", ms: 5_000 });
    const created = it.client.create(ConfigMap, object());
    await it.clock.advance(4_999);
    expect(await it.client.find(ConfigMap, ref)).toBeUndefined();
    await it.clock.advance(1);
    expect((await created).metadata.name).toBe("a");
  });

  it("answer: the client gets the response of the plan", async () => {
    await using it = await setUp();
    it.faults.plan = onWrites({ kind: "answer", status: 403, reason: "Forbidden" });
    expect(await failed(it.client.create(ConfigMap, object()))).toMatchObject({ status: 403, reason: "Forbidden" });
  });

  it("stale: get and list return an older state", async () => {
    await using it = await setUp();
    const first = await it.client.create(ConfigMap, object({ x: "1" }));
    await it.client.update(ConfigMap, { ...first, data: { x: "2" } });
    it.faults.plan = ({ method }) => (method === "GET" ? { kind: "stale", writesAgo: 1 } : undefined);
    expect(await it.client.get(ConfigMap, ref)).toEqual(first);
    const { items, metadata } = await it.client.list(ConfigMap, { namespace: "default" });
    expect(items.find((one) => one.metadata.name === "a")?.data).toEqual({ x: "1" });
    expect(metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it("stale: a new object is not found", async () => {
    await using it = await setUp();
    await it.client.create(ConfigMap, object());
    await it.client.create(ConfigMap, { metadata: { namespace: "default", name: "b" } });
    it.faults.plan = ({ method }) => (method === "GET" ? { kind: "stale", writesAgo: 1 } : undefined);
    expect(await it.client.find(ConfigMap, { namespace: "default", name: "b" })).toBeUndefined();
  });

  it("duplicate, miss and end: a watch repeats, skips or stops sending events", async () => {
    await using it = await setUp();
    for (const name of ["a", "b", "c"]) await it.client.create(ConfigMap, { metadata: { namespace: "default", name } });
    const told = async (fault: NonNullable<ReturnType<TrafficFaultPlan>>, count: number) => {
      it.faults.plan = ({ watch }) => (watch ? fault : undefined);
      return typesOf(it.client, count);
    };
    expect(await told({ kind: "duplicate" }, 6)).toEqual(Array(6).fill("ADDED"));
    expect(await told({ kind: "miss", every: 3 }, 2)).toEqual(["ADDED", "ADDED"]);
    expect(await told({ kind: "end", afterEvents: 1, how: "close" }, 2)).toEqual(["ADDED"]);
    expect(await told({ kind: "end", afterEvents: 1, how: "expire" }, 2)).toEqual(["ADDED", "API_EXPIRED"]);
    expect((await told({ kind: "end", afterEvents: 2, how: "reset" }, 3)).slice(0, 2)).toEqual(["ADDED", "ADDED"]);
  });

  it("restart: watches break and requests are refused until the server is back", async () => {
    await using it = await setUp();
    await it.client.create(ConfigMap, object());
    const seen = typesOf(it.client, 100);
    await it.clock.advance(1);
    it.faults.restart(5_000);
    expect((await seen).at(-1)).not.toBe("ADDED");
    const down = failed(it.client.find(ConfigMap, ref));
    await it.clock.advance(4_999);
    expect(await down).toMatchObject({ outcome: "not-sent" });
    await it.clock.advance(1);
    expect((await it.client.get(ConfigMap, ref)).metadata.name).toBe("a");
  });
});

describe("a client that crashes at its second write", () => {
  it.each([
    { point: "before", there: false },
    { point: "after", there: true },
  ] as const)("$point the write: the object exists: $there", async ({ point, there }) => {
    await using it = await setUp();
    let crashes = 0;
    const transport = crashAt(it.simulator.transport, { atWrite: 2, point, onCrash: () => (crashes += 1) });
    const doomed = createClient({ transport, environment: it.simulator.environment });
    await doomed.create(ConfigMap, { metadata: { namespace: "default", name: "first" } });
    await failed(doomed.create(ConfigMap, object()));
    expect([transport.crashed, transport.writes, crashes]).toEqual([true, 2, 1]);
    expect((await it.client.find(ConfigMap, ref)) !== undefined).toBe(there);
    const after = failed(doomed.get(ConfigMap, ref));
    await it.clock.advance(60_000);
    expect(await after).toBeInstanceOf(TransportError);
  });
});
