// A controller on an API server, with and without faults. Tests assert the state of the cluster and, where an invariant forbids
// an action, the log of calls.
import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { ownerReferenceTo } from "../objects/object.ts";
import { eventually } from "../testing/eventually.ts";
import type { Fault, FaultPlan } from "../testing/fault-proxy.ts";
import { child } from "./children.ts";
import { Choir, choirs, creations, type Performance, stage } from "./choir.fixture.ts";
import { controller } from "./controller.ts";
import { done, requeueAfter } from "./outcome.ts";

describe("a controller", () => {
  it("creates, keeps, changes and deletes children, and writes the status", async () => {
    await using on = await stage();
    await using choir = await on.perform(choirs());
    await on.put("a", { singers: 3, song: "la" });
    await on.complete("a");
    const singer = { namespace: on.namespace, name: "a-1" };
    await on.client.delete(ConfigMap, singer);
    await on.complete("a");
    await on.client.patch(ConfigMap, singer, { type: "merge", body: { data: { song: "something else" } } });
    await on.complete("a");
    await on.put("a", { singers: 1, song: "lalala" });
    await on.complete("a");
    expect(choir.errors).toEqual([]);
    const [first] = choir.runner.explain({ namespace: on.namespace, name: "a" });
    expect(first?.because).not.toEqual([]);
    expect(choir.runner.explain({ namespace: on.namespace, name: "a" }).flatMap(({ wrote }) => wrote)).toContainEqual(
      expect.stringMatching(/^delete ConfigMap .*\/a-2 → /),
    );
  });

  it("does not touch an object of another owner, reports its owner, and continues when it is gone", async () => {
    await using on = await stage();
    await using choir = await on.perform(choirs());
    const conflicting = { namespace: on.namespace, name: "a-0" };
    const before = await on.client.create(ConfigMap, { metadata: conflicting, data: { song: "precious" } });
    await on.put("a", { singers: 1 });
    const stuck = await on.says("a", "Stuck");
    expect(stuck?.status?.conditions?.[0]?.message).toContain(`ConfigMap ${on.namespace}/a-0: expected it to be controlled by`);
    expect(await on.client.get(ConfigMap, conflicting)).toEqual(before);
    expect(choir.events).toContainEqual(expect.objectContaining({ type: "Warning", reason: "ReconcileFailed" }));
    await on.client.delete(ConfigMap, conflicting); // without a change of the choir
    await on.complete("a");
  });

  it("runs the finalizer before an object is removed", async () => {
    await using on = await stage();
    const cleaned: string[] = [];
    const cleanUp = async ({ metadata }: { metadata: { name: string } }) => {
      cleaned.push(metadata.name);
      return cleaned.length < 3 ? requeueAfter(10, "not everything is packed") : done();
    };
    const finalizer = { name: "runtime-test.example.com/pack", cleanUp };
    await using performance = await on.perform(controller(Choir, { finalizer }, async () => done()));
    await on.put("a", {});
    await eventually(
      () => on.get("a"),
      (choir) => choir?.metadata.finalizers?.[0] === finalizer.name,
    );
    await on.remove("a");
    await eventually(
      () => on.get("a"),
      (choir) => choir === undefined,
    );
    expect([cleaned, performance.errors]).toEqual([["a", "a", "a"], []]);
  });
});

describe("in a steady state", () => {
  it("E1: nothing is written over 100 resyncs", async () => {
    await using on = await stage();
    await using choir = await on.perform(choirs({ resyncMs: 20 }));
    await on.put("a", { singers: 3 });
    await on.complete("a");
    const ref = { namespace: on.namespace, name: "a" };
    const resyncs = () => choir.runner.explain(ref).at(-1)?.times ?? 0;
    await eventually(resyncs, (times) => times > 2);
    choir.journal.clear();
    await eventually(resyncs, (times) => times > 102);
    expect(choir.journal.writes).toEqual([]);
  });
});

