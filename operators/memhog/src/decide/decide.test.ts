// The roads from end to end, in the small world of plan/world.fixture.ts, and the promises that hold whatever road is taken.
import { expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import type { Policy } from "../model/policy.ts";
import { aContainerSeen, anApp, aPodSeen, aPolicy, hpa, hungry, underWay, vpa } from "../model/seen.fixture.ts";
import type { AppKind, AppSeen, PodSeen } from "../model/seen.ts";
import { decide } from "./decide.ts";
import { pass, runToEnd } from "./plan/run.fixture.ts";

const hungryPod = (different: Partial<PodSeen> = {}) => aPodSeen({ containers: [aContainerSeen(hungry)], ...different });
const guaranteed = hungryPod({ qos: "Guaranteed", containers: [aContainerSeen({ ...hungry, request: mib(384) })] });
const old = { inPlace: false, resizeAfterOomKill: false };

interface Wish {
  readonly kind?: AppKind;
  readonly policy?: Partial<Policy>;
  readonly pods?: readonly PodSeen[];
  readonly app?: Partial<AppSeen>;
}

function world({ kind = "Deployment", policy = {}, pods = [hungryPod()], app = {} }: Wish = {}): AppSeen {
  const template = kind === "Pod" || kind === "Job" || kind === "Other" ? { template: undefined } : {};
  return anApp({ app: { kind, namespace: "demo", name: "memhog" }, policies: [aPolicy(policy)], pods, ...template, ...app });
}

const roads: readonly (Wish & { readonly name: string; readonly effects: readonly string[] })[] = [
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
it.each(roads)("$name", ({ effects, ...wish }) => expect(runToEnd(world(wish)).effects).toEqual(effects));

it("C1: a crash before, during or after any write ends in the same world, with the same number of effects", () => {
  for (const { name, effects, ...wish } of roads) {
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

function shape(seen: AppSeen) {
  const size = ({ name, containers, ready }: PodSeen) => ({
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
    actions: actions.map(({ road, changes, outcome }) => [road, changes, outcome]),
    raises,
  };
}

it("the seeds' 256Mi/384Mi becomes 512Mi/768Mi, and new pods of the app are to start with it", () => {
  const { world: end } = runToEnd(world());
  expect(end.pods[0]?.containers[0]).toMatchObject({ limit: mib(768), request: mib(512) });
  expect(end.record).toMatchObject({
    raises: 1,
    intents: [],
    learned: [{ container: "memhog", limit: mib(768), request: mib(512) }],
    actions: [{ outcome: "Applied", road: "InPlace" }],
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
  const paused: AppSeen = {
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
    expect(decide({ ...bare, pods }).commands).toEqual([]);
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
  expect(plan.settled).toMatchObject([{ outcome: "Abandoned", detail: "the strategy is Recommend now" }]);
});
