// G2: a kill counts once, with its answer. And the stops that a verdict asks for.
import { seededRandom } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { type Bytes, mib } from "../model/bytes.ts";
import {
  aNode,
  anApp,
  anAppWith,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  asBarePod,
  aTemplate,
  elsewhere,
  hungry,
  now,
  raises,
  vpa,
} from "../model/observed-app.fixture.ts";
import type { ObservedApp } from "../model/observed-app.ts";
import type { Intent } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { later, onPod, pass, type Run, settled } from "./world.fixture.ts";
import { randomWorld } from "./worlds.fixture.ts";

const kill = { restart: 2, atMs: now - 20_000, stillDown: false };
const counted = [{ uid: "pod-1", container: "memhog", restart: 2 }];

describe("G2: a kill", () => {
  it("is counted by the record that holds the intent, once", () => {
    const first = decide(anAppWith({ oomKill: kill }));
    expect(first.record).toMatchObject({ kills: counted, oomKills: 1, intents: [{ reason: "OutOfMemory" }] });
    const again = decide(anAppWith({ oomKill: kill }, { record: first.record }));
    expect(again.record).toEqual(first.record);
  });

  it.each([
    { name: "Busy", seen: anAppWith({ oomKill: kill }, { underWayElsewhere: elsewhere(10) }) },
    { name: "paused", seen: anAppWith({ oomKill: kill }, { policies: [aPolicy({ paused: true })] }) },
    { name: "not monitored", seen: anAppWith({ oomKill: kill }, {}, { monitored: false }) },
    {
      name: "not running, and only in place is allowed",
      seen: anAppWith(
        { oomKill: { ...kill, stillDown: true }, running: false },
        { policies: [aPolicy({ strategy: "InPlace" })], cluster: { inPlace: true, resizeAfterOomKill: false } },
      ),
    },
  ])("waits for its answer while it is $name", ({ seen }) => {
    expect(decide(seen).record).toMatchObject({ kills: [], oomKills: 0, intents: [] });
  });

  it.each([
    { name: "Recommend", different: { policies: [aPolicy({ strategy: "Recommend" })] } },
    { name: "a cap that leaves nothing", different: { policies: [aPolicy({ maxMemory: mib(384) })] } },
    { name: "another autoscaler", different: vpa },
  ])("is counted where the answer is no: $name", ({ different }: { different: Partial<ObservedApp> }) => {
    expect(decide(anAppWith({ oomKill: kill }, different)).record).toMatchObject({ kills: counted, oomKills: 1, intents: [] });
  });

  it("is answered by memory that arrived after it, though that was decided before", () => {
    const bigger = { limit: mib(768), request: mib(512), appliedLimit: mib(768), appliedRequest: mib(512) };
    const record = aRecord({ intents: [anIntent({ atMs: now - 60_000 })] });
    const plan = decide(anAppWith({ ...bigger, oomKill: kill }, { record }));
    expect(plan.record).toMatchObject({ kills: counted, intents: [], actions: [{ outcome: "Applied" }] });
  });

  it("is forgotten with its pod; the sum is not", () => {
    const record = aRecord({ kills: counted, oomKills: 1 });
    expect(decide(anApp({ record, pods: [anObservedPod({ uid: "pod-2" })] })).record).toMatchObject({ kills: [], oomKills: 1 });
  });
});

describe("a stop", () => {
  const tooOften = aRecord({ actions: raises(6) });

  it("G1: is stored for the pod where it was raised in place, for the app where pods are replaced", () => {
    const inPlace = decide(anAppWith(hungry, { record: tooOften }));
    expect(inPlace.record.stops).toEqual([
      { reason: "SuspectedLeak", atMs: now, uid: "pod-1", container: "memhog", monitorUid: "monitor-uid", monitorGeneration: 1 },
    ]);
    expect(inPlace.summary).toMatchObject({ phase: "Stopped", reason: "SuspectedLeak" });
    const policies = [aPolicy({ strategy: "Redeploy" })];
    const redeployed = decide(anAppWith(hungry, { policies, record: aRecord({ actions: raises(6, { method: "Template" }) }) }));
    expect(redeployed.record.stops).toMatchObject([{ reason: "SuspectedLeak" }]);
    expect(redeployed.record.stops[0]?.uid).toBeUndefined();
  });

  it("holds after the hour, until the AppMonitor is edited; then the raises before it do not count", () => {
    const { record } = decide(anAppWith(hungry, { record: tooOften }));
    const later = { record, nowMs: now + 7_200_000 };
    expect(decide(anAppWith(hungry, later)).verdicts).toMatchObject([{ decision: { reason: "SuspectedLeak" } }]);
    expect(decide(anAppWith(hungry, later)).record).toBe(record);
    const edited = anAppWith(hungry, { record, nowMs: now + 60_000, policies: [aPolicy({ generation: 2 })] });
    expect(decide(edited).verdicts).toMatchObject([{ decision: { reason: "ThresholdCrossed" } }]);
  });

  it("goes with its pod", () => {
    const { record } = decide(anAppWith(hungry, { record: tooOften }));
    expect(decide(anApp({ record, pods: [anObservedPod({ uid: "pod-2" })] })).record.stops).toEqual([]);
  });
});

