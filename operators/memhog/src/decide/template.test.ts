// By the template, case by case.
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import {
  anApp,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  aTemplate,
  hungry,
  now,
  samplesOf,
} from "../model/observed-app.fixture.ts";
import type { AppKind, ObservedApp, ObservedPod, ObservedTemplate } from "../model/observed-app.ts";
import { decide } from "./decide.ts";

const intent = anIntent({ method: "Template", id: "template-uid/Template/768Mi/1" });
const small = { name: "memhog", limit: mib(384), request: mib(256) };
const big = { name: "memhog", limit: mib(768), request: mib(512) };
const template = (different: Partial<ObservedTemplate> = {}) =>
  aTemplate({ containers: [big], replicas: 2, readyReplicas: 2, rolledOut: false, ...different });
const pod = (number: number, size: typeof small, different: Partial<ObservedPod> = {}) =>
  anObservedPod({ name: `memhog-${number}`, uid: `pod-${number}`, containers: [anObservedContainer(size)], ...different });
const world = (different: Partial<ObservedApp> = {}) =>
  anApp({
    policies: [aPolicy({ strategy: "Redeploy" })],
    record: aRecord({ intents: [intent] }),
    template: template(),
    pods: [pod(1, small), pod(2, small)],
    ...different,
  });
const byHand = { template: template({ replacesPods: false }), app: { ...anApp().app, kind: "ReplicaSet" as const } };

describe("an open intent", () => {
  it.each([
    {
      name: "the template is as it was: patch it",
      different: { template: template({ containers: [small] }) },
      next: ["patchTemplate"],
    },
    { name: "the controller is at it: wait", different: {}, next: [] },
    { name: "nobody replaces the pods: evict one", different: byHand, next: ["evict pod-1"] },
    {
      name: "a pod of the new size is not Ready: evict nobody",
      different: { ...byHand, pods: [pod(1, small), pod(2, big, { ready: false, createdAtMs: now - 60_000 })] },
      next: [],
    },
    {
      name: "a pod is on its way out: evict nobody",
      different: { ...byHand, pods: [pod(1, small), pod(2, small, { deleting: true })] },
      next: [],
    },
    { name: "fewer pods than replicas: evict nobody", different: { ...byHand, pods: [pod(1, small)] }, next: [] },
    {
      name: "of two old pods the one that is not Ready goes first",
      different: { ...byHand, pods: [pod(1, small), pod(2, small, { ready: false })] },
      next: ["evict pod-2"],
    },
    {
      name: "D2: the only replica is not removed before its replacement is Ready",
      different: { ...byHand, template: template({ replacesPods: false, replicas: 1 }), pods: [pod(1, small)] },
      next: [],
    },
    {
      name: "the only replica, if it serves nobody anyhow, may go",
      different: { ...byHand, template: template({ replacesPods: false, replicas: 1 }), pods: [pod(1, small, { ready: false })] },
      next: ["evict pod-1"],
    },
    {
      name: "E4: not monitored any more: nothing",
      different: { ...byHand, pods: [pod(1, small, { monitored: false })] },
      next: [],
    },
  ])("$name", ({ different, next }) => {
    const { commands, record } = decide(world(different));
    expect(commands.map((command) => (command.do === "evict" ? `evict ${command.uid}` : command.do))).toEqual(next);
    expect(record.intents).toHaveLength(1);
  });

  it.each([
    { name: "rolled out: Applied", different: { template: template({ rolledOut: true }) }, outcome: "Applied" },
    { name: "every pod was replaced: Applied", different: { ...byHand, pods: [pod(1, big), pod(2, big)] }, outcome: "Applied" },
    {
      name: "a CronJob is done with its template: Applied",
      different: { app: { ...anApp().app, kind: "CronJob" as const } },
      outcome: "Applied",
    },
    { name: "the owner is gone: Abandoned", different: { template: undefined }, outcome: "Abandoned" },
    {
      name: "W4: made again under its name: Abandoned",
      different: { template: template({ uid: "another" }) },
      outcome: "Abandoned",
    },
  ])("ends: $name", ({ different, outcome }) => {
    const { settled, commands } = decide(world(different));
    expect(settled).toMatchObject([{ outcome }]);
    expect(commands).toEqual([]);
  });
});

