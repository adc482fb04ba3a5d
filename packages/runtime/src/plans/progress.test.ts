import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../objects/time.ts";
import { met, waiting } from "./checks.ts";
import type { Block, PlanDefinition, PlanOptions } from "./plan.ts";
import { type Attempt, activeRun, begin, findRun, type Observed, readySteps, record } from "./progress.ts";
import type { PlansStatus } from "./status.ts";

type AnyBlock = Block<never, never, never>;
type AnyPlan = PlanDefinition<never, never, never>;

const start = Date.parse("2026-01-01T00:00:00Z");
const step = (name: string, timeoutMs?: number): AnyBlock => ({ kind: "step", name, ...(timeoutMs && { timeoutMs }) });
const serial = (...blocks: readonly AnyBlock[]) => ({ kind: "serial", blocks }) as const;
const parallel = (...blocks: readonly AnyBlock[]) => ({ kind: "parallel", blocks }) as const;
const plan = (name: string, options: PlanOptions<never>, ...blocks: readonly AnyBlock[]): AnyPlan => ({
  ...options,
  name,
  steps: serial(...(blocks.length === 0 ? [step("only")] : blocks)),
});
const init = plan("init", { onCreate: true });
const upgrade = plan("upgrade", { onChange: ["version" as never] }, step("dump"), step("switch"));
const restarting = { ...upgrade, whenChanged: "restart" } as const;
const backup = plan("backup", { onAnnotation: "now" });
const cleanup = plan("cleanup", { onDelete: true, onAnnotation: "clean" });

const observed = (differs: Partial<Observed> = {}): Observed => ({
  ...{ uid: "u", spec: { version: "15" }, annotations: {}, deleting: false, nowMs: start },
  ...differs,
});
const v = (version: string) => observed({ spec: { version } });

/** The states of all plans: "init:Running upgrade:NeverRun". */
const statesOf = ({ runs = [] }: PlansStatus) => runs.map(({ name, state }) => `${name}:${state}`).join(" ");
const stepsOf = (status: PlansStatus, name: string) =>
  findRun(status, name)
    ?.steps?.map((one) => `${one.name}:${one.state}`)
    .join(" ");

/** Records the same result for every step until the running plan has ended. */
function finish(plans: readonly AnyPlan[], status: PlansStatus, result: Attempt = met, nowMs = start): PlansStatus {
  const run = activeRun(status);
  if (run === undefined) return status;
  const running = run.steps?.filter(({ state }) => state === "Running" || state === "Retrying") ?? [];
  return finish(plans, record(plans, status, new Map(running.map(({ name }) => [name, result])), nowMs).status, result, nowMs);
}

/** Begins and finishes until nothing is triggered. */
function live(plans: readonly AnyPlan[], status: PlansStatus, seen: Observed, result: Attempt = met): PlansStatus {
  const begun = begin(plans, status, seen).status;
  return activeRun(begun) === undefined ? begun : live(plans, finish(plans, begun, result), seen, result);
}

const failure: Attempt = { kind: "failed", message: "the disk is full" };
const all = [init, upgrade, backup, cleanup];
const settled = live(all, {}, v("15"));