describe("C2: a lost response", () => {
  it.each([
    { what: "the first child", paths: ["/configmaps/a-0"] },
    { what: "the second child", paths: ["/configmaps/a-1"] },
    { what: "the report", paths: ["/choirs/a/status"] },
    { what: "each of them", paths: ["/configmaps/a-0", "/configmaps/a-1", "/choirs/a/status"] },
  ])("to the write of $what leads to the same end state", async ({ paths }) => {
    await using on = await stage();
    const left = new Set(paths);
    on.proxy.plan = (request) => {
      const meant = request.method === "GET" ? undefined : paths.find((end) => request.path.endsWith(end));
      // The watch reports nothing, either: a controller that does not read back writes again.
      return meant !== undefined && left.delete(meant) ? { kind: "lose" } : allWatchesSilent(request);
    };
    await on.put("a", { singers: 2 });
    await using choir = await on.perform(choirs());
    await on.complete("a");
    expect(choir.journal.writes.filter(({ error }) => error !== undefined)).toHaveLength(paths.length);
    expect(choir.journal.writes.filter(({ path }) => path.includes("/configmaps/"))).toHaveLength(2);
    expect(repetitions(choir)).toEqual([]);
  });

  it("to a deletion leads to the same end state", async () => {
    await using on = await stage();
    await using choir = await on.perform(choirs());
    await on.put("a", { singers: 3 });
    await on.complete("a");
    let lost = false;
    on.proxy.plan = ({ method }) => {
      if (lost || method !== "DELETE") return undefined;
      lost = true;
      return { kind: "lose" };
    };
    await on.put("a", { singers: 1 });
    await on.complete("a");
    expect(lost).toBe(true);
    expect(choir.journal.calls.filter(({ method }) => method === "DELETE")).toHaveLength(2);
  });

  it("to a create with generateName creates no second object", async () => {
    await using on = await stage();
    on.proxy.plan = (request) => (request.method === "POST" ? { kind: "lose" } : silentWatches(request));
    await using crowd = await on.perform(crowds());
    await crowd.runner.whenSynced();
    await on.put("a", { singers: 1 });
    await settledCrowd(on, crowd, 1);
    expect(crowd.journal.writes.map(({ method, error }) => [method, error !== undefined])).toEqual([["POST", true]]);
  });
});

/** Writes that repeat the previous write to the same object, without a read in between. */
function repetitions({ journal }: Performance): string[] {
  const last = new Map<string, string>();
  return journal.writes.flatMap(({ method, path, body }) => {
    const write = `${method} ${path} ${JSON.stringify(body)}`;
    const repeated = last.get(path) === write;
    last.set(path, write);
    return repeated ? [write] : [];
  });
}

/** Watches are accepted and stay silent until they time out as idle: only lists return objects. */
const allWatchesSilent: FaultPlan = ({ watch, query }) => {
  if (!watch) return undefined;
  return query.has("sendInitialEvents") ? { kind: "answer", status: 422 } : { kind: "watch", afterEvents: 0, ending: "silence" };
};

/** The same for watches of the children only. */
const silentWatches: FaultPlan = (request) => (request.path.endsWith("/configmaps") ? allWatchesSilent(request) : undefined);

/** Creates singers with generateName: a controller that misses one in its cache creates one too many. */
function crowds() {
  return controller(Choir, { owns: [ConfigMap] }, async (ref, ctx) => {
    const choir = ctx.get(Choir, ref);
    if (choir === undefined) return done();
    const there = ctx.list(ConfigMap, { ownedBy: choir }).length;
    if (there >= choir.spec.singers) return done();
    const metadata = {
      namespace: choir.metadata.namespace ?? "",
      generateName: "one-of-",
      ownerReferences: [ownerReferenceTo(choir, Choir)],
    };
    await ctx.client.create(ConfigMap, { metadata });
    return requeueAfter(1, "one at a time");
  });
}

async function settledCrowd(on: Awaited<ReturnType<typeof stage>>, { runner }: Performance, wanted: number) {
  await eventually(
    () => runner.explain({ namespace: on.namespace, name: "a" }).at(-1)?.ended,
    (ended) => ended === "done",
  );
  expect(await on.singers("a")).toHaveLength(wanted);
}

describe("W1: a stale cache", () => {
  it("is not used: a key waits until the cache has seen its own last write, however long the watch is silent", async () => {
    await using on = await stage();
    on.proxy.plan = silentWatches;
    await using crowd = await on.perform(crowds());
    await crowd.runner.whenSynced();
    await on.put("a", { singers: 3 });
    await settledCrowd(on, crowd, 3);
  });
});

describe("W2: a missed event", () => {
  it("while the controller is down is made up for from the state alone", async () => {
    await using on = await stage();
    const first = await on.perform(choirs());
    for (const name of ["changed", "gone", "robbed"]) await on.put(name, { singers: 2 });
    for (const name of ["changed", "gone", "robbed"]) await on.complete(name);
    await first.stop();
    await on.put("changed", { singers: 3, song: "new" });
    await on.client.delete(ConfigMap, { namespace: on.namespace, name: "robbed-1" });
    await on.remove("gone");
    await on.put("new", { singers: 1 });
    await using _second = await on.perform(choirs());
    for (const name of ["changed", "robbed", "new"]) await on.complete(name);
  });

  it("of a silent watch is made up for by the next list", async () => {
    await using on = await stage();
    await using choir = await on.perform(choirs());
    await on.put("robbed", { singers: 2 });
    await on.complete("robbed");
    on.proxy.plan = silentWatches;
    on.proxy.cut();
    await eventually(
      () => choir.journal.calls.at(-1),
      (call) => call?.stream === true && call.path.endsWith("/configmaps") && call.status === 200,
    );
    const singer = { namespace: on.namespace, name: "robbed-1" };
    const before = await on.client.get(ConfigMap, singer);
    await on.client.delete(ConfigMap, singer);
    const after = await eventually(
      () => on.client.find(ConfigMap, singer),
      (found) => found !== undefined,
    );
    expect(after?.metadata.uid).not.toBe(before.metadata.uid);
  });
});