describe("D6: a rollout that is stuck", () => {
  const unchanged = (minutes: number) => ({ rolloutUnchangedMs: new Map([[intent.id, minutes * 60_000]]) });
  const rolling = { ...intent, waiting: { reason: "RollingBack", message: "quota" } } as const;
  const undo = ["restoreTemplate"];
  const crashing = [pod(1, small), pod(2, small), pod(3, big, { ready: false })];

  it.each<{ name: string; different: Partial<ObservedApp>; next: readonly string[] }>([
    { name: "the controller says so: at once", different: { template: template({ stalled: "late" }) }, next: undo },
    {
      name: "pods cannot be created: after two minutes",
      different: { template: template({ failing: "quota" }), ...unchanged(2) },
      next: undo,
    },
    {
      name: "pods cannot be created: not before, old pods may still hold the room",
      different: { template: template({ failing: "quota" }), ...unchanged(1.9) },
      next: [],
    },
    { name: "a pod is missing: after two minutes", different: { pods: [pod(1, small)], ...unchanged(2) }, next: undo },
    {
      name: "a pod terminates slowly: nothing",
      different: { pods: [pod(1, small), pod(2, small, { deleting: true })], ...unchanged(60) },
      next: [],
    },
    { name: "a new pod crashes: after ten minutes", different: { pods: crashing, ...unchanged(10) }, next: undo },
    { name: "a new pod crashes: not before", different: { pods: crashing, ...unchanged(9.9) }, next: [] },
    {
      name: "the owner allows more time",
      different: { pods: crashing, template: template({ deadlineMs: 1_800_000 }), ...unchanged(29) },
      next: [],
    },
    {
      name: "M5: a wall clock that is a day ahead undoes nothing",
      different: { pods: crashing, nowMs: now + 86_400_000, ...unchanged(1) },
      next: [],
    },
    { name: "M5: after a restart of memhog the time starts again", different: { pods: crashing }, next: [] },
    {
      name: "a person paused the Deployment: nothing",
      different: { template: template({ held: "paused", stalled: "late" }), ...unchanged(60) },
      next: [],
    },
    {
      name: "nobody replaces the pods, and the first new one is never Ready",
      different: { ...byHand, pods: [pod(1, small), pod(2, big, { ready: false, createdAtMs: now - 300_000 })] },
      next: undo,
    },
    {
      name: "nobody replaces the pods, and a budget forbids to evict the next: wait for ever",
      different: { ...byHand, ...unchanged(60) },
      next: ["evict pod-1"],
    },
    {
      name: "the AppMonitor is gone: undone all the same",
      different: { template: template({ stalled: "late" }), policies: [] },
      next: undo,
    },
    {
      name: "the strategy is Recommend now: undone all the same",
      different: { template: template({ stalled: "late" }), policies: [aPolicy({ strategy: "Recommend" })] },
      next: undo,
    },
    {
      name: "E4: the AppMonitor is paused: nothing",
      different: { template: template({ stalled: "late" }), policies: [aPolicy({ paused: true })] },
      next: [],
    },
    {
      name: "E4: the pods are not monitored any more: nothing",
      different: { template: template({ stalled: "late" }), pods: crashing.map((one) => ({ ...one, monitored: false })) },
      next: [],
    },
  ])("$name", ({ different, next }) => {
    const { commands, record } = decide(world(different));
    expect(commands.map((command) => (command.do === "evict" ? `evict ${command.uid}` : command.do))).toEqual(next);
    expect(record.intents.some(({ waiting }) => waiting?.reason === "RollingBack")).toBe(next === undo);
  });

  it("is first stored, with what the template had before, so that nobody is blamed for a revert", () => {
    const given = [{ uid: "template-uid", container: "memhog", limit: mib(768) }];
    const stuck = world({ template: template({ stalled: "late" }), record: aRecord({ intents: [intent], given }) });
    const first = decide(stuck);
    expect(first.record.given).toEqual([{ uid: "template-uid", container: "memhog", limit: mib(384) }]);
    expect(first.summary).toMatchObject({ phase: "Waiting", reason: "RolloutUndone" });
    const restored = template({ containers: [small], rolledOut: true });
    const second = decide({ ...stuck, record: first.record, template: restored });
    expect(second.settled).toMatchObject([{ outcome: "NotReady", message: "the rollout was undone: late" }]);
    expect(second.record).toMatchObject({ reverts: 0, raises: 0, learned: [], intents: [] });
  });

  it("goes on being undone although it moves again: the record says so (C1)", () => {
    const { commands } = decide(world({ record: aRecord({ intents: [rolling] }), template: template({ rolledOut: true }) }));
    expect(commands).toMatchObject([{ do: "restoreTemplate", changes: [{ from: { limit: mib(384) } }] }]);
  });

  it.each([
    { name: "the limit", container: { ...big, limit: mib(1_000) } },
    { name: "the request", container: { ...big, request: mib(300) } },
  ])("a person's edit wins: $name", ({ container }) => {
    const seen = world({ record: aRecord({ intents: [rolling] }), template: template({ containers: [container] }) });
    expect(decide(seen)).toMatchObject({ commands: [], settled: [{ outcome: "NotReady" }] });
  });

  it("a person's edit wins while it rolls out: a request that was lowered is not raised again", () => {
    const given = [{ uid: "template-uid", container: "memhog", limit: mib(768) }];
    const seen = world({
      record: aRecord({ intents: [intent], given }),
      template: template({ containers: [{ ...big, request: mib(300) }] }),
    });
    expect(decide(seen)).toMatchObject({ commands: [], settled: [{ outcome: "Abandoned" }] });
  });

  it("D2: is not undone where that would remove the only Ready pods", () => {
    const recreate = template({ stalled: "late", maxUnavailable: 2 });
    const pods = [pod(1, big), pod(2, big, { ready: false })];
    expect(decide(world({ template: recreate, pods }))).toMatchObject({ commands: [], settled: [{ outcome: "NotReady" }] });
  });

  it.each([
    { name: "a StatefulSet", ...world({ app: { ...anApp().app, kind: "StatefulSet" } }) },
    { name: "a ReplicaSet", ...world(byHand) },
  ])("$name: the broken pod is evicted, since its controller keeps it; the Ready ones stay", ({ name: _, ...seen }) => {
    const pods = [pod(1, small), pod(2, big), pod(3, big, { ready: false })];
    const restored = { ...template({ containers: [small] }), replacesPods: seen.template?.replacesPods ?? true };
    const record = aRecord({ intents: [rolling] });
    const { commands } = decide({ ...seen, pods, record, template: restored });
    expect(commands).toMatchObject([{ do: "evict", uid: "pod-3" }]);
    const next = decide({ ...seen, pods: pods.slice(0, 2), record, template: restored });
    expect(next).toMatchObject({ commands: [], settled: [{ outcome: "NotReady" }] });
  });

  it("is looked at again when its time is over", () => {
    expect(decide(world(unchanged(1.5))).requeueAfterMs).toBe(30_000);
    expect(decide(world(unchanged(5))).requeueAfterMs).toBe(300_000);
  });

  it("a Deployment that a person paused is not raised", () => {
    const paused = template({ containers: [small], held: "the Deployment is paused" });
    const pods = [anObservedPod({ containers: [anObservedContainer(hungry)] })];
    const { verdicts, commands } = decide(world({ record: aRecord(), template: paused, pods }));
    expect(verdicts).toMatchObject([{ decision: { reason: "RolloutInProgress" } }]);
    expect(commands).toEqual([]);
  });
});

