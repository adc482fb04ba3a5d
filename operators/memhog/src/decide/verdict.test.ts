// The order of the questions: every row is a world in which more than one reason holds, and says which one is told.
import { describe, expect, it } from "vitest";
import { bytes, mib } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anAppWith,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  hpa,
  hungry,
  now,
  samplesOf,
  underWay,
  vpa,
} from "../model/observed-app.fixture.ts";
import type { ObservedApp, ObservedContainer, ObservedPod } from "../model/observed-app.ts";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import { decisionOf, inputsFor, reasonOf, verdictOf } from "./verdict.fixture.ts";
import { verdictsOn } from "./verdict.ts";

const world = (app: Partial<ObservedApp> = {}, container: Partial<ObservedContainer> = hungry, pod: Partial<ObservedPod> = {}) =>
  anAppWith(container, app, pod);
const off = { metrics: { available: false, freshForMs: 60_000, unavailableForMs: 90_000, problem: "ECONNREFUSED" } };
const paused = aPolicy({ paused: true });
const learned = (ageMs: number) =>
  aRecord({ learned: [{ container: "memhog", limit: mib(1024), request: mib(600), atMs: now - ageMs }] });

const cases: readonly { readonly name: string; readonly seen: ObservedApp; readonly reason: string }[] = [
  { name: "a hot container is raised", seen: world(), reason: "ThresholdCrossed" },
  { name: "a quiet one is not", seen: anApp(), reason: "BelowThreshold" },
  {
    name: "a pod that goes away, before everything",
    seen: world({ policies: [paused] }, hungry, { deleting: true, monitored: false }),
    reason: "Terminating",
  },
  {
    name: "the annotation, before the AppMonitors",
    seen: world({ policies: [] }, hungry, { monitored: false }),
    reason: "NotMonitored",
  },
  { name: "no AppMonitor, before the missing limit", seen: world({ policies: [] }, { limit: undefined }), reason: "NoMonitor" },
  {
    name: "F2: two AppMonitors, though one is paused",
    seen: world({ policies: [paused, aPolicy({ uid: "b" })] }),
    reason: "AmbiguousMonitor",
  },
  { name: "E4: paused, before the missing limit", seen: world({ policies: [paused] }, { limit: undefined }), reason: "Paused" },
  { name: "no limit, before a VPA", seen: world(vpa, { ...hungry, limit: undefined }), reason: "NoLimit" },
  { name: "a limit of 0 is none", seen: world({}, { ...hungry, limit: bytes(0), request: bytes(0) }), reason: "NoLimit" },
  { name: "F1: a VPA, before what is under way", seen: world({ ...vpa, ...underWay() }), reason: "ManagedByAutoscaler" },
  { name: "what is under way, before the metrics", seen: world({ ...underWay(), ...off }), reason: "ResizeInProgress" },
  {
    name: "a copy that is under way holds the original",
    seen: world(underWay({ method: "CopyPod", copy: "memhog-autoscaled" })),
    reason: "ResizeInProgress",
  },
  {
    name: "a copy that is under way holds the copy",
    seen: world(underWay({ method: "CopyPod", pod: { name: "a", uid: "a" }, copyUid: anObservedPod().uid }), hungry, {
      copyOf: "a",
    }),
    reason: "ResizeInProgress",
  },
  {
    name: "a rollout holds every pod of the app",
    seen: world(underWay({ method: "Template", pod: { name: "a", uid: "a" } })),
    reason: "RolloutInProgress",
  },
  {
    name: "a raise in place of another pod holds nobody",
    seen: world(underWay({ pod: { name: "a", uid: "a" } })),
    reason: "ThresholdCrossed",
  },
  {
    name: "a request that waits for room holds nobody",
    seen: world(underWay({ limitsApplied: true, atMs: now - 70_000 })),
    reason: "ThresholdCrossed",
  },
  { name: "what was refused says so", seen: world(underWay({ waiting: { reason: "Refused" } })), reason: "Refused" },
  {
    name: "D4: what the kubelet deferred waits",
    seen: world(underWay(), hungry, { resize: { state: "deferred" } }),
    reason: "ResizeDeferred",
  },
  {
    name: "a resize by another's hand holds too",
    seen: world({}, hungry, { resize: { state: "inProgress" } }),
    reason: "ResizeInProgress",
  },
  {
    name: "a resize that ended in an error can be mended by a raise",
    seen: world({}, hungry, { resize: { state: "error" } }),
    reason: "ThresholdCrossed",
  },
  {
    name: "what was learned, before missing metrics",
    seen: world({ ...off, record: learned(7_200_000) }),
    reason: "LearnedBefore",
  },
  {
    name: "what was learned is not for pods that were there before",
    seen: world({ record: learned(60_000) }, {}),
    reason: "BelowThreshold",
  },
  {
    name: "what was learned is not worth a redeployment",
    seen: world({ record: learned(7_200_000), cluster: { inPlace: false, resizeAfterOomKill: false } }, {}),
    reason: "BelowThreshold",
  },
  {
    name: "what was learned and is capped away is no news",
    seen: world({ record: learned(7_200_000), policies: [aPolicy({ maxMemory: mib(384) })] }, {}),
    reason: "BelowThreshold",
  },
  {
    name: "what was learned and did not fit is not tried again",
    seen: world(
      { record: { ...learned(7_200_000), actions: [anAction({ reason: "LearnedBefore", outcome: "Infeasible" })] } },
      {},
    ),
    reason: "BelowThreshold",
  },
  { name: "a container that does not run, before missing metrics", seen: world(off, { running: false }), reason: "NotRunning" },
  { name: "a pod that does not run yet", seen: world({}, { running: false }, { phase: "Pending" }), reason: "NotRunning" },
  { name: "M1: missing metrics, though the last samples look fresh", seen: world(off), reason: "MetricsUnavailable" },
  { name: "M2: no sample is not zero, and not a crossing", seen: world({}, { samples: [], badSamples: 3 }), reason: "NoSample" },
  {
    name: "M2: a sample that is too old decides nothing",
    seen: world({}, { samples: samplesOf([370, 380], 12_000, 60_001) }),
    reason: "SampleStale",
  },
  {
    name: "M2: a sample that is just fresh decides",
    seen: world({}, { samples: samplesOf([370, 380], 12_000, 60_000) }),
    reason: "ThresholdCrossed",
  },
  {
    name: "M2: a sample of no age decides nothing",
    seen: world({}, { samples: [{ bytes: mib(380), ageMs: Number.NaN }] }),
    reason: "NoSample",
  },
  {
    name: "M2: a sample from the future decides nothing",
    seen: world({}, { samples: [{ bytes: mib(380), ageMs: -1 }] }),
    reason: "NoSample",
  },
  {
    name: "M2: of samples only the newest crosses",
    seen: world({}, { samples: samplesOf([380, 380, 100]) }),
    reason: "BelowThreshold",
  },
  {
    name: "the trend, before the threshold is reached",
    seen: world({}, { samples: samplesOf([0, 120], 12_000, 8_000) }),
    reason: "WillRunOut",
  },
  {
    name: "no trend where lookaheadSeconds is 0",
    seen: world({ policies: [aPolicy({ lookaheadMs: 0 })] }, { samples: samplesOf([0, 120], 12_000, 8_000) }),
    reason: "BelowThreshold",
  },
  {
    name: "what grew twice in a row and has crossed the threshold since",
    seen: world({}, { samples: samplesOf([240, 252, 264, 276], 12_000, 12_000) }),
    reason: "ThresholdCrossed",
  },
  {
    name: "what grew once may have been a jump",
    seen: world({}, { samples: samplesOf([264, 276], 12_000, 12_000) }),
    reason: "BelowThreshold",
  },
  {
    name: "the newest sample alone where lookaheadSeconds is 0",
    seen: world({ policies: [aPolicy({ lookaheadMs: 0 })] }, { samples: samplesOf([240, 252, 264, 276], 12_000, 12_000) }),
    reason: "BelowThreshold",
  },
  {
    name: "the threshold, where the trend says the same",
    seen: world({}, { samples: samplesOf([180, 300]) }),
    reason: "ThresholdCrossed",
  },
  {
    name: "Recommend, in place of a raise",
    seen: world({ policies: [aPolicy({ strategy: "Recommend" })] }),
    reason: "RecommendOnly",
  },
  {
    name: "the cap, before Recommend: nothing could be done anyway",
    seen: world({ policies: [aPolicy({ strategy: "Recommend", maxMemory: mib(384) })] }),
    reason: "CapReached",
  },
  {
    name: "F1: an HPA that would have to watch a redeployment",
    seen: world({ ...hpa, policies: [aPolicy({ strategy: "Redeploy" })] }),
    reason: "ManagedByAutoscaler",
  },
  {
    name: "F1: an HPA where request and limit are one",
    seen: world(hpa, { ...hungry, request: mib(384) }, { qos: "Guaranteed" }),
    reason: "ManagedByAutoscaler",
  },
  { name: "F1: an HPA is not named where nothing is due", seen: world(hpa, {}, { qos: "Guaranteed" }), reason: "BelowThreshold" },
];