// F2: somebody takes back what we gave.

const given = [{ uid: "pod-1", container: "memhog", limit: mib(768) }];
const taken = anApp({ record: aRecord({ given }) });

describe("F2: what was given and is there no more", () => {
  it("counts once, however often we look", () => {
    const first = decide(taken);
    expect(first.record).toMatchObject({ reverts: 1, given: [], stops: [] });
    expect(decide({ ...taken, record: first.record }).record).toBe(first.record);
  });

  it("ends what was still under way for that pod", () => {
    const intents = [anIntent({ limitsApplied: true, waiting: { reason: "NoRoomForRequest" } })];
    const { settled: ends, record } = decide({ ...taken, record: aRecord({ given, intents }) });
    expect(ends).toMatchObject([{ outcome: "Abandoned", message: "another client reverted it" }]);
    expect(record.intents).toEqual([]);
  });

  it("stops the app the second time, and begins nothing that was only intended", () => {
    const pods = [anObservedPod(), anObservedPod({ name: "memhog-2", uid: "pod-2" })];
    const intents = [anIntent({ id: "pod-2/InPlace/768Mi/1", pod: { name: "memhog-2", uid: "pod-2" } })];
    const { record, commands, summary } = decide({ ...taken, pods, record: aRecord({ given, intents, reverts: 1 }) });
    expect(record).toMatchObject({ reverts: 2, intents: [], stops: [{ reason: "Contested", monitorGeneration: 1 }] });
    expect(commands).toEqual([]);
    expect(summary).toMatchObject({ phase: "Stopped", reason: "Contested" });
  });

  it("is seen on a template too: GitOps restores it", () => {
    const record = aRecord({ given: [{ uid: "template-uid", container: "memhog", limit: mib(768) }], reverts: 1 });
    expect(decide(anApp({ record })).record).toMatchObject({ reverts: 2, stops: [{ reason: "Contested" }] });
  });

  it("is forgotten with the pod, and with an edit of the AppMonitor the count starts anew", () => {
    expect(decide({ ...taken, pods: [anObservedPod({ uid: "pod-9" })] }).record).toMatchObject({ given: [], reverts: 0 });
    const stops = [{ reason: "Contested" as const, atMs: now, monitorUid: "monitor-uid", monitorGeneration: 1 }];
    const edited = anApp({ policies: [aPolicy({ generation: 2 })], record: aRecord({ stops, reverts: 2 }) });
    expect(decide(edited).record).toMatchObject({ stops: [], reverts: 0 });
  });

  it("twice, from the first crossing on: two raises, then none", () => {
    const start = anAppWith(hungry, { policies: [aPolicy({ cooldownMs: 0 })] });
    let run: Run = { world: start, effects: [] };
    for (let i = 0; i < 12; i++) {
      run = pass(later(run, 1_000));
      run = { ...run, world: settled(run.world) };
      const [pod] = run.world.pods;
      const raised = pod?.containers[0]?.request === mib(512);
      if (raised)
        run = {
          ...pass(run),
          world: onPod(run.world, pod.uid, (one) => ({ ...one, containers: [anObservedContainer(hungry)] })),
        };
    }
    expect(run.effects.filter((effect) => effect === "resize limits")).toHaveLength(2);
    expect(run.world.record.stops).toMatchObject([{ reason: "Contested" }]);
  });
});

// T2: an intent that was forged, or that was decided under other caps, is not carried out. The container has 256Mi/384Mi.

