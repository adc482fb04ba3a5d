// The roads from end to end, in the small world of plan/world.fixture.ts, and the promises that hold whatever road is taken.
import { expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anAppWith,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  aTemplate,
  hpa,
  hungry,
  now,
  samplesOf,
  underWay,
  vpa,
} from "../model/observed-app.fixture.ts";
import type { AppKind, ObservedApp, ObservedPod, Policy } from "../model/observed-app.ts";
import { decide } from "./decide.ts";
import { pass, runToEnd } from "./world.fixture.ts";

const hungryPod = (different: Partial<ObservedPod> = {}) =>
  anObservedPod({ containers: [anObservedContainer(hungry)], ...different });
const guaranteed = hungryPod({ qos: "Guaranteed", containers: [anObservedContainer({ ...hungry, request: mib(384) })] });
const old = { inPlace: false, resizeAfterOomKill: false };

interface Wish {
  readonly kind?: AppKind;
  readonly policy?: Partial<Policy>;
  readonly pods?: readonly ObservedPod[];
  readonly app?: Partial<ObservedApp>;
}

function world({ kind = "Deployment", policy = {}, pods = [hungryPod()], app = {} }: Wish = {}): ObservedApp {
  const template = kind === "Pod" || kind === "Job" || kind === "Other" ? { template: undefined } : {};
  return anApp({ app: { kind, namespace: "demo", name: "memhog" }, policies: [aPolicy(policy)], pods, ...template, ...app });
}

const methods: readonly (Wish & { readonly name: string; readonly effects: readonly string[] })[] = [
  { name: "Auto resizes in place: the limits first, then the requests", effects: ["resize limits", "resize requests"] },
  { name: "a Guaranteed pod gets both together", pods: [guaranteed], effects: ["resize both"] },
  { name: "a bare pod is resized in place too", kind: "Pod", effects: ["resize limits", "resize requests"] },
  { name: "a Job's pod is resized in place", kind: "Job", effects: ["resize limits", "resize requests"] },
  {
    name: "beside an HPA by memory utilisation only the limit grows (F1)",
    app: hpa,
    effects: ["resize limits"],
  },
  { name: "Redeploy patches the template of a Deployment once", policy: { strategy: "Redeploy" }, effects: ["patchTemplate"] },
  { name: "Auto redeploys where the cluster cannot resize", app: { cluster: old }, effects: ["patchTemplate"] },
  { name: "a CronJob gets it for the next run", kind: "CronJob", app: { cluster: old }, effects: ["patchTemplate"] },
  {
    name: "a bare pod is replaced by a copy, and goes only then (D2)",
    kind: "Pod",
    policy: { strategy: "Redeploy" },
    effects: ["createCopy", "deletePod Replaced"],
  },
  { name: "a Job is never edited", kind: "Job", policy: { strategy: "Redeploy" }, effects: [] },
  { name: "an unknown owner is never edited", kind: "Other", app: { cluster: old }, effects: [] },
  { name: "InPlace never redeploys", policy: { strategy: "InPlace" }, app: { cluster: old }, effects: [] },
  { name: "Recommend touches nothing", policy: { strategy: "Recommend" }, effects: [] },
  { name: "a paused AppMonitor touches nothing (E4)", policy: { paused: true }, effects: [] },
  { name: 'the annotation "false" touches nothing (E4)', pods: [hungryPod({ monitored: false })], effects: [] },
  { name: "without an AppMonitor nothing is touched", app: { policies: [] }, effects: [] },
  { name: "two AppMonitors: none acts (F2)", app: { policies: [aPolicy(), aPolicy({ name: "b", uid: "b" })] }, effects: [] },
  { name: "a VPA has the memory for itself (F1)", app: vpa, effects: [] },
];
it.each(methods)("$name", ({ effects, ...wish }) => expect(runToEnd(world(wish)).effects).toEqual(effects));

it("C1: a crash before, during or after any write ends in the same world, with the same number of effects", () => {
  for (const { name, effects, ...wish } of methods) {
    const end = runToEnd(world(wish));
    for (let at = 0; at < 8; at++) {
      for (const writes of [0, 1, 2]) {
        const crashed = runToEnd(world(wish), [...Array<number>(at).fill(Number.POSITIVE_INFINITY), writes]);
        expect(crashed.effects, `${name}, pass ${at}, ${writes} writes`).toEqual(effects);
        expect(shape(crashed.world), name).toEqual(shape(end.world));
      }
    }
  }
});

function shape(seen: ObservedApp) {
  const size = ({ name, containers, ready }: ObservedPod) => ({
    name,
    ready,
    sizes: containers.map(({ limit, request }) => [limit, request]),
  });
  const { learned, intents, actions, raises } = seen.record;
  return {
    pods: seen.pods.map(size),
    template: seen.template?.containers,
    learned: learned.map(({ container, limit, request }) => [container, limit, request]),
    intents,
    actions: actions.map(({ method, changes, outcome }) => [method, changes, outcome]),
    raises,
  };
}

it("the sample's 256Mi/384Mi becomes 512Mi/768Mi, and new pods of the app are to start with it", () => {
  const { world: end } = runToEnd(world());
  expect(end.pods[0]?.containers[0]).toMatchObject({ limit: mib(768), request: mib(512) });
  expect(end.record).toMatchObject({
    raises: 1,
    intents: [],
    learned: [{ container: "memhog", limit: mib(768), request: mib(512) }],
    actions: [{ outcome: "Applied", method: "InPlace" }],
  });
});

