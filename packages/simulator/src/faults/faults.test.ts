import { type Client, ConfigMap, clientOver, TransportError } from "@memhog/runtime";
import { manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { startSimulator } from "../simulator.ts";
import { crashAt } from "./crash.ts";
import type { FaultPlan } from "./fault.ts";
import { makeFaults } from "./faults.ts";

const ref = { namespace: "default", name: "a" };
const object = (data: Record<string, string> = {}) => ({ metadata: ref, data });

async function world() {
  const environment = manualEnvironment();
  const { clock } = environment;
  const faults = makeFaults({ clock });
  const simulator = await startSimulator({ environment, middleware: [faults.middleware] });
  return { clock, faults, client: simulator.client(), simulator, [Symbol.asyncDispose]: () => simulator.stop() };
}

const onWrites =
  (fault: NonNullable<ReturnType<FaultPlan>>): FaultPlan =>
  ({ method }) =>
    method === "GET" ? undefined : fault;
const failed = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The types of the next events, until there are so many or the watch is over. */
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

describe("a fault", () => {
  it("reset: the server never sees the write, and the client may know", async () => {
    await using it = await world();
    it.faults.plan = ({ number, method }) => (method === "POST" && number < 100 ? { kind: "reset" } : undefined);
    const error = failed(it.client.create(ConfigMap, object(), { timeoutMs: 1 }));
    await it.clock.advance(60_000);
    expect(await error).toBeInstanceOf(TransportError);
    expect(await it.client.find(ConfigMap, ref)).toBeUndefined();
  });

  it("lose: the server acts, the client cannot know", async () => {
    await using it = await world();
    it.faults.plan = onWrites({ kind: "lose" });
    expect(await failed(it.client.create(ConfigMap, object()))).toMatchObject({ outcome: "unknown" });
    expect(await it.client.find(ConfigMap, ref)).toBeDefined();
  });

  it("delay: nothing happens until it is over", async () => {
    await using it = await world();
    it.faults.plan = onWrites({ kind: "delay", ms: 5_000 });
    const created = it.client.create(ConfigMap, object());
    await it.clock.advance(4_999);
    expect(await it.client.find(ConfigMap, ref)).toBeUndefined();
    await it.clock.advance(1);
    expect((await created).metadata.name).toBe("a");
  });

  it("answer: somebody else speaks", async () => {
    await using it = await world();
    it.faults.plan = onWrites({ kind: "answer", status: 403, reason: "Forbidden" });
    expect(await failed(it.client.create(ConfigMap, object()))).toMatchObject({ status: 403, reason: "Forbidden" });
  });

  it("stale: one object and the list show the past; a write in between is not seen", async () => {
    await using it = await world();
    const first = await it.client.create(ConfigMap, object({ x: "1" }));
    await it.client.update(ConfigMap, { ...first, data: { x: "2" } });
    it.faults.plan = ({ method }) => (method === "GET" ? { kind: "stale", writesAgo: 1 } : undefined);
    expect(await it.client.get(ConfigMap, ref)).toEqual(first);
    const { items, metadata } = await it.client.list(ConfigMap, { namespace: "default" });
    expect(items.find((one) => one.metadata.name === "a")?.data).toEqual({ x: "1" });
    expect(metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it("stale: what is new is not there yet", async () => {
    await using it = await world();
    await it.client.create(ConfigMap, object());
    await it.client.create(ConfigMap, { metadata: { namespace: "default", name: "b" } });
    it.faults.plan = ({ method }) => (method === "GET" ? { kind: "stale", writesAgo: 1 } : undefined);
    expect(await it.client.find(ConfigMap, { namespace: "default", name: "b" })).toBeUndefined();
  });

  it("duplicate, miss and end: a watch tells twice, not at all, or too little", async () => {
    await using it = await world();
    for (const name of ["a", "b", "c"]) await it.client.create(ConfigMap, { metadata: { namespace: "default", name } });
    const told = async (fault: NonNullable<ReturnType<FaultPlan>>, count: number) => {
      it.faults.plan = ({ watch }) => (watch ? fault : undefined);
      return typesOf(it.client, count);
    };
    expect(await told({ kind: "duplicate" }, 6)).toEqual(Array(6).fill("ADDED"));
    expect(await told({ kind: "miss", every: 3 }, 2)).toEqual(["ADDED", "ADDED"]);
    expect(await told({ kind: "end", afterEvents: 1, how: "close" }, 2)).toEqual(["ADDED"]);
    expect(await told({ kind: "end", afterEvents: 1, how: "expire" }, 2)).toEqual(["ADDED", "API_EXPIRED"]);
    expect((await told({ kind: "end", afterEvents: 2, how: "reset" }, 3)).slice(0, 2)).toEqual(["ADDED", "ADDED"]);
  });

  it("restart: watches break, requests are refused, and then all is well again", async () => {
    await using it = await world();
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
    { moment: "before", there: false },
    { moment: "after", there: true },
  ] as const)("$moment it: the object is there: $there", async ({ moment, there }) => {
    await using it = await world();
    let told = 0;
    const transport = crashAt(it.simulator.transport, { atWrite: 2, moment, onCrash: () => (told += 1) });
    const doomed = clientOver(transport, { environment: it.simulator.environment });
    await doomed.create(ConfigMap, { metadata: { namespace: "default", name: "first" } });
    await failed(doomed.create(ConfigMap, object()));
    expect([transport.crashed, transport.writes, told]).toEqual([true, 2, 1]);
    expect((await it.client.find(ConfigMap, ref)) !== undefined).toBe(there);
    const after = failed(doomed.get(ConfigMap, ref));
    await it.clock.advance(60_000);
    expect(await after).toBeInstanceOf(TransportError);
  });
});