it.each(cases)("$name", ({ seen, reason }) => expect(reasonOf(seen)).toBe(reason));

it("gives no reason that is not in the list", () => {
  for (const { seen } of cases) expect({ ...raiseReasons, ...holdReasons }).toHaveProperty(reasonOf(seen));
});

describe("the contract of AppMonitor", () => {
  it("makes 512Mi/768Mi of 256Mi/384Mi at exactly 75 %", () => {
    const seen = anAppWith({ samples: samplesOf([288]) });
    expect(decisionOf(seen)).toEqual({
      kind: "raise",
      reason: "ThresholdCrossed",
      detail: "288Mi of 384Mi are used: 75.0 %, the threshold is 75 %",
      from: { limit: mib(384), request: mib(256) },
      wanted: { limit: mib(768), request: mib(512) },
      granted: { limit: mib(768), request: mib(512) },
    });
  });

  it("raises once for one crossing: by the limit of the spec, though the kubelet has not confirmed it", () => {
    const asked = { limit: mib(768), request: mib(512), appliedLimit: mib(384), samples: samplesOf([288]) };
    expect(reasonOf(anAppWith(asked))).toBe("BelowThreshold");
  });
});

it("F1: beside an HPA by memory utilisation only the limit grows", () => {
  expect(decisionOf(world(hpa))).toMatchObject({ kind: "raise", granted: { limit: mib(768), request: mib(256) } });
});

