// What lies behind a container: cooldowns and raises within the hour, by two clocks (M5).
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import type { Action, AppRecord, Stop } from "../model/record.ts";
import {
  anAction,
  anApp,
  anAppWith,
  anIntent,
  aPodSeen,
  aPolicy,
  aRecord,
  now,
  raises,
  samplesOf,
} from "../model/seen.fixture.ts";
import type { AppSeen } from "../model/seen.ts";
import { decisionOf, inputsFor, reasonOf } from "./verdict.fixture.ts";

const hot = samplesOf([370, 370, 370]);
const ago = (ms: number) => ({ atMs: now - ms });
const witness = (ms: number) => ({ raisedAgoMs: new Map([["pod-1", ms]]) });
const having = (record: Partial<AppRecord>, different: Partial<AppSeen> = {}) =>
  anAppWith({ samples: hot }, { record: aRecord(record), ...different });

describe("cooldown", () => {
  const cases: readonly { readonly name: string; readonly seen: AppSeen; readonly leftMs: number }[] = [
    { name: "none without a raise", seen: having({}), leftMs: 0 },
    { name: "runs from the last raise of the pod", seen: having({ actions: [anAction(ago(20_000))] }), leftMs: 40_000 },
    { name: "is over after cooldownSeconds", seen: having({ actions: [anAction(ago(60_000))] }), leftMs: 0 },
    {
      name: "counts a raise whose limits are confirmed while the request waits for room",
      seen: having({ intents: [anIntent({ ...ago(10_000), limitsApplied: true })] }),
      leftMs: 50_000,
    },
    {
      name: "does not count what failed",
      seen: having({ actions: [anAction({ ...ago(5_000), outcome: "Infeasible" })] }, witness(5_000)),
      leftMs: 0,
    },
    {
      name: "does not count another pod that was raised in place",
      seen: having({ actions: [anAction({ ...ago(5_000), pod: { name: "memhog-2", uid: "pod-2" } })] }),
      leftMs: 0,
    },
    {
      name: "counts another pod of the app that was redeployed",
      seen: having({ actions: [anAction({ ...ago(5_000), road: "Template", pod: { name: "gone", uid: "gone" } })] }),
      leftMs: 55_000,
    },
    {
      name: "does not count what a new pod got because it was learned before",
      seen: having({ actions: [anAction({ ...ago(5_000), reason: "LearnedBefore" })] }),
      leftMs: 0,
    },
    { name: "M5: goes by our own clock where the record was deleted", seen: having({}, witness(20_000)), leftMs: 40_000 },
    {
      name: "M5: is not over because the wall clock went an hour ahead",
      seen: having({ actions: [anAction(ago(3_620_000))] }, witness(20_000)),
      leftMs: 40_000,
    },
    {
      name: "M5: is at its start where the wall clock went an hour back",
      seen: having({ actions: [anAction(ago(-3_580_000))] }),
      leftMs: 60_000,
    },
    {
      name: "M5: goes by the record where another of us raised it since",
      seen: having({ actions: [anAction(ago(20_000))] }, witness(900_000)),
      leftMs: 40_000,
    },
  ];
  it.each(cases)("$name", ({ seen, leftMs }) => {
    expect(inputsFor(seen).cooldownLeftMs).toBe(leftMs);
    expect(reasonOf(seen)).toBe(leftMs > 0 ? "CoolingDown" : "ThresholdCrossed");
  });

  it("does not hold whoever would not live through it and half a minute more", () => {
    const seen = having({ actions: [anAction(ago(20_000))] });
    const growing = (mibs: readonly number[]) => anAppWith({ samples: samplesOf(mibs, 12_000, 0) }, { record: seen.record });
    expect(reasonOf(growing([300, 312, 324]))).toBe("ThresholdCrossed"); // 60 s to live, 40 + 30 to wait
    expect(reasonOf(growing([294, 300, 306]))).toBe("CoolingDown"); // 156 s to live
  });
});

// Found by the dice: with a cooldown that seems to begin anew, nobody seems to live through it.
it("M5: a wall clock that went back does not let anybody off the cooldown", () => {
  const growing = { samples: samplesOf([264, 276, 290], 12_000, 0) }; // 80 s to live
  const policies = [aPolicy({ cooldownMs: 600_000 })];
  const after = (wallClockMs: number) =>
    anAppWith(growing, { policies, record: aRecord({ actions: [anAction(ago(wallClockMs))] }), ...witness(590_000) });
  expect(reasonOf(after(590_000))).toBe("CoolingDown"); // 10 + 30 s
  expect(reasonOf(after(-3_010_000))).toBe("CoolingDown");
});

