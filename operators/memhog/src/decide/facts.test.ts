// What lies behind a container: cooldowns and raises within the hour, by two clocks (M5).
import { describe, expect, it } from "vitest";
import { bytes, MiB, mib } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anAppWith,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  now,
  raises,
  samplesOf,
} from "../model/observed-app.fixture.ts";
import {
  type ObservedApp,
  type ObservedContainer,
  type ObservedPod,
  resizesInPlace,
  type Sample,
} from "../model/observed-app.ts";
import type { Action, AppRecord, Stop } from "../model/plan.ts";
import { crosses, thresholdOf, trendOf, willRunOut } from "./facts.ts";
import { decisionOf, inputsFor, reasonOf } from "./verdict.fixture.ts";

const hot = samplesOf([370, 370, 370]);
const ago = (ms: number) => ({ atMs: now - ms });
const witness = (ms: number) => ({ raisedAgoMs: new Map([["pod-1", ms]]) });
const having = (record: Partial<AppRecord>, different: Partial<ObservedApp> = {}) =>
  anAppWith({ samples: hot }, { record: aRecord(record), ...different });

describe("cooldown", () => {
  const cases: readonly { readonly name: string; readonly seen: ObservedApp; readonly leftMs: number }[] = [
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
      seen: having({ actions: [anAction({ ...ago(5_000), method: "Template", pod: { name: "gone", uid: "gone" } })] }),
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
    {
      name: "waits for the next sample while it can: the growth may be over",
      seen: after([5, 150, 300]),
      reason: "BelowThreshold",
    },
    {
      name: "is believed where memory grew twice and the next sample is too late",
      seen: after([5, 250, 500]),
      reason: "WillRunOut",
    },
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
      /reaches the limit in \d+ s, unless the growth ends: the next sample will tell$/,
    );
    expect(decisionOf(after([300, 300])).detail).not.toContain("unless");
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

  const cases: readonly { readonly name: string; readonly seen: ObservedApp; readonly reason: string }[] = [
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
        actions: raises(6).map((action, i) => ({ ...action, method: "CopyPod" as const, pod: { name: `${i}`, uid: `${i}` } })),
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
      seen: having({ actions: raises(6) }, { pods: [anObservedPod()] }),
      reason: "BelowThreshold",
    },
    {
      name: "leaves the word to a cap that is reached: nothing would be given anyway, and a stop has to be lifted by hand",
      seen: having({ actions: raises(6) }, { policies: [aPolicy({ maxMemory: anApp().pods[0]?.containers[0]?.limit })] }),
      reason: "CapReached",
    },
  ];
  it.each(cases)("$name", ({ seen, reason }) => expect(reasonOf(seen)).toBe(reason));

  it("says how often it was raised", () => {
    const seen = having({ actions: raises(6) });
    expect(inputsFor(seen).raisesLastHour).toBe(6);
    expect(decisionOf(seen).detail).toContain("it was raised 6 times within an hour, and maxRaisesPerHour is 6");
  });
});

const limit = mib(384);

describe("the table in the comment", () => {
  it.each([
    { seenAt: 15, growth: 10, predicted: 150, runsOutIn: 23.4, raise: false },
    { seenAt: 20, growth: 10, predicted: 200, runsOutIn: 18.4, raise: true },
    { seenAt: 30, growth: 10, predicted: 300, runsOutIn: 8.4, raise: true },
  ])(
    "a ramp of 10 MiB/s, seen $seenAt s after its start: $predicted MiB by now",
    ({ seenAt, growth, predicted, runsOutIn, raise }) => {
      const trend = trendOf(rampSeen({ rate: 10, takenAt: [0, 12, 25], seenAt }), limit);
      expect(trend?.growth).toBeCloseTo(growth * MiB);
      expect(trend?.predicted).toBeCloseTo(predicted * MiB);
      expect(trend?.runsOutInMs).toBeCloseTo(runsOutIn * 1000);
      expect(willRunOut(trend, limit, 60_000)).toBe(raise);
    },
  );

  it("leaves a ramp of 1 MiB/s to the threshold, a MiB before it", () => {
    const trend = trendOf(samplesOf([263, 275, 287], 12_000, 0), limit);
    expect(trend?.runsOutInMs).toBeCloseTo(97_000);
    expect(willRunOut(trend, limit, 60_000)).toBe(false);
  });
});

// Whenever the kubelet looks (every 10-15 s) and however long its figure takes to reach us (a scrape and a loop of 5 s each), there
// is a look at which the ramp is caught before it ends.
describe.each([2, 5, 10])("an endless ramp of %i MiB/s at 384Mi", (rate) => {
  const endsAt = 384 / rate;
  const schedules = [10, 12, 15].flatMap((every) =>
    [0, 1, 3, 5].flatMap((start) => [2, 6, 10].map((lag) => ({ every, start, lag }))),
  );

  it.each(schedules)(
    "is caught in time: looked at every $every s from $start s on, seen $lag s later",
    ({ every, start, lag }) => {
      const takenAt = Array.from({ length: Math.ceil(endsAt / every) + 1 }, (_, i) => start + i * every);
      const caughtAt = [...Array(Math.floor(endsAt)).keys()].find((seenAt) => {
        const samples = rampSeen({ rate, takenAt: takenAt.filter((at) => at + lag <= seenAt), seenAt });
        const used = samples.at(-1)?.bytes ?? 0;
        return used >= 0.75 * limit || willRunOut(trendOf(samples, limit), limit, 60_000);
      });
      // A loop of 5 s comes up to 5 s after the first moment at which it would be caught.
      expect(caughtAt).toBeLessThan(endsAt - 5);
    },
  );
});