describe("a new intent", () => {
  const hungry = (limit: number, request: number) => ({
    containers: [
      anObservedContainer({ limit: mib(limit), request: mib(request), samples: samplesOf([limit * 0.8, limit * 0.8]) }),
    ],
  });
  const fresh = (different: Partial<ObservedApp> = {}) =>
    world({ record: aRecord(), template: template({ containers: [small], rolledOut: true }), ...different });

  it("asks for the most that any of its pods needs, once for all of them", () => {
    const pods = [anObservedPod(hungry(384, 256)), anObservedPod({ name: "memhog-2", uid: "pod-2", ...hungry(512, 300) })];
    const { record, commands } = decide(fresh({ pods }));
    expect(record.intents).toMatchObject([
      {
        id: "template-uid/Template/1Gi/1",
        changes: [{ from: { limit: mib(384) }, to: { limit: mib(1024), request: mib(600) } }],
      },
    ]);
    expect(commands).toHaveLength(1);
  });

  it("waits where the template asks for it already: its pods have yet to follow", () => {
    const { verdicts, record } = decide(fresh({ template: template(), pods: [anObservedPod(hungry(384, 256))] }));
    expect(verdicts).toMatchObject([{ decision: { reason: "RolloutInProgress" } }]);
    expect(record.intents).toEqual([]);
  });

  it("replaces pods that a ReplicaSet left behind its own template", () => {
    const pods = [anObservedPod(hungry(384, 256)), pod(2, big)];
    expect(decide(fresh({ ...byHand, pods })).commands).toMatchObject([{ do: "evict", uid: "pod-1" }]);
  });

  it("is not begun where it would be over at once: a replaced pod is stuck", () => {
    const stuck = pod(2, big, { ready: false, createdAtMs: now - 300_000 });
    const { record, verdicts } = decide(fresh({ ...byHand, pods: [anObservedPod(hungry(384, 256)), stuck] }));
    expect(record.intents).toEqual([]);
    expect(verdicts[0]).toMatchObject({ decision: { reason: "RolloutInProgress" } });
  });

  it("is never made only because other pods of the app needed more", () => {
    const learned = [{ container: "memhog", limit: mib(768), request: mib(512), atMs: now - 60_000 }];
    const intents = [anIntent({ reason: "LearnedBefore", waiting: { reason: "ResizeInfeasible" } })];
    const young = pod(1, small, { createdAtMs: now - 30_000 });
    const { record, settled } = decide(fresh({ policies: [aPolicy()], pods: [young], record: aRecord({ learned, intents }) }));
    expect(settled).toMatchObject([{ outcome: "Infeasible" }]);
    expect(record.intents).toEqual([]);
  });
});