it("tells people to whom they may turn about an HPA", () => {
  const decision = decisionOf(world({ ...hpa, policies: [aPolicy({ strategy: "Redeploy" })] }));
  expect(decision).toMatchObject({ wanted: { limit: mib(768) } });
  expect(decision.detail).toBe(
    "HorizontalPodAutoscaler/web scales on memory utilization, and the pod would have to be redeployed",
  );
});

it("gives a new pod what was learned, request included", () => {
  expect(decisionOf(world({ record: learned(7_200_000) }))).toMatchObject({
    reason: "LearnedBefore",
    granted: { limit: mib(1024), request: mib(600) },
  });
});

it("says what was measured, when, and what that makes by now", () => {
  const { detail } = decisionOf(world({}, { samples: samplesOf([240, 252, 264, 276], 13_000, 13_000) }));
  expect(detail).toBe(
    "276Mi of 384Mi are used: 71.9 %, the threshold is 75 %; that was 13 s ago, and it grows steadily: 288Mi by now",
  );
});

it("M1: says since when there are no metrics, and why", () => {
  expect(decisionOf(world(off)).detail).toBe("Prometheus has not answered for 90 s: ECONNREFUSED");
});

it("M3: the samples of a neighbour decide nothing: of six replicas only the hot one grows", () => {
  const pods = Array.from({ length: 6 }, (_, i) =>
    anObservedPod({
      name: `memhog-${i}`,
      uid: `pod-${i}`,
      containers: [anObservedContainer(i === 3 ? hungry : {}), anObservedContainer({ name: "proxy" })],
    }),
  );
  const raised = verdictsOn(anApp({ pods })).filter(({ decision }) => decision.kind === "raise");
  expect(raised.map(({ pod, container }) => `${pod.name}/${container}`)).toEqual(["memhog-3/memhog"]);
});

it("judges sidecars as it judges containers", () => {
  expect(reasonOf(world({}, { ...hungry, sidecar: true }))).toBe("ThresholdCrossed");
});

it("tells the numbers behind a verdict, also of a container that is left alone", () => {
  expect(inputsFor(anAppWith({ samples: samplesOf([120, 132], 12_000, 2_000) }))).toMatchObject({
    usage: mib(132),
    sampleAgeMs: 2_000,
    limit: mib(384),
    request: mib(256),
    thresholdBytes: mib(288),
    growth: mib(1),
    runsOutInMs: 250_000,
    cooldownLeftMs: 0,
    raisesLastHour: 0,
  });
  expect(inputsFor(world({ policies: [] }))).toMatchObject({ usage: mib(300), limit: mib(384), thresholdBytes: undefined });
});

it("is the same for the same world", () => {
  for (const { seen } of cases) expect(verdictOf(structuredClone(seen))).toEqual(verdictOf(seen));
});