describe("which plan starts", () => {
  const cases: readonly { name: string; plans?: readonly AnyPlan[]; before?: PlansStatus; seen: Observed; starts: string }[] = [
    { name: "onCreate runs at first", before: {}, seen: v("15"), starts: "init" },
    {
      name: "a change during the first plan waits for its end",
      before: begin(all, {}, v("15")).status,
      seen: v("16"),
      starts: "init",
    },
    {
      name: "a change during the first plan runs after it",
      before: finish(all, begin(all, {}, v("15")).status),
      seen: v("16"),
      starts: "upgrade",
    },
    { name: "nothing changes: nothing runs", seen: v("15"), starts: "" },
    { name: "onChange runs after a change", seen: v("16"), starts: "upgrade" },
    { name: "a field that is removed has changed", seen: observed({ spec: {} }), starts: "upgrade" },
    { name: "fields that trigger nothing change nothing", seen: observed({ spec: { version: "15", size: 3 } }), starts: "" },
    { name: "onAnnotation runs for a new value", seen: observed({ annotations: { now: "1" } }), starts: "backup" },
    {
      name: "onAnnotation runs once for a value",
      before: live(all, settled, observed({ annotations: { now: "1" } })),
      seen: observed({ annotations: { now: "1" } }),
      starts: "",
    },
    {
      name: "onAnnotation does not run again when the annotation is removed",
      before: live(all, settled, observed({ annotations: { now: "1" } })),
      seen: observed(),
      starts: "",
    },
    {
      name: "a very long value of the annotation counts once, too",
      before: live(all, settled, observed({ annotations: { now: "x".repeat(9_999) } })),
      seen: observed({ annotations: { now: "x".repeat(9_999) } }),
      starts: "",
    },
    {
      name: "of two that are triggered, the first in the list runs",
      seen: observed({ spec: { version: "16" }, annotations: { now: "1" } }),
      starts: "upgrade",
    },
    { name: "onDelete runs when the object is deleted", seen: observed({ deleting: true }), starts: "cleanup" },
    { name: "the annotation of a cleanup plan does nothing before", seen: observed({ annotations: { clean: "1" } }), starts: "" },
    {
      name: "nothing else starts while the object is being deleted",
      before: live(all, settled, observed({ deleting: true })),
      seen: observed({ deleting: true, spec: { version: "16" }, annotations: { now: "1" } }),
      starts: "",
    },
    {
      name: "a failed plan does not run again by itself",
      before: live(all, settled, v("16"), failure),
      seen: v("16"),
      starts: "",
    },
    {
      name: "a failed plan runs again after another change",
      before: live(all, settled, v("16"), failure),
      seen: v("17"),
      starts: "upgrade",
    },
    {
      name: "a failed plan runs again when the change is reverted",
      before: live(all, settled, v("16"), failure),
      seen: v("15"),
      starts: "upgrade",
    },
    {
      name: "a failed cleanup does not run again by itself",
      before: live(all, settled, observed({ deleting: true }), failure),
      seen: observed({ deleting: true }),
      starts: "",
    },
    {
      name: "a failed cleanup runs again by annotation",
      before: live(all, settled, observed({ deleting: true }), failure),
      seen: observed({ deleting: true, annotations: { clean: "again" } }),
      starts: "cleanup",
    },
    {
      name: "a field that a new version of the operator adds to onChange is no change",
      plans: [init, { ...upgrade, onChange: ["version" as never, "size" as never] }],
      seen: observed({ spec: { version: "15", size: 3 } }),
      starts: "",
    },
    {
      name: "a plan that a new version of the operator adds runs if it has onCreate",
      plans: [init, plan("migrate", { onCreate: true })],
      seen: v("15"),
      starts: "migrate",
    },
  ];
  it.each(cases)("$name", ({ plans = all, before = settled, seen, starts }) =>
    expect(activeRun(begin(plans, before, seen).status)?.name ?? "").toBe(starts),
  );
});

describe("a change while the plan runs", () => {
  const running = begin([upgrade], live([upgrade], {}, v("15")), v("16")).status;

  it("leaves the values of the run as they are, and runs the plan again afterwards", () => {
    const during = begin([upgrade], running, v("17")).status;
    expect(activeRun(during)).toMatchObject({ number: 1, values: { version: "16" }, settled: { version: "15" } });
    const after = begin([upgrade], finish([upgrade], during), v("17")).status;
    expect(activeRun(after)).toMatchObject({ number: 2, values: { version: "17" }, settled: { version: "16" } });
  });

  it("with whenChanged: restart, ends the run and starts from the first step", () => {
    const once = record([restarting], running, new Map([["dump", met]]), start).status;
    expect(stepsOf(once, "upgrade")).toBe("dump:Done switch:Running");
    const { status, events } = begin([restarting], once, v("17"));
    expect(stepsOf(status, "upgrade")).toBe("dump:Running switch:Pending");
    expect(activeRun(status)).toMatchObject({ number: 2, values: { version: "17" }, settled: { version: "15" } });
    expect(events.map(({ reason }) => reason)).toEqual(["PlanSuperseded", "PlanStarted"]);
  });

  it("a deletion ends the run and starts the cleanup", () => {
    const { status } = begin([upgrade, cleanup], running, observed({ deleting: true, spec: { version: "16" } }));
    expect(statesOf(status)).toBe("upgrade:Superseded cleanup:Running");
    expect(stepsOf(status, "upgrade")).toBe("dump:Pending switch:Pending");
  });

  it("another version of the operator keeps what is done, and runs a step that it adds", () => {
    const once = record([upgrade], running, new Map([["dump", met]]), start).status;
    const next = { ...upgrade, steps: serial(step("dump"), step("check"), step("switch")) };
    const { status } = record([next], begin([next], once, v("16")).status, new Map(), start);
    expect(stepsOf(status, "upgrade")).toBe("dump:Done check:Running switch:Running");
  });
});

