// D2: nothing is redeployed where nobody would be left to serve.
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { aContainerSeen, anApp, anIntent, aPodSeen, aPolicy, aRecord, aTemplate, hungry, now } from "../../model/seen.fixture.ts";
import type { AppKind, AppSeen, PodSeen } from "../../model/seen.ts";
import { decide } from "../decide.ts";

interface Rollout {
  readonly kind?: AppKind;
  /** Of each pod; there are as many as replicas. */
  readonly ready?: readonly boolean[];
  readonly takenFirst?: number;
}

/** 300 of 384 MiB are used, and the strategy is Redeploy. */
function hungryApp({ kind = "StatefulSet", ready = [true], takenFirst = 1 }: Rollout, different: Partial<AppSeen> = {}): AppSeen {
  const containers = [aContainerSeen(hungry)];
  return anApp({
    app: { ...anApp().app, kind },
    policies: [aPolicy({ strategy: "Redeploy" })],
    pods: ready.map((one, i): PodSeen => aPodSeen({ name: `memhog-${i}`, uid: `pod-${i}`, ready: one, containers })),
    template: aTemplate({ replicas: ready.length, takenFirst, replacesPods: kind !== "ReplicaSet" }),
    ...different,
  });
}

const told = (seen: AppSeen) => {
  const { verdicts, commands } = decide(seen);
  return [verdicts[0]?.decision.reason, ...commands.map((command) => command.do)];
};
const raised = ["ThresholdCrossed", "patchTemplate"];
const held = ["WouldCauseDowntime"];

it.each<{ name: string; rollout: Rollout; is: readonly string[] }>([
  { name: "a Deployment of one, new pods first", rollout: { kind: "Deployment", takenFirst: 0 }, is: raised },
  { name: "a Deployment of one, old pods first", rollout: { kind: "Deployment" }, is: held },
  {
    name: "a Deployment of three, Recreate",
    rollout: { kind: "Deployment", ready: [true, true, true], takenFirst: 3 },
    is: held,
  },
  {
    name: "a Deployment of three, Recreate, one of which is Ready",
    rollout: { kind: "Deployment", ready: [false, false, true], takenFirst: 3 },
    is: held,
  },
  {
    name: "a Deployment of three, Recreate, none of which is Ready",
    rollout: { kind: "Deployment", ready: [false, false, false], takenFirst: 3 },
    is: raised,
  },
  { name: "a StatefulSet of one", rollout: {}, is: held },
  { name: "a StatefulSet of one that serves nobody anyhow", rollout: { ready: [false] }, is: raised },
  { name: "a StatefulSet of two", rollout: { ready: [true, true] }, is: raised },
  { name: "a ReplicaSet of one", rollout: { kind: "ReplicaSet" }, is: held },
  { name: "a ReplicaSet of two", rollout: { kind: "ReplicaSet", ready: [true, true] }, is: raised },
  { name: "a DaemonSet on one node", rollout: { kind: "DaemonSet" }, is: held },
  { name: "a CronJob, whose run is left to end", rollout: { kind: "CronJob", ready: [true], takenFirst: 0 }, is: raised },
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
      rollout: { kind: "Deployment" as const, ready: [true, true], takenFirst: 2 },
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
    const killed = hungryApp({}, { pods: [aPodSeen({ containers: [aContainerSeen({ oomKill })] })] });
    const { record } = decide(killed);
    expect(record).toMatchObject({ kills: [], oomKills: 0, intents: [] });
    const down = killed.pods.map((pod) => ({ ...pod, ready: false }));
    expect(told({ ...killed, record, pods: down })).toEqual(["OutOfMemory", "patchTemplate"]);
  });
});

it("D2: what was decided while the only pod was not Ready is given up when it is Ready before the template was patched", () => {
  const intents = [anIntent({ road: "Template", id: "template-uid/Template/768Mi/1" })];
  const { settled, commands } = decide(hungryApp({}, { record: aRecord({ intents }) }));
  expect(settled).toMatchObject([{ outcome: "Abandoned" }]);
  expect(commands).toEqual([]);
});
