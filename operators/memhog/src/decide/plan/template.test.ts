// By the template, case by case.
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import {
  aContainerSeen,
  anApp,
  anIntent,
  aPodSeen,
  aPolicy,
  aRecord,
  aTemplate,
  now,
  samplesOf,
} from "../../model/seen.fixture.ts";
import type { AppSeen, PodSeen, TemplateSeen } from "../../model/seen.ts";
import { decide } from "../decide.ts";

const intent = anIntent({ road: "Template", id: "template-uid/Template/768Mi/1" });
const small = { name: "memhog", limit: mib(384), request: mib(256) };
const big = { name: "memhog", limit: mib(768), request: mib(512) };
const template = (different: Partial<TemplateSeen> = {}) =>
  aTemplate({ containers: [big], replicas: 2, readyReplicas: 2, rolledOut: false, ...different });
const pod = (number: number, size: typeof small, different: Partial<PodSeen> = {}) =>
  aPodSeen({ name: `memhog-${number}`, uid: `pod-${number}`, containers: [aContainerSeen(size)], ...different });
const world = (different: Partial<AppSeen> = {}) =>
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
    { name: "the rollout is stuck: NotReady", different: { template: template({ stalled: "deadline" }) }, outcome: "NotReady" },
    {
      name: "a pod of the new size never becomes Ready: NotReady",
      different: { ...byHand, pods: [pod(1, small), pod(2, big, { ready: false, createdAtMs: now - 300_000 })] },
      outcome: "NotReady",
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

describe("a new intent", () => {
  const hungry = (limit: number, request: number) => ({
    containers: [aContainerSeen({ limit: mib(limit), request: mib(request), samples: samplesOf([limit * 0.8, limit * 0.8]) })],
  });
  const fresh = (different: Partial<AppSeen> = {}) =>
    world({ record: aRecord(), template: template({ containers: [small], rolledOut: true }), ...different });

  it("asks for the most that any of its pods needs, once for all of them", () => {
    const pods = [aPodSeen(hungry(384, 256)), aPodSeen({ name: "memhog-2", uid: "pod-2", ...hungry(512, 300) })];
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
    const { verdicts, record } = decide(fresh({ template: template(), pods: [aPodSeen(hungry(384, 256))] }));
    expect(verdicts).toMatchObject([{ decision: { reason: "RolloutInProgress" } }]);
    expect(record.intents).toEqual([]);
  });

  it("replaces pods that a ReplicaSet left behind its own template", () => {
    const pods = [aPodSeen(hungry(384, 256)), pod(2, big)];
    expect(decide(fresh({ ...byHand, pods })).commands).toMatchObject([{ do: "evict", uid: "pod-1" }]);
  });

  it("is not begun where it would be over at once: a replaced pod is stuck", () => {
    const stuck = pod(2, big, { ready: false, createdAtMs: now - 300_000 });
    const { record, verdicts } = decide(fresh({ ...byHand, pods: [aPodSeen(hungry(384, 256)), stuck] }));
    expect(record.intents).toEqual([]);
    expect(verdicts[0]).toMatchObject({ decision: { reason: "RolloutInProgress" } });
  });

  it("is never made only because other pods of the app needed more", () => {
    const learned = [{ container: "memhog", limit: mib(768), request: mib(512), atMs: now - 60_000 }];
    const intents = [anIntent({ reason: "LearnedBefore", waitingFor: "Infeasible: NodeCapacity" })];
    const young = pod(1, small, { createdAtMs: now - 30_000 });
    const { record, settled } = decide(fresh({ policies: [aPolicy()], pods: [young], record: aRecord({ learned, intents }) }));
    expect(settled).toMatchObject([{ outcome: "Infeasible" }]);
    expect(record.intents).toEqual([]);
  });
});
