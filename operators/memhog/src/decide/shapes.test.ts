// G1, G5: what memhog makes of the shapes of traces.fixture.ts, a few of each with a fixed seed. bench/memhog runs hundreds of them.
import { seededRandom } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anAppWith,
  anObservedContainer,
  anObservedPod,
  aRecord,
  now,
  samplesOf,
} from "../model/observed-app.fixture.ts";
import type { Action, Measured } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { runTrace, shapes } from "./traces.fixture.ts";
import { decisionOf, reasonOf } from "./verdict.fixture.ts";

const [leaks, others] = [shapes.filter(({ isLeak }) => isLeak), shapes.filter(({ isLeak }) => !isLeak)];
const outcomesOf = (trace: (typeof shapes)[number]["trace"]) => [1, 2, 3, 4].map((seed) => runTrace(trace(seededRandom(seed))));

describe("G1: no leak owns a node", () => {
  it.each(leaks)("$name is stopped at 8 times its limit or less", { timeout: 60_000 }, ({ trace }) => {
    for (const { stopped, limits } of outcomesOf(trace)) {
      expect(stopped).toMatch(/^(SuspectedLeak|UsageFollowsLimit)$/);
      expect(limits.at(-1)).toBeLessThanOrEqual(3072);
    }
  });
});

describe("G1: nothing else is stopped", () => {
  it.each(others)("$name", { timeout: 60_000 }, ({ trace }) => {
    expect(outcomesOf(trace).map(({ stopped }) => stopped)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

/** Raises at these MiB, so many minutes ago. */
function raisedAt(
  levels: readonly (readonly [mibs: number, minutesAgo: number])[],
  measured: Partial<Measured> = {},
): readonly Action[] {
  return levels.map(([level, minutesAgo]) => {
    const atMs = now - minutesAgo * 60_000;
    const from = { limit: mib(Math.ceil(level / 0.75)), request: mib(256) };
    const to = { limit: mib(Math.ceil(level / 0.75) * 2), request: mib(256) };
    return anAction({
      atMs,
      changes: [{ container: "memhog", from, to, measured: { usage: mib(level), atMs, restart: 0, ...measured } }],
    });
  });
}
const grown = { limit: mib(3072), samples: samplesOf([2300, 2304, 2308]) };
const steps = (minutes: readonly number[]) => [288, 576, 1152].map((level, at) => [level, minutes[at] ?? 0] as const);
const after = (actions: readonly Action[]) => anAppWith(grown, { record: aRecord({ actions }) });

describe("G1: the shape of several raises", () => {
  it.each([
    { name: "a constant rate over minutes is a leak", actions: raisedAt(steps([34, 29, 19])), reason: "SuspectedLeak" },
    {
      name: "a constant rate over months is a leak",
      actions: raisedAt(steps([340_000, 290_000, 190_000])),
      reason: "SuspectedLeak",
    },
    { name: "growth that gets faster is a leak", actions: raisedAt(steps([300, 100, 20])), reason: "SuspectedLeak" },
    { name: "growth that slows down is not", actions: raisedAt(steps([300, 290, 270])), reason: "CapReached" },
    { name: "usage that fell back is not", actions: raisedAt(steps([34, 29, 19]), { fellBack: true }), reason: "CapReached" },
    { name: "two raises are too few", actions: raisedAt(steps([34, 29, 19])).slice(1), reason: "CapReached" },
  ])("$name", ({ actions, reason }) => expect(reasonOf(after(actions))).toBe(reason));

  it("says from where to where it grew", () => {
    expect(decisionOf(after(raisedAt(steps([34, 29, 19])))).detail).toContain(
      "it grew from 288Mi to 2308Mi over 3 raises and never fell back",
    );
  });

  it("C3, E1: that usage fell back is stored once, with the raise that it followed", () => {
    const low = anAppWith(
      { limit: mib(2304), samples: samplesOf([700, 700, 700]) },
      { record: aRecord({ actions: raisedAt([[1152, 10]]) }) },
    );
    const { record } = decide(low);
    expect(record.actions[0]?.changes[0]?.measured).toMatchObject({ usage: mib(1152), fellBack: true });
    expect(decide({ ...low, record }).record).toBe(record);
    const higher = anAppWith({ limit: mib(2304), samples: samplesOf([900, 900, 900]) }, { record: low.record });
    expect(decide(higher).record.actions[0]?.changes[0]?.measured?.fellBack).toBeUndefined();
  });
});

describe("a stop belongs to one container", () => {
  it("a leaking sidecar does not keep the main container from being raised", () => {
    const main = anObservedContainer({ name: "main", samples: samplesOf([300, 300, 300]) });
    const pods = [anObservedPod({ containers: [anObservedContainer(grown), main] })];
    const plan = decide(anApp({ pods, record: aRecord({ actions: raisedAt(steps([3, 2, 1])) }) }));
    expect(plan.record.stops).toMatchObject([{ reason: "SuspectedLeak", uid: "pod-1", container: "memhog" }]);
    expect(plan.record.intents.map(({ changes }) => changes.map(({ container }) => container))).toEqual([["main"]]);
    const again = decide(anApp({ pods, record: { ...plan.record, intents: [] } }));
    expect(again.verdicts.map(({ decision }) => decision.reason)).toEqual(["SuspectedLeak", "ThresholdCrossed"]);
  });
});

it("G1: nothing is raised on a node that reports MemoryPressure, not even after an OOM kill, which is answered later", () => {
  const under = (underPressure: boolean) => {
    const oomKill = { restart: 0, atMs: now - 1_000, stillDown: false };
    const seen = anAppWith({ restarts: 1, oomKill });
    return { ...seen, pods: seen.pods.map((pod) => ({ ...pod, node: pod.node && { ...pod.node, underPressure } })) };
  };
  const held = decide(under(true));
  expect(held.verdicts[0]?.decision.reason).toBe("NodeUnderPressure");
  expect(held.record.kills).toEqual([]);
  expect(decide({ ...under(false), record: held.record }).verdicts[0]?.decision.reason).toBe("OutOfMemory");
});

describe("G5: usage that follows the limit", () => {
  const restarted = (before: Partial<Measured>, mibs: readonly number[]) => {
    const actions = raisedAt([[307, 5]], before).map((action) => ({ ...action, method: "Template" as const }));
    return reasonOf(anAppWith({ limit: mib(820), samples: samplesOf(mibs) }, { record: aRecord({ actions }) }));
  };

  it.each([
    {
      name: "80 % of one limit and then of the next, standing still each time",
      before: { still: true },
      mibs: [656, 656, 656],
      reason: "UsageFollowsLimit",
    },
    { name: "not if it was growing when it was raised", before: {}, mibs: [656, 656, 656], reason: "ThresholdCrossed" },
    { name: "not if it grows now", before: { still: true }, mibs: [620, 640, 656], reason: "ThresholdCrossed" },
    {
      name: "a jump after a restart waits for the next sample",
      before: { still: true },
      mibs: [5, 656],
      reason: "AwaitingSample",
    },
  ])("$name", ({ before, mibs, reason }) => expect(restarted(before, mibs)).toBe(reason));
});