describe("which steps are ready", () => {
  const blocks = serial(step("a"), parallel(step("b"), serial(step("c"), step("d"))), step("e"));
  const cases = [
    { done: "", starts: "a" },
    { done: "a", starts: "b c" },
    { done: "a c", starts: "b d" },
    { done: "a b", starts: "c" },
    { done: "a b c", starts: "d" },
    { done: "a b c d", starts: "e" },
    { done: "a b c d e", starts: "" },
  ];
  it.each(cases)('after "$done": "$starts"', ({ done, starts }) => {
    const steps = done.split(" ").map((name) => ({ name, state: "Done" as const }));
    expect(readySteps(blocks, { name: "p", state: "Running", number: 1, steps }).join(" ")).toBe(starts);
  });
});

describe("the results of steps", () => {
  const limited = plan(
    "limited",
    { onCreate: true, timeoutMs: minutes(5) },
    parallel(step("a", minutes(1)), step("b")),
    step("c"),
  );
  const begun = begin([limited], {}, observed()).status;
  const after = (results: Readonly<Record<string, Attempt>>, nowMs = start, before = begun) =>
    record([limited], before, new Map(Object.entries(results)), nowMs);
  const error: Attempt = { kind: "error", message: "503" };

  it("a step that is done lets the next one start", () => {
    const { status } = after({ a: met, b: met });
    expect(stepsOf(status, "limited")).toBe("a:Done b:Done c:Running");
  });

  it("a waiting step says for what", () => {
    const { status, events } = after({ a: waiting("the moon"), b: met });
    expect(status.summary).toBe("limited: step a waits for the moon (1 of 3 steps done)");
    expect(events.map(({ reason }) => reason)).toEqual(["StepDone"]);
  });

  it("a steady state does not change: the same result twice gives the same status", () => {
    const once = after({ a: waiting("the moon"), b: met }).status;
    expect(after({ a: waiting("the moon") }, start + seconds(30), once).status).toEqual(once);
  });

  it("an error is retried later each time, and counted", () => {
    const delays = Array.from({ length: 12 }).reduce<{ status: PlansStatus; delays: number[] }>(
      ({ status, delays: sofar }) => {
        const next = after({ b: error }, start, status).status;
        const [, b] = findRun(next, "limited")?.steps ?? [];
        return { status: next, delays: [...sofar, (Date.parse(b?.nextAttemptAt ?? "") - start) / 1_000] };
      },
      { status: begun, delays: [] },
    ).delays;
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  });

  it("a step that fails for good fails the plan, and stops the steps beside it", () => {
    const { status, events } = after({ a: failure, b: waiting("something") });
    expect(statesOf(status)).toBe("limited:Failed");
    expect(stepsOf(status, "limited")).toBe("a:Failed b:Pending c:Pending");
    expect(events).toContainEqual({
      type: "Warning",
      reason: "PlanFailed",
      message: "Plan limited, step a failed: the disk is full",
    });
  });

  const deadlines = [
    { name: "before its deadline a step waits", at: seconds(59), result: waiting("x"), starts: "a:Running b:Running c:Pending" },
    {
      name: "at its deadline a waiting step fails",
      at: seconds(60),
      result: waiting("x"),
      starts: "a:Failed b:Pending c:Pending",
    },
    {
      name: "at its deadline a failing step fails for good",
      at: seconds(60),
      result: error,
      starts: "a:Failed b:Pending c:Pending",
    },
    {
      name: "a step that is done after its deadline is done",
      at: seconds(61),
      result: met,
      starts: "a:Done b:Running c:Pending",
    },
    {
      name: "at the deadline of the plan, what is not done fails",
      at: minutes(5),
      result: met,
      starts: "a:Done b:Failed c:Pending",
    },
  ];
  it.each(deadlines)("$name", ({ at, result, starts }) => {
    const { status } = after({ a: result, b: waiting("y") }, start + at);
    expect(stepsOf(status, "limited")).toBe(starts);
  });

  it("a message that is too long for the status is cut", () => {
    const { status } = after({ a: waiting("x".repeat(5_000)) });
    expect(findRun(status, "limited")?.steps?.[0]?.message).toHaveLength(1_024);
  });
});