// D2: nothing is redeployed where nobody would be left to serve.

interface Rollout {
  readonly kind?: AppKind;
  /** Of each pod; there are as many as replicas. */
  readonly ready?: readonly boolean[];
  readonly maxUnavailable?: number;
}

/** 300 of 384 MiB are used, and the strategy is Redeploy. */
function hungryApp(
  { kind = "StatefulSet", ready = [true], maxUnavailable = 1 }: Rollout,
  different: Partial<ObservedApp> = {},
): ObservedApp {
  const containers = [anObservedContainer(hungry)];
  return anApp({
    app: { ...anApp().app, kind },
    policies: [aPolicy({ strategy: "Redeploy" })],
    pods: ready.map((one, i): ObservedPod => anObservedPod({ name: `memhog-${i}`, uid: `pod-${i}`, ready: one, containers })),
    template: aTemplate({ replicas: ready.length, maxUnavailable, replacesPods: kind !== "ReplicaSet" }),
    ...different,
  });
}

const told = (seen: ObservedApp) => {
  const { verdicts, commands } = decide(seen);
  return [verdicts[0]?.decision.reason, ...commands.map((command) => command.do)];
};
const raised = ["ThresholdCrossed", "patchTemplate"];
const held = ["WouldCauseDowntime"];

it.each<{ name: string; rollout: Rollout; is: readonly string[] }>([
  { name: "a Deployment of one, new pods first", rollout: { kind: "Deployment", maxUnavailable: 0 }, is: raised },
  { name: "a Deployment of one, old pods first", rollout: { kind: "Deployment" }, is: held },
  {
    name: "a Deployment of three, Recreate",
    rollout: { kind: "Deployment", ready: [true, true, true], maxUnavailable: 3 },
    is: held,
  },
  {
    name: "a Deployment of three, Recreate, one of which is Ready",
    rollout: { kind: "Deployment", ready: [false, false, true], maxUnavailable: 3 },
    is: held,
  },
  {
    name: "a Deployment of three, Recreate, none of which is Ready",
    rollout: { kind: "Deployment", ready: [false, false, false], maxUnavailable: 3 },
    is: raised,
  },
  { name: "a StatefulSet of one", rollout: {}, is: held },
  { name: "a StatefulSet of one that serves nobody anyhow", rollout: { ready: [false] }, is: raised },
  { name: "a StatefulSet of two", rollout: { ready: [true, true] }, is: raised },
  { name: "a ReplicaSet of one", rollout: { kind: "ReplicaSet" }, is: held },
  { name: "a ReplicaSet of two", rollout: { kind: "ReplicaSet", ready: [true, true] }, is: raised },
  { name: "a DaemonSet on one node", rollout: { kind: "DaemonSet" }, is: held },
  { name: "a CronJob, whose run is left to end", rollout: { kind: "CronJob", ready: [true], maxUnavailable: 0 }, is: raised },
])("D2: $name: $is", ({ rollout, is }) => expect(told(hungryApp(rollout))).toEqual(is));