describe("W4: delete and recreate under one name", () => {
  it("creates another object with children of its own; the garbage collector removes those of the first", async () => {
    await using on = await stage();
    const first = await on.perform(choirs());
    const before = await on.put("a", { singers: 2 });
    await on.complete("a");
    await first.stop();
    await on.remove("a");
    const after = await on.put("a", { singers: 2 });
    await using second = await on.perform(choirs());
    await on.complete("a");
    const owners = (await on.singers("a")).map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
    expect(owners).toEqual([after.metadata.uid, after.metadata.uid]);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(second.errors).toEqual([]);
  });
});

describe("L1: two leaders at once", () => {
  it("are harmless: every child is created once", async () => {
    await using on = await stage();
    await using first = await on.perform(choirs());
    await using second = await on.perform(choirs());
    const names = ["a", "b", "c"];
    for (const name of names) await on.put(name, { singers: 3 });
    for (const name of names) await on.complete(name);
    for (const name of names) await on.put(name, { singers: 1, song: "again" });
    for (const name of names) await on.complete(name);
    expect(creations(first) + creations(second)).toBe(9);
  });
});

describe("A1: rejections", () => {
  it("a 422 becomes a condition and a long back-off", async () => {
    await using on = await stage();
    const onTerminalError = ({ message }: Error) => ({
      singers: 0,
      conditions: [{ type: "Ready", status: "False", reason: "Stuck", message } as const],
    });
    await using performance = await on.perform(
      controller(Choir, { owns: [ConfigMap], onTerminalError }, async (ref, ctx) => {
        const choir = ctx.get(Choir, ref);
        if (choir === undefined) return done();
        await ctx.applyChildren(choir, [child(ConfigMap, { metadata: { name: "Not_A_Name" } })]);
        return done();
      }),
    );
    await on.put("a", {});
    const stuck = await on.says("a", "Stuck");
    expect(stuck?.status?.conditions?.[0]?.message).toContain("Not_A_Name");
    expect(performance.journal.writes.filter(({ path }) => path.includes("/configmaps/")).length).toBeLessThanOrEqual(3);
  });

  it("a 409 is read and decided again until the write succeeds", async () => {
    await using on = await stage();
    const finalizer = { name: "runtime-test.example.com/pack", cleanUp: async () => done() };
    await using performance = await on.perform(controller(Choir, { finalizer }, async () => done()));
    await performance.runner.whenSynced();
    await on.put("a", {});
    const scribble = (number: number) =>
      on.client.patch(
        Choir,
        { namespace: on.namespace, name: "a" },
        { type: "merge", body: { metadata: { annotations: { at: `${number}` } } } },
      );
    for (let number = 0; number < 50; number += 1) await scribble(number);
    await eventually(
      () => on.get("a"),
      (choir) => choir?.metadata.finalizers?.[0] === finalizer.name,
    );
    expect(performance.errors).toEqual([]);
    await on.remove("a");
  });
});

describe("A2: a failing server", () => {
  const troubles: { name: string; fault: Fault; leastMs: (failures: number) => number; times: number }[] = [
    { name: "500", fault: { kind: "answer", status: 500 }, leastMs: (failures) => 50 * 2 ** failures, times: 5 },
    { name: "a reset", fault: { kind: "reset" }, leastMs: (failures) => 50 * 2 ** failures, times: 5 },
    {
      name: "429 with Retry-After",
      fault: { kind: "answer", status: 429, retryAfterSeconds: 1 },
      leastMs: () => 1_000,
      times: 3,
    },
  ];
  it.each(troubles)("gets fewer calls, never more: $name", async ({ fault, leastMs, times }) => {
    await using on = await stage();
    await using choir = await on.perform(choirs());
    on.proxy.plan = ({ method }) => (method === "GET" ? undefined : fault);
    await on.put("a", { singers: 1 });
    const attempts = () => choir.journal.writes.map(({ at }) => at);
    await eventually(attempts, ({ length }) => length >= times);
    const gaps = attempts()
      .slice(0, times)
      .flatMap((at, index, all) => (index === 0 ? [] : [at - (all[index - 1] ?? 0)]));
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(leastMs(index));
    on.proxy.plan = () => undefined;
    await on.complete("a");
  });
});

describe("E3: an object whose reconcile always fails", () => {
  it("never blocks the others", async () => {
    await using on = await stage();
    await using choir = await on.perform(choirs());
    await on.put("bad", { song: "poison" });
    for (const name of ["a", "z"]) await on.put(name, {});
    for (const name of ["a", "z"]) await on.complete(name);
    await eventually(
      () => choir.errors.length,
      (errors) => errors > 2,
    );
    await on.put("a", { singers: 3 });
    await on.complete("a");
    expect(new Set(choir.errors)).toEqual(new Set(["Error: this choir cannot be looked at"]));
    await on.put("bad", { song: "healed" });
    await on.complete("bad");
  });
});