describe("G6: one sample, one raise", () => {
  const measured = (agoMs: number) => ({ usage: mib(370), atMs: now - agoMs, restart: 0 });
  const raised = (raisedAgoMs: number, sampledAgoMs: number) => {
    const [change] = anAction().changes;
    if (change === undefined) throw new Error("no change");
    return anAction({ atMs: now - raisedAgoMs, changes: [{ ...change, measured: measured(sampledAgoMs) }] });
  };
  // 600 of 768 MiB, growing by 20 MiB/s: no cooldown holds this back.
  const urgent = (newestAgeMs: number) => ({ limit: mib(768), samples: samplesOf([120, 360, 600], 12_000, newestAgeMs) });
  const after = (action: ReturnType<typeof raised>, newestAgeMs: number, app: Partial<ObservedApp> = {}) =>
    anAppWith(urgent(newestAgeMs), { record: aRecord({ actions: [action] }), ...app });

  it("the sample that the last raise answered does not raise again", () => {
    expect(reasonOf(after(raised(108, 5_000), 5_000))).toBe("AwaitingSample");
  });

  it("the next sample does", () => {
    expect(reasonOf(after(raised(9_000, 14_000), 2_000))).toBe("ThresholdCrossed");
  });

  it("M5: neither does the same sample after the wall clock went an hour ahead", () => {
    const witness = { raisedAgoMs: new Map([["pod-1", 108]]) };
    expect(reasonOf(after(raised(3_600_108, 3_605_000), 5_000, witness))).toBe("AwaitingSample");
  });

  it("an OOM kill needs no new sample", () => {
    const oomKill = { restart: 0, atMs: now - 1_000, stillDown: false };
    const seen = anAppWith({ ...urgent(5_000), oomKill }, { record: aRecord({ actions: [raised(5_000, 10_000)] }) });
    expect(reasonOf(seen)).toBe("OutOfMemory");
  });
});

describe("M6: a container that is OOM-killed at its cap", () => {
  const capped = [aPolicy({ maxMemory: mib(384) })];
  const counted = aRecord({ kills: [{ uid: "pod-1", container: "memhog", restart: 4 }], oomKills: 5 });
  const killed = (agoMs: number, stillDown: boolean) => ({ restart: 4, atMs: now - agoMs, stillDown });
  const little = { samples: samplesOf([10, 10]) };
  const minute = 60_000;
  it.each([
    { name: "is reported when it is killed", of: { oomKill: killed(1_000, false) }, record: aRecord(), is: "OutOfMemoryAtCap" },
    { name: "is reported while it is down", of: { running: false, oomKill: killed(90 * minute, true) }, is: "OutOfMemoryAtCap" },
    { name: "is reported while it uses little", of: { ...little, oomKill: killed(minute, false) }, is: "OutOfMemoryAtCap" },
    { name: "is reported while it has no samples", of: { samples: [], oomKill: killed(minute, false) }, is: "OutOfMemoryAtCap" },
    {
      name: "is well after an hour without a kill",
      of: { ...little, oomKill: killed(61 * minute, false) },
      is: "BelowThreshold",
    },
    { name: "is well if it was not killed", of: little, is: "BelowThreshold" },
    { name: "is at its cap if it was not killed", of: { samples: samplesOf([300, 300]) }, is: "CapReached" },
    {
      name: "is well if the cap leaves room, and its kill was counted",
      of: { ...little, oomKill: killed(minute, false) },
      policies: [aPolicy()],
      is: "BelowThreshold",
    },
  ])("$name", ({ of, is, record = counted, policies = capped }) =>
    expect(reasonOf(anAppWith(of, { record, policies }))).toBe(is),
  );
});

describe("a pod with resources of its own (spec.resources)", () => {
  const podLevel = { limit: mib(500), request: mib(300) };
  const bare = anObservedContainer({ limit: undefined, request: undefined, samples: samplesOf([100, 150]) });

  it("a container without a limit is held as PodLevelLimit, with the usage of the whole pod", () => {
    const containers = [bare, { ...bare, name: "side", samples: samplesOf([100]) }];
    const seen = anApp({ pods: [anObservedPod({ podLevel, containers })] });
    expect(decisionOf(seen)).toMatchObject({
      reason: "PodLevelLimit",
      detail: expect.stringContaining("the limit of the pod is 500Mi, and its containers use 250Mi together (50 %)"),
    });
    expect(reasonOf(anApp({ pods: [anObservedPod({ containers })] }))).toBe("NoLimit");
  });

  it("a container with a limit is raised up to the limit of the pod", () => {
    const full = anObservedContainer({ samples: samplesOf([300, 300]) });
    const seen = anApp({ pods: [anObservedPod({ podLevel, containers: [full] })] });
    expect(decisionOf(seen)).toMatchObject({ kind: "raise", granted: { limit: mib(500) }, cappedBy: "Pod" });
  });
});