describe("the trend after a raise", () => {
  const doubled = { limit: mib(768), request: mib(512) };
  const after = (mibs: readonly number[], action: Partial<Action> = {}) =>
    anAppWith(
      { ...doubled, samples: samplesOf(mibs, 12_000, 8_000) },
      { record: aRecord({ actions: [anAction({ ...ago(5_000), ...action })] }) },
    );
  const byAThird = [{ container: "memhog", from: { limit: mib(576), request: mib(512) }, to: doubled }];

  it.each([
    { name: "is not believed after one jump", seen: after([5, 300]), reason: "BelowThreshold" },
    { name: "is believed where memory grew twice in a row", seen: after([5, 150, 300]), reason: "WillRunOut" },
    { name: "is not believed where it grew, and stayed before", seen: after([150, 150, 330]), reason: "BelowThreshold" },
    { name: "is believed after a raise that gave little", seen: after([5, 300], { changes: byAThird }), reason: "WillRunOut" },
    { name: "is believed a minute after the raise", seen: after([5, 300], ago(60_000)), reason: "WillRunOut" },
    {
      name: "is believed after a raise that came to nothing",
      seen: after([5, 300], { outcome: "Refused" }),
      reason: "WillRunOut",
    },
  ])("$name", ({ seen, reason }) => expect(reasonOf(seen)).toBe(reason));

  it("says so", () => {
    expect(decisionOf(after([5, 300])).detail).toMatch(
      /reaches the limit in \d+ s, unless that was one jump: it was raised since$/,
    );
    expect(decisionOf(after([300, 300])).detail).not.toContain("jump");
  });
});

describe("G1: the leak brake", () => {
  const stop = (different: Partial<Stop> = {}): Stop => ({
    reason: "SuspectedLeak",
    ...ago(60_000),
    monitorUid: "monitor-uid",
    monitorGeneration: 1,
    ...different,
  });

  const cases: readonly { readonly name: string; readonly seen: AppSeen; readonly reason: string }[] = [
    { name: "lets the sixth raise of an hour pass", seen: having({ actions: raises(5) }), reason: "ThresholdCrossed" },
    { name: "stops the seventh", seen: having({ actions: raises(6) }), reason: "SuspectedLeak" },
    {
      name: "has a measure of its own in the AppMonitor",
      seen: having({ actions: raises(2) }, { policies: [aPolicy({ maxRaisesPerHour: 2 })] }),
      reason: "SuspectedLeak",
    },
    { name: "forgets what is an hour old", seen: having({ actions: raises(6, {}, 600_000) }), reason: "ThresholdCrossed" },
    {
      name: "does not count what new pods got because it was learned before",
      seen: having({ actions: raises(6).map((action) => ({ ...action, reason: "LearnedBefore" as const })) }),
      reason: "ThresholdCrossed",
    },
    {
      name: "does not count the raises in place of other pods",
      seen: having({ actions: raises(6).map((action) => ({ ...action, pod: { name: "memhog-2", uid: "pod-2" } })) }),
      reason: "ThresholdCrossed",
    },
    {
      name: "counts redeployments of the app, whichever pod they began with",
      seen: having({
        actions: raises(6).map((action, i) => ({ ...action, road: "CopyPod" as const, pod: { name: `${i}`, uid: `${i}` } })),
      }),
      reason: "SuspectedLeak",
    },
    {
      name: "M5: is not talked round by a wall clock that went an hour ahead",
      seen: having({ actions: raises(6).map((action) => ({ ...action, atMs: action.atMs - 3_600_000 })) }, witness(300_000)),
      reason: "SuspectedLeak",
    },
    { name: "holds while the stop is stored", seen: having({ stops: [stop({ uid: "pod-1" })] }), reason: "SuspectedLeak" },
    { name: "holds a whole app", seen: having({ stops: [stop({ reason: "Contested" })] }), reason: "Contested" },
    { name: "does not hold another pod", seen: having({ stops: [stop({ uid: "pod-2" })] }), reason: "ThresholdCrossed" },
    {
      name: "is lifted by an edit of the AppMonitor, and counts anew",
      seen: having({ stops: [stop({ uid: "pod-1" })], actions: raises(6) }, { policies: [aPolicy({ generation: 2 })] }),
      reason: "ThresholdCrossed",
    },
    {
      name: "is lifted by another AppMonitor",
      seen: having({ stops: [stop({ uid: "pod-1" })], actions: raises(6) }, { policies: [aPolicy({ uid: "another" })] }),
      reason: "ThresholdCrossed",
    },
    {
      name: "stops a kill as well as a crossing",
      seen: having(
        { actions: raises(6) },
        { pods: anAppWith({ oomKill: { restart: 0, atMs: now - 1_000, stillDown: false } }).pods },
      ),
      reason: "SuspectedLeak",
    },
    {
      name: "does not stop what needs no raise",
      seen: having({ actions: raises(6) }, { pods: [aPodSeen()] }),
      reason: "BelowThreshold",
    },
    {
      name: "leaves the word to a cap that is reached: nothing would be given anyway, and a stop has to be lifted by hand",
      seen: having({ actions: raises(6) }, { policies: [aPolicy({ maxMemory: anApp().pods[0]?.containers[0]?.limit })] }),
      reason: "AtCeiling",
    },
  ];
  it.each(cases)("$name", ({ seen, reason }) => expect(reasonOf(seen)).toBe(reason));

  it("says how often it was raised", () => {
    const seen = having({ actions: raises(6) });
    expect(inputsFor(seen).raisesLastHour).toBe(6);
    expect(decisionOf(seen).detail).toContain("it was raised 6 times within an hour, and maxRaisesPerHour is 6");
  });
});