describe("a hold for fear of downtime", () => {
  it("is not for those who can be resized in place", () => {
    expect(told(hungryApp({}, { policies: [aPolicy()] }))).toEqual(["ThresholdCrossed", "resize"]);
  });

  it("is for Auto too, where it would have to redeploy", () => {
    const cluster = { inPlace: false, resizeAfterOomKill: false };
    expect(told(hungryApp({}, { policies: [aPolicy()], cluster }))).toEqual(held);
  });

  it.each([
    {
      name: "a StatefulSet: another replica, or in place",
      rollout: {},
      says: [/its only pod/, /another replica, or strategy Auto/],
    },
    { name: "a Deployment: to surge", rollout: { kind: "Deployment" as const }, says: [/maxSurge 1, maxUnavailable 0/] },
    {
      name: "Recreate: that all would go",
      rollout: { kind: "Deployment" as const, ready: [true, true], maxUnavailable: 2 },
      says: [/all its pods/],
    },
  ])("says what to do: $name", ({ rollout, says }) => {
    const { summary } = decide(hungryApp(rollout));
    expect(summary).toMatchObject({ phase: "Waiting", reason: "WouldCauseDowntime", wanted: mib(768) });
    for (const words of says) expect(summary.message).toMatch(words);
  });

  it("does not advise what the cluster cannot do", () => {
    expect(decide(hungryApp({}, { cluster: { inPlace: false, resizeAfterOomKill: false } })).summary.message).not.toContain(
      "in place",
    );
  });

  it("G2: leaves a kill to be answered when something has changed", () => {
    const oomKill = { restart: 0, atMs: now - 20_000, stillDown: false };
    const killed = hungryApp({}, { pods: [anObservedPod({ containers: [anObservedContainer({ oomKill })] })] });
    const { record } = decide(killed);
    expect(record).toMatchObject({ kills: [], oomKills: 0, intents: [] });
    const down = killed.pods.map((pod) => ({ ...pod, ready: false }));
    expect(told({ ...killed, record, pods: down })).toEqual(["OutOfMemory", "patchTemplate"]);
  });
});

it("D2: what was decided while the only pod was not Ready is given up when it is Ready before the template was patched", () => {
  const intents = [anIntent({ method: "Template", id: "template-uid/Template/768Mi/1" })];
  const { settled, commands } = decide(hungryApp({}, { record: aRecord({ intents }) }));
  expect(settled).toMatchObject([{ outcome: "Abandoned" }]);
  expect(commands).toEqual([]);
});