describe("no trend", () => {
  const cases: readonly { readonly name: string; readonly samples: readonly Sample[] }[] = [
    { name: "without samples", samples: [] },
    { name: "from one sample", samples: samplesOf([300]) },
    { name: "from samples less than 4 s apart", samples: samplesOf([100, 300], 3_999) },
    { name: "where memory stays", samples: samplesOf([300, 300, 300]) },
    { name: "where memory shrinks", samples: samplesOf([300, 280, 260]) },
    { name: "where a burst is over", samples: samplesOf([100, 250, 250]) },
    { name: "where it dipped and only recovers", samples: samplesOf([300, 200, 290]) },
    { name: "from an age that is no number", samples: [{ bytes: mib(100), ageMs: Number.NaN }, ...samplesOf([300])] },
    { name: "from the future", samples: [...samplesOf([100]), { bytes: mib(380), ageMs: -5_000 }] },
  ];
  it.each(cases)("$name", ({ samples }) => expect(trendOf(samples, limit)).toBeUndefined());
});

it("G6: an idle minute does not hide a ramp: a step of 60 MiB may be one of 5 MiB/s", () => {
  const trend = trendOf(samplesOf([200, 200, 200, 200, 260]), limit);
  expect(trend?.growth).toBeCloseTo(5 * MiB);
  expect(trend?.steady).toBe(false);
});

it("counts only what exceeds the highest usage before: recovering from a dip is not growth", () => {
  expect(trendOf(samplesOf([250, 100, 262]), limit)?.growth).toBeCloseTo(MiB);
});

it("G6: extrapolates by one step at most, and never for more than 15 s", () => {
  expect(trendOf(samplesOf([100, 150, 200], 10_000, 30_000), limit)?.predicted).toBeCloseTo(250 * MiB);
  expect(trendOf(samplesOf([100, 150, 200], 30_000, 30_000), limit)?.predicted).toBeCloseTo(225 * MiB);
});

it("goes by the last two samples where they are more than a minute apart", () => {
  expect(trendOf(samplesOf([100, 220], 120_000), limit)?.growth).toBeCloseTo(MiB);
});

it("never looks ahead where lookaheadSeconds is 0", () => {
  expect(willRunOut(trendOf(samplesOf([100, 380]), limit), limit, 0)).toBe(false);
});

it("says 0 where the limit should have been reached by now", () => {
  expect(trendOf(samplesOf([100, 340], 12_000, 10_000), limit)?.runsOutInMs).toBe(0);
});

function rampSeen(ramp: {
  readonly rate: number;
  readonly takenAt: readonly number[];
  readonly seenAt: number;
}): readonly Sample[] {
  return ramp.takenAt
    .filter((at) => at <= ramp.seenAt)
    .map((at) => ({ bytes: bytes(ramp.rate * at * MiB), ageMs: (ramp.seenAt - at) * 1000 }));
}

const cases = [
  { name: "a byte below 75 % of 384Mi is below", usage: bytes(mib(288) - 1), limit: mib(384), percent: 75, crossed: false },
  {
    name: "exactly 75 % of 384Mi crosses the threshold",
    usage: mib(288),
    limit: mib(384),
    percent: 75,
    crossed: true,
  },
  { name: "the same usage does not cross the doubled limit", usage: mib(288), limit: mib(768), percent: 75, crossed: false },
  { name: "a percentage need not be whole", usage: mib(72.5), limit: mib(100), percent: 72.5, crossed: true },
  { name: "100 % is the limit itself", usage: mib(384), limit: mib(384), percent: 100, crossed: true },
  { name: "100 % is not a byte less", usage: bytes(mib(384) - 1), limit: mib(384), percent: 100, crossed: false },
  { name: "1 % of a small limit", usage: bytes(11), limit: bytes(1024), percent: 1, crossed: true },
];

it.each(cases)("$name", ({ usage, limit, percent, crossed }) => {
  expect(crosses(usage, limit, percent)).toBe(crossed);
  expect(usage >= thresholdOf(limit, percent)).toBe(crossed);
});

interface Case {
  readonly name: string;
  readonly app?: Partial<ObservedApp>;
  readonly pod?: Partial<ObservedPod>;
  readonly container?: Partial<ObservedContainer>;
  readonly able: boolean;
}

const killed = { running: false, oomKill: { restart: 0, atMs: now, stillDown: true } };

const inPlaceCases: readonly Case[] = [
  { name: "what runs is resized where it is", able: true },
  { name: "not where the cluster cannot", app: { cluster: { inPlace: false, resizeAfterOomKill: false } }, able: false },
  { name: "not where the strategy is Redeploy", app: { policies: [aPolicy({ strategy: "Redeploy" })] }, able: false },
  { name: "not a pod of a sort that cannot be", pod: { notResizable: "it is a static pod" }, able: false },
  { name: "not where it would change the QoS class", pod: { qos: "BestEffort" }, able: false },
  { name: "not a pod that has ended, whatever killed it", pod: { phase: "Failed" }, container: killed, able: false },
  { name: "what was killed, where Kubernetes can", container: killed, able: true },
  {
    name: "not what was killed, before Kubernetes 1.37",
    app: { cluster: { inPlace: true, resizeAfterOomKill: false } },
    container: killed,
    able: false,
  },
  { name: "not what has not started yet", container: { running: false }, able: false },
  {
    name: "not what is down for another reason than its last kill",
    container: { running: false, oomKill: { ...killed.oomKill, stillDown: false } },
    able: false,
  },
];

it.each(inPlaceCases)("$name", ({ app, pod, container, able }) => {
  expect(resizesInPlace(anApp(app), anObservedPod(pod), anObservedContainer(container))).toBe(able);
});