it("E1: a settled world decides the same for a hundred passes, and the record does not move", () => {
  let run = { world: runToEnd(world()).world, effects: [] as readonly string[] };
  const settledRecord = run.world.record;
  for (let i = 0; i < 100; i++) {
    run = pass({ ...run, world: { ...run.world, nowMs: run.world.nowMs + 15_000 } });
    expect(run.world.record).toBe(settledRecord);
  }
  expect(run.effects).toEqual([]);
});

it("E4: paused in the middle of a replacement, nothing is done and the intent stays as it is", () => {
  const bare = pass({ world: world({ kind: "Pod", policy: { strategy: "Redeploy" } }), effects: [] }).world;
  const paused: ObservedApp = {
    ...bare,
    policies: [aPolicy({ paused: true })],
    pods: bare.pods.map((pod) => ({ ...pod, ready: true })),
  };
  const plan = decide(paused);
  expect(plan.commands).toEqual([]);
  expect(plan.record).toBe(paused.record);
  expect(plan.summary).toMatchObject({ phase: "Stopped", reason: "Paused" });
  expect(runToEnd({ ...paused, policies: [aPolicy({ strategy: "Redeploy" })] }).effects).toEqual(["deletePod Replaced"]);
});

it('E4: the annotation "false" on either of the two keeps an original from being deleted', () => {
  const bare = pass({ world: world({ kind: "Pod", policy: { strategy: "Redeploy" } }), effects: [] }).world;
  for (const off of [0, 1]) {
    const pods = bare.pods.map((pod, i) => ({ ...pod, ready: true, monitored: i !== off }));
    expect(decide({ ...bare, pods }).commands).toMatchObject([{ do: "deletePod", uid: "pod-1+", why: "Withdrawn" }]);
  }
});

it("L1: two leaders make the same intents, whatever their clocks say", () => {
  const seen = world({ pods: [hungryPod(), hungryPod({ name: "memhog-2", uid: "pod-2" })] });
  const ids = (nowMs: number) => decide({ ...seen, nowMs }).record.intents.map(({ id }) => id);
  expect(ids(seen.nowMs)).toEqual(["pod-1/InPlace/768Mi/1", "pod-2/InPlace/768Mi/1"]);
  expect(ids(seen.nowMs + 1_234)).toEqual(ids(seen.nowMs));
});

it("an intent of before a switch to Recommend does not begin any more", () => {
  const plan = decide(world({ policy: { strategy: "Recommend" }, app: underWay() }));
  expect(plan.commands).toEqual([]);
  expect(plan.settled).toMatchObject([{ outcome: "Abandoned", message: "the strategy is Recommend now" }]);
});

// The state of an app in one word.

const to384 = [
  { container: "memhog", from: { limit: mib(200), request: undefined }, to: { limit: mib(384), request: undefined } },
];

it.each([
  { name: "nothing to do", seen: anApp(), phase: "Watching", reason: "BelowThreshold" },
  { name: "a raise begins", seen: anAppWith(hungry), phase: "Raising", reason: "ThresholdCrossed" },
  { name: "a raise is under way", seen: anApp(underWay()), phase: "Raising", reason: "ThresholdCrossed" },
  {
    name: "the kubelet defers it",
    seen: anAppWith({ limit: mib(768), appliedLimit: mib(384) }, underWay(), { resize: { state: "deferred" } }),
    phase: "Waiting",
    reason: "ResizeDeferred",
  },
  {
    name: "the owner rolls out",
    seen: anApp({
      policies: [aPolicy({ strategy: "Redeploy" })],
      ...underWay({ method: "Template", id: "template-uid/Template/384Mi/1", changes: to384 }),
      template: aTemplate({ rolledOut: false }),
    }),
    phase: "Waiting",
    reason: "RolloutInProgress",
  },
  {
    name: "it is too soon",
    seen: anAppWith(hungry, { record: aRecord({ actions: [anAction({ atMs: now - 10_000 })] }) }),
    phase: "Waiting",
    reason: "CoolingDown",
  },
  {
    name: "a cap is in the way",
    seen: anAppWith(hungry, { policies: [aPolicy({ maxMemory: mib(384) })] }),
    phase: "Waiting",
    reason: "CapReached",
  },
  { name: "paused", seen: anAppWith(hungry, { policies: [aPolicy({ paused: true })] }), phase: "Stopped", reason: "Paused" },
  {
    name: "two AppMonitors",
    seen: anApp({ policies: [aPolicy(), aPolicy({ uid: "b" })] }),
    phase: "Stopped",
    reason: "AmbiguousMonitor",
  },
  { name: "no pods", seen: anApp({ pods: [] }), phase: "Watching", reason: "NotRunning" },
  { name: "no pods, no AppMonitor", seen: anApp({ pods: [], policies: [] }), phase: "Stopped", reason: "NoMonitor" },
])("$name: $phase, $reason", ({ seen, phase, reason }) => expect(decide(seen).summary).toMatchObject({ phase, reason }));

it("speaks of the container that is nearest to its limit while nothing is done", () => {
  const containers = [anObservedContainer(), anObservedContainer({ name: "side", samples: samplesOf([200, 200]) })];
  expect(decide(anApp({ pods: [anObservedPod({ containers })] })).summary).toMatchObject({
    container: "side",
    limit: mib(384),
    applied: mib(384),
  });
});

it("speaks of what is wanted and of what the kubelet has confirmed", () => {
  expect(decide(anAppWith(hungry)).summary).toMatchObject({
    container: "memhog",
    limit: mib(384),
    wanted: mib(768),
    applied: mib(384),
  });
});

it("looks again when a cooldown ends", () => {
  const record = aRecord({ actions: [anAction({ atMs: now - 10_000 })] });
  expect(decide(anAppWith(hungry, { record })).requeueAfterMs).toBe(50_000);
  expect(decide(anApp()).requeueAfterMs).toBeUndefined();
});