const to = (limit: Bytes): Pick<Intent, "changes"> => ({
  changes: [{ container: "memhog", from: { limit: mib(384), request: mib(256) }, to: { limit, request: mib(256) } }],
});
const forged = (limit: number, different: Partial<ObservedApp> = {}, intent: Partial<Intent> = {}) =>
  anApp({ ...different, record: aRecord({ ...different.record, intents: [anIntent({ ...to(mib(limit)), ...intent })] }) });
const template = { method: "Template", id: "template-uid/Template/10Gi/1" } as const;
const copy = { method: "CopyPod", copy: "memhog-autoscaled" } as const;
const quota = { ranges: [], quotas: [{ name: "team", of: "limits", hard: mib(1024), used: mib(900) }] } as const;
const range = { ranges: [{ name: "small", per: "Container", max: mib(512), maxRatio: undefined }], quotas: [] } as const;
const learned = [{ container: "memhog", limit: mib(2_048), request: undefined, atMs: now }];
const redeploy = { policies: [aPolicy({ strategy: "Redeploy" })] };

describe("an intent in the record", () => {
  it.each([
    { name: "of one step", seen: forged(768), does: "resize" },
    { name: "of as much as was learned", seen: forged(2_048, { record: aRecord({ learned }) }), does: "resize" },
    { name: "of one step, for a template", seen: forged(768, redeploy, template), does: "patchTemplate" },
    {
      name: "for a template whose pods had been raised in place",
      seen: forged(
        1536,
        {
          ...redeploy,
          pods: [anObservedPod({ containers: anObservedPod().containers.map((one) => ({ ...one, limit: mib(768) })) })],
        },
        template,
      ),
      does: "patchTemplate",
    },
    {
      name: "of one step, for a CronJob without pods",
      seen: forged(768, { ...cronJob(), ...redeploy }, template),
      does: "patchTemplate",
    },
    { name: "of one step, for a copy", seen: asBarePod(forged(768, redeploy, copy)), does: "createCopy" },
  ])("begins $name", ({ seen, does }) => expect(decide(seen).commands).toMatchObject([{ do: does }]));

  const most = (limit: number) => ({ policies: [aPolicy({ maxMemory: mib(limit) })] });
  const node = aNode({ allocatable: mib(700) });
  it.each([
    { name: "more than one step", seen: forged(2_048), by: "memMultiplier 2" },
    { name: "more than maxMemory", seen: forged(768, most(600)), by: "maxMemory" },
    { name: "more than a LimitRange", seen: forged(768, { limits: range }), by: "LimitRange/small" },
    { name: "more than a quota", seen: forged(768, { limits: quota }), by: "ResourceQuota/team" },
    {
      name: "more than the node",
      seen: forged(768, { ...most(1_000), pods: [anObservedPod({ node })] }),
      by: `Node/${node.name}`,
    },
    { name: "more than one step, for a template", seen: forged(2_048, redeploy, template), by: "memMultiplier 2" },
    {
      name: "more than one step, for a CronJob without pods",
      seen: forged(2_048, { ...cronJob(), ...redeploy }, template),
      by: "memMultiplier 2",
    },
    { name: "more than one step, for a copy", seen: asBarePod(forged(2_048, redeploy, copy)), by: "memMultiplier 2" },
  ])("is given up if it is $name", ({ seen, by }) => {
    const { commands, settled, record } = decide(seen);
    expect(commands).toEqual([]);
    expect(settled).toMatchObject([{ outcome: "Abandoned", message: expect.stringContaining(by) }]);
    expect(record.intents).toEqual([]);
  });

  it("is judged as it was when it was decided: in random worlds with quotas, ranges and full nodes it begins", () => {
    for (let seed = 0; seed < 1_500; seed += 1) {
      const seen = randomWorld(seededRandom(seed));
      const plan = decide({ ...seen, record: { ...seen.record, intents: [] } });
      const again = decide({ ...seen, record: plan.record });
      expect(
        again.settled.filter(({ outcome }) => outcome === "Abandoned"),
        `seed ${seed}`,
      ).toEqual([]);
      expect(again.commands, `seed ${seed}`).toEqual(plan.commands);
    }
  });
});

function cronJob(): Partial<ObservedApp> {
  return { app: { kind: "CronJob", namespace: "demo", name: "memhog" }, pods: [], template: aTemplate() };
}
