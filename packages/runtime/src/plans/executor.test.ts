// The executor on the simulator, with a clock that the test advances.
import { simulate } from "@memhog/simulator/simulate";
import { describe, expect, it } from "vitest";
import { defineController } from "../controller/controller.ts";
import { TerminalError } from "../controller/errors.ts";
import { done } from "../controller/outcome.ts";
import { Event } from "../objects/kinds/access.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { hours, minutes, seconds } from "../objects/time.ts";
import { crdOf } from "../schema/custom-resource-definition.ts";
import { anObject } from "../testing/builders.ts";
import { explainPlans } from "./explain.ts";
import { plansFor, type StepOptions } from "./plan.ts";
import { Vault, vaults } from "./vault.fixture.ts";

const ref = { namespace: "default", name: "gold" };
const vault = (spec: Partial<Vault["spec"]> = {}) =>
  anObject(Vault, { metadata: ref, spec: { version: "15", work: [], ...spec } as Vault["spec"] });

async function running(spec: Partial<Vault["spec"]> = {}, controllers = [vaults]) {
  const world = await simulate({ controllers, objects: [vault(spec)] });
  const { client, clock } = world;
  const plans = async () => (await client.get(Vault, ref)).status?.plans;
  const patch = async (body: object) => {
    await client.patch(Vault, ref, { type: "merge", body });
    await clock.advance(100);
  };
  /** Enough turns for watches, and for the reconciles that they trigger. */
  const settle = async () => {
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(100);
  };
  const made = async () => {
    const { items } = await client.list(ConfigMap, { namespace: "default" });
    return items.map(({ metadata }) => metadata.name.split("-")[1] ?? "").filter((name) => name !== "root");
  };
  return { ...world, plans, patch, settle, made, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe("plans of an object", () => {
  it("run on creation, change, annotation and deletion, each once", async () => {
    await using world = await running();
    expect((await world.made()).sort()).toEqual(["format", "seed"]);
    await world.patch({ spec: { version: "17" } });
    await world.settle();
    expect((await world.plans())?.runs?.find(({ name }) => name === "upgrade")).toMatchObject({
      ...{ state: "Succeeded", number: 1, trigger: "Changed", settled: { version: "17" } },
    });
    const { items } = await world.client.list(ConfigMap, { namespace: "default" });
    expect(items.find(({ metadata }) => metadata.name.startsWith("gold-dump-"))?.data).toEqual({ from: "15", to: "17" });
    await world.patch({ metadata: { annotations: { "plans-test.example.com/backup": "monday" } } });
    await world.patch({ metadata: { labels: { unrelated: "change" } } });
    await world.settle();
    expect((await world.made()).filter((name) => name === "snapshot")).toHaveLength(1);
    await world.client.delete(Vault, ref);
    await world.settle();
    expect(await world.client.find(Vault, ref)).toBeUndefined();
    expect(world.errors).toEqual([]);
  });

  it("E1: a plan that waits and an idle one cost no writes", async () => {
    await using world = await running({ work: ["seed"] });
    world.journal.clear();
    for (let at = 0; at < 9; at += 1) await world.patch({ metadata: { labels: { at: String(at) } } });
    expect(world.journal.writes.filter(({ path }) => !path.includes("events"))).toEqual([]);
    expect((await world.plans())?.summary).toMatch(
      /^init: step seed waits for gold-seed-\w{10} to finish \(1 of 2 steps done\)$/,
    );
  });

  it("a step that is not done in time fails its plan for good", async () => {
    await using world = await running({ work: ["seed"] });
    await world.clock.advance(minutes(9));
    expect((await world.plans())?.active).toBe("init");
    await world.clock.advance(minutes(2));
    const { runs = [], active, summary } = (await world.plans()) ?? {};
    expect([active, runs[0]?.state, runs[0]?.steps?.[1]?.reason]).toEqual([undefined, "Failed", "DeadlineExceeded"]);
    expect(summary).toContain("init: step seed failed: not done in time: it still waits for gold-seed-");
    await world.clock.advance(hours(3));
    expect((await world.plans())?.runs?.[0]?.number).toBe(1);
  });

  it("a deletion ends the running plan; a failed cleanup keeps the object until it is triggered again", async () => {
    await using world = await running({ work: ["seed", "shred"] });
    await world.client.delete(Vault, ref);
    await world.clock.advance(minutes(11));
    const { runs = [] } = (await world.plans()) ?? {};
    expect(runs.map(({ state }) => state)).toEqual(["Superseded", "NeverRun", "NeverRun", "Failed"]);
    await world.patch({ spec: { work: [] }, metadata: { annotations: { "plans-test.example.com/cleanup": "again" } } });
    await world.settle();
    expect(await world.client.find(Vault, ref)).toBeUndefined();
  });

  it("Events tell what happened", async () => {
    await using world = await running({ work: ["seed"] });
    await world.clock.advance(minutes(10));
    await world.clock.advance(seconds(10));
    const { items } = await world.client.list(Event, { namespace: "default" });
    expect([...new Set(items.map(({ reason }) => reason))]).toEqual(
      expect.arrayContaining(["PlanStarted", "StepDone", "PlanFailed"]),
    );
  });

  it("explainPlans tells which step waits for what", async () => {
    await using world = await running({ work: ["seed"] });
    expect(
      explainPlans(await world.plans())
        .replaceAll(/\d{4}-\S+Z/g, "TIME")
        .replaceAll(/-\w{10} /g, "-ID "),
    ).toBe(
      [
        "init: Running, run 1, Created, since TIME",
        "  Done      format   took 0s",
        "  Running   seed     waits for gold-seed-ID to finish; fails at TIME",
        "upgrade: NeverRun",
        "backup: NeverRun",
        "cleanup: NeverRun",
      ].join("\n"),
    );
    expect(explainPlans(undefined)).toBe("no plan has run");
  });

  it("the status and its columns are part of the CRD", () => {
    const [version] = crdOf(Vault).spec.versions;
    expect(version?.additionalPrinterColumns?.map(({ jsonPath }) => jsonPath)).toContain(".status.plans.summary");
  });
});

const definition = defineController(Vault, {});
const { plan, plans, step } = plansFor(definition);
type Options = StepOptions<Parameters<typeof operate>[0], typeof definition.Context, Vault["spec"]>;
const operate = (vaultObject: Parameters<ReturnType<typeof plans>["advance"]>[0]) => vaultObject;

/** A controller with one plan of one step. */
const oneStep = (options: Options) => {
  const operations = plans([plan("only", [step("one", options)], { onCreate: true })]);
  return definition.reconcile(async (at, ctx) => {
    const object = ctx.get(Vault, at);
    return object === undefined ? done() : (await operations.advance(object, ctx)).outcome;
  });
};

describe("a step", () => {
  it("that throws is retried later each time, and says why", async () => {
    const calls: number[] = [];
    const start: { at?: number } = {};
    const run: Options["run"] = async (_vault, { clock }) => {
      start.at ??= clock.now();
      calls.push(Math.round((clock.now() - start.at) / 1_000));
      if (calls.length < 5) throw new Error(`503 (${calls.length})`);
    };
    await using world = await running({}, [oneStep({ run })]);
    await world.clock.advance(seconds(4));
    expect((await world.plans())?.runs?.[0]?.steps?.[0]).toMatchObject({
      ...{ state: "Retrying", reason: "StepError", message: "503 (3)", attempts: 3 },
    });
    for (let at = 0; at < 9; at += 1) await world.patch({ metadata: { labels: { at: String(at) } } }); // no reason to hurry
    expect(calls).toHaveLength(3);
    await world.clock.advance(minutes(1));
    expect(calls).toHaveLength(5);
    for (const [index, least] of [0, 1, 3, 7, 15].entries()) expect(calls[index]).toBeGreaterThanOrEqual(least);
    expect((await world.plans())?.runs?.[0]?.state).toBe("Succeeded");
  });

  it("that throws a TerminalError fails for good", async () => {
    const run = async () => {
      throw new TerminalError("the image does not exist");
    };
    await using world = await running({}, [oneStep({ run })]);
    expect((await world.plans())?.summary).toBe("only: step one failed: the image does not exist (0 of 1 steps done)");
  });

  it("does nothing if its condition is already met", async () => {
    let calls = 0;
    const run = async () => {
      calls += 1;
    };
    await using world = await running({}, [oneStep({ run, doneWhen: () => true })]);
    expect([(await world.plans())?.runs?.[0]?.state, calls]).toEqual(["Succeeded", 0]);
  });

  it("L1: does not overwrite what another leader has recorded meanwhile", async () => {
    const others: (() => Promise<unknown>)[] = [];
    const run = async () => void (await others[0]?.());
    let theirs = false;
    await using world = await running({}, [oneStep({ run, doneWhen: () => theirs })]);
    // The other leader has found the step done, and the plan has succeeded, while we are still at the step.
    const succeeded = {
      plans: { active: null, runs: [{ name: "only", state: "Succeeded", number: 1, id: "theirs", steps: [] }] },
    };
    others.push(async () => {
      await world.client.patch(Vault, ref, { type: "merge", body: { status: succeeded } }, { subresource: "status" });
      theirs = true;
    });
    await world.patch({ spec: { version: "17" } });
    await world.settle();
    expect((await world.plans())?.runs?.[0]).toMatchObject({ state: "Succeeded", id: "theirs" });
    expect(world.journal.writes.filter(({ status }) => status === 409)).toHaveLength(1);
  });

  it("is polled if no watch reports its condition", async () => {
    let asked = 0;
    const doneWhen = () => {
      asked += 1;
      return asked > 6;
    };
    await using world = await running({}, [oneStep({ doneWhen, pollMs: seconds(30) })]);
    expect((await world.plans())?.active).toBe("only");
    await world.clock.advance(minutes(2));
    expect((await world.plans())?.runs?.[0]?.state).toBe("Succeeded");
  });
});

describe("definitions that cannot work are rejected", () => {
  const cases = [
    {
      name: "no trigger",
      list: [plan("a", [step("s", {})], {})],
      message: "expected onCreate, onChange, onAnnotation or onDelete",
    },
    { name: "no step", list: [plan("a", [], { onCreate: true })], message: "expected at least one step" },
    {
      name: "two steps of one name",
      list: [plan("a", [step("s", {}), step("s", {})], { onCreate: true })],
      message: "expected different names, found s, s",
    },
    { name: "a name that is none", list: [plan("A b", [step("s", {})], { onCreate: true })], message: 'found "A b"' },
    { name: "an annotation that is none", list: [plan("a", [step("s", {})], { onAnnotation: "a b" })], message: 'found "a b"' },
  ];
  it.each(cases)("$name", ({ list, message }) => expect(() => plans(list)).toThrow(message));
});
