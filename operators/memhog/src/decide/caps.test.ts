// The table in the comment of caps.ts, line by line; and D5: what the namespace allows is known before anything is tried.
import { describe, expect, it } from "vitest";
import { bytes, mib, quantityText, readable } from "../model/bytes.ts";
import {
  aNode,
  anAction,
  anApp,
  anAppWith,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  aTemplate,
} from "../model/observed-app.fixture.ts";
import type {
  NamespaceLimits,
  ObservedApp,
  ObservedContainer,
  ObservedLimitRange,
  ObservedPod,
  ObservedQuota,
} from "../model/observed-app.ts";
import { decide } from "./decide.ts";
import { decisionOf, inputsFor } from "./verdict.fixture.ts";
import { verdictsOn } from "./verdict.ts";

const range = (different: Partial<ObservedLimitRange>): NamespaceLimits => ({
  ranges: [{ name: "small", per: "Container", max: undefined, maxRatio: undefined, ...different }],
  quotas: [],
});
const quota = (different: Partial<ObservedQuota>): NamespaceLimits => ({
  ranges: [],
  quotas: [{ name: "team", of: "limits", hard: mib(10_240), used: mib(9_728), ...different }],
});
const sidecar = anObservedContainer({ name: "proxy", sidecar: true, limit: mib(300), request: mib(100) });
const guaranteed = (pod: Partial<ObservedPod>) =>
  anObservedPod({ qos: "Guaranteed", containers: [anObservedContainer({ limit: mib(384), request: mib(384) })], ...pod });

const had = { limit: mib(384), request: mib(384) };

const cases: readonly { readonly name: string; readonly seen: Partial<ObservedApp>; readonly cap: string }[] = [
  { name: "maxMemory", seen: { policies: [aPolicy({ maxMemory: mib(600) })] }, cap: "maxMemory: limit 600Mi" },
  { name: "a LimitRange per container", seen: { limits: range({ max: mib(1024) }) }, cap: "LimitRange/small: limit 1024Mi" },
  {
    name: "a LimitRange per pod leaves what the sidecar does not have",
    seen: {
      limits: range({ per: "Pod", max: mib(1024) }),
      pods: [anObservedPod({ containers: [anObservedContainer(), sidecar] })],
    },
    cap: "LimitRange/small: limit 724Mi",
  },
  {
    name: "a quota of limits counts what the container has",
    seen: { limits: quota({}) },
    cap: "ResourceQuota/team: limit 896Mi",
  },
  {
    name: "a quota of requests caps the request alone",
    seen: { limits: quota({ of: "requests", used: mib(10_240) }) },
    cap: "ResourceQuota/team: request 256Mi",
  },
  {
    name: "a quota that is used up by more than its measure allows nothing",
    seen: { limits: quota({ hard: mib(100), used: mib(1_000) }) },
    cap: "ResourceQuota/team: limit 0",
  },
  { name: "the node, for the limit", seen: {}, cap: "Node/n1: limit 16Gi" },
  {
    name: "the node, for the request beside a sidecar's",
    seen: { pods: [anObservedPod({ containers: [anObservedContainer(), sidecar], node: aNode({ allocatable: mib(1_000) }) })] },
    cap: "Node/n1: request 900Mi",
  },
  {
    name: "the room on the node, for a Guaranteed pod",
    seen: { pods: [guaranteed({ node: aNode({ allocatable: mib(16_384), requested: mib(16_281.6) }) })] },
    cap: "Node/n1: request 486.4Mi",
  },
  {
    name: "not the room on the node where the pod is redeployed, maybe elsewhere",
    seen: {
      policies: [aPolicy({ strategy: "Redeploy" })],
      pods: [guaranteed({ node: aNode({ allocatable: mib(2_048), requested: mib(2_048) }) })],
    },
    cap: "Node/n1: request 2048Mi",
  },
];

it.each(cases)("D5: $name", ({ seen, cap }) => expect(capsFor(anApp(seen))).toContain(cap));

it("names the tightest first", () => {
  const limits = { ranges: range({ max: mib(500) }).ranges, quotas: quota({}).quotas };
  const caps = capsFor(anApp({ limits, policies: [aPolicy({ maxMemory: mib(600) })] }));
  expect(caps.slice(0, 3)).toEqual([
    "LimitRange/small: limit 500Mi",
    "maxMemory: limit 600Mi",
    "ResourceQuota/team: limit 896Mi",
  ]);
});

it("knows no node before the pod has one", () => {
  expect(capsFor(anApp({ pods: [anObservedPod({ node: undefined })] }))).toEqual(["DefaultCap/Multiple: limit 3072Mi"]);
});

describe("room that is spoken for", () => {
  const two = (different: Partial<ObservedApp>) => anApp({ pods: [hot("pod-1"), hot("pod-2")], limits: quota({}), ...different });
  const hot = (uid: string) =>
    anObservedPod({ uid, name: uid, containers: [anObservedContainer({ samples: [{ bytes: mib(380), ageMs: 1_000 }] })] });

  it("is not granted twice in one pass: 512Mi are left, the first gets 384Mi of them, the second 128Mi", () => {
    const granted = verdictsOn(two({})).map(({ decision }) => decision.kind === "raise" && readable(decision.granted.limit));
    expect(granted).toEqual(["768Mi", "512Mi"]);
  });

  it("is not granted while the intent for it is open", () => {
    const open = anIntent({ pod: { name: "pod-1", uid: "pod-1" } });
    const [, second] = verdictsOn(two({ record: aRecord({ intents: [open] }) }));
    expect(second?.decision).toMatchObject({ kind: "raise", granted: { limit: mib(512) }, cappedBy: "ResourceQuota/team" });
  });

  it("is not granted twice on a node, to Guaranteed pods; another node has its own room", () => {
    const node = (name: string) => aNode({ name, allocatable: mib(2_000), requested: mib(1_500) });
    const of = (uid: string, on: string) => guaranteed({ uid, name: uid, node: node(on) });
    const open = anIntent({ changes: [{ container: "memhog", from: had, to: { limit: mib(768), request: mib(768) } }] });
    const seen = anApp({ pods: [of("pod-2", "n1"), of("pod-1", "n1"), of("pod-3", "n2")], record: aRecord({ intents: [open] }) });
    const room = verdictsOn(seen).map(({ inputs }) => readable(inputs.caps.find((cap) => cap.of === "request")?.most ?? 0));
    expect(room).toEqual(["500Mi", "884Mi", "884Mi"]); // 384 + 500, less the 384 that pod-1 was promised
  });

  it("does not stand in the way of the one it was promised to", () => {
    const open = anIntent({ limitsApplied: true });
    expect(capsFor(two({ record: aRecord({ intents: [open] }) }))).toContain("ResourceQuota/team: limit 896Mi");
  });
});

function capsFor(seen: ObservedApp): readonly string[] {
  return inputsFor(seen).caps.map(({ name, of, most }) => `${name}: ${of} ${readable(most)}`);
}

// The table in the comment of grant.ts, line by line: a container of 256Mi/384Mi that uses 380 MiB, and johnny-cache.

const requests300: NamespaceLimits = {
  ranges: [],
  quotas: [{ name: "team", of: "requests", hard: mib(1_000), used: mib(956) }],
};
const ratio = (different: Partial<ObservedLimitRange>): readonly ObservedLimitRange[] => [
  { name: "ratio", per: "Container", max: undefined, maxRatio: 2, ...different },
];
const hot = (container: Partial<ObservedContainer> = {}, pod: Partial<ObservedPod> = {}) => [
  anObservedPod({ containers: [anObservedContainer({ samples: [{ bytes: mib(380), ageMs: 1_000 }], ...container })], ...pod }),
];
const asGuaranteed = { request: mib(384) };

const unbounded = { policies: [aPolicy({ maxMemory: bytes(2 ** 53 - 1) })] };

const grantCases: readonly { readonly name: string; readonly seen: Partial<ObservedApp>; readonly gives: string }[] = [
  { name: "all of it without a cap", seen: {}, gives: "512Mi/768Mi" },
  {
    name: "as much as maxMemory allows, the request in proportion",
    seen: { policies: [aPolicy({ maxMemory: mib(600) })] },
    gives: "400Mi/600Mi by maxMemory",
  },
  {
    name: "whole MiB of a cap that is not whole",
    seen: { policies: [aPolicy({ maxMemory: bytes(500_000_000) })] },
    gives: "317Mi/476Mi by maxMemory",
  },
  {
    name: "the whole limit where only the request is capped",
    seen: { limits: requests300 },
    gives: "300Mi/768Mi by ResourceQuota/team",
  },
  {
    name: "no more limit than its ratio to the request may be",
    seen: { limits: { ...requests300, ranges: ratio({}) } },
    gives: "300Mi/600Mi by LimitRange/ratio",
  },
  {
    name: "no more limit than the ratio of the sums over the pod may be",
    seen: { limits: { ...requests300, ranges: ratio({ per: "Pod" }) } },
    gives: "300Mi/600Mi by LimitRange/ratio",
  },
  {
    name: "all of it where both grow alike and the ratio stays",
    seen: { limits: { quotas: [], ranges: ratio({}) } },
    gives: "512Mi/768Mi",
  },
  {
    name: "request and limit as one for Guaranteed",
    seen: { pods: hot(asGuaranteed, { qos: "Guaranteed", node: aNode({ allocatable: mib(1_000), requested: mib(884) }) }) },
    gives: "500Mi/500Mi by Node/n1",
  },
  {
    name: "not more than the node has, though Kubernetes would allow it",
    seen: { ...unbounded, pods: hot({}, { node: aNode({ allocatable: mib(512), requested: mib(256) }) }) },
    gives: "341Mi/512Mi by Node/n1",
  },
  { name: "nothing for less than 2 %", seen: { policies: [aPolicy({ maxMemory: mib(388) })] }, gives: "CapReached by maxMemory" },
  { name: "something from 2 % on", seen: { policies: [aPolicy({ maxMemory: mib(392) })] }, gives: "261Mi/392Mi by maxMemory" },
  {
    name: "nothing under a cap below what it has",
    seen: { policies: [aPolicy({ maxMemory: mib(100) })] },
    gives: "CapReached by maxMemory",
  },
  {
    name: "a step as small as the multiplier asks for",
    seen: { policies: [aPolicy({ multiplier: 1.01 })] },
    gives: "259Mi/388Mi",
  },
  { name: "half as much again for 1.5", seen: { policies: [aPolicy({ multiplier: 1.5 })] }, gives: "384Mi/576Mi" },
  { name: "the limit alone where there is no request", seen: { pods: hot({ request: undefined }) }, gives: "none/768Mi" },
  {
    name: "nothing beyond what can be counted",
    seen: {
      ...unbounded,
      pods: hot(
        { limit: bytes(2 ** 52), request: mib(1), samples: [{ bytes: bytes(2 ** 52), ageMs: 1_000 }] },
        { node: undefined },
      ),
    },
    gives: "CapReached by the largest number",
  },
];

it.each(grantCases)("D5: grants $name", ({ seen, gives }) => expect(granted(anApp({ pods: hot(), ...seen }))).toBe(gives));

it("says what was wanted where nothing can be granted", () => {
  const decision = decisionOf(anApp({ pods: hot(), policies: [aPolicy({ maxMemory: mib(384) })] }));
  expect(decision).toMatchObject({ kind: "hold", wanted: { limit: mib(768), request: mib(512) }, cap: "maxMemory" });
  expect(decision.detail).toBe("380Mi of 384Mi are used: 99.0 %, the threshold is 75 %; maxMemory leaves no more than 384Mi");
});

// The table of redeployments in the comment of caps.ts, line by line: 6 replicas of 256Mi/384Mi, one of which uses 380 MiB.

describe("D5: a redeployment fits the quota with all replicas and its surge", () => {
  const calm = Array.from({ length: 5 }, (_, i) => anObservedPod({ name: `calm-${i}`, uid: `calm-${i}` }));
  const small = { name: "memhog", limit: mib(384), request: mib(256) };
  const rollout = ({ surge = 2, left = 0, of = "limits" as const, ...different }: Rollout) =>
    anApp({
      pods: [...hot(), ...calm],
      policies: [aPolicy({ strategy: "Redeploy" })],
      template: aTemplate({ containers: [small], replicas: 6, surge }),
      limits: quota({ of, hard: mib(50_000), used: mib(50_000 - left) }),
      ...different,
    });
  interface Rollout extends Partial<ObservedApp> {
    readonly surge?: number;
    /** MiB that the quota leaves. */
    readonly left?: number;
    readonly of?: ObservedQuota["of"];
  }
  const proxy = (limit: number) => ({ name: "proxy", limit: mib(limit), request: mib(0) });

  it.each<{ name: string; rollout: Rollout; cap: string; gives: string }>([
    { name: "all replicas fit", rollout: { left: 8_192 }, cap: "limit 1621.3Mi", gives: "512Mi/768Mi" },
    { name: "a smaller step", rollout: { left: 2_048 }, cap: "limit 597.3Mi", gives: "398Mi/597Mi by ResourceQuota/team" },
    {
      name: "room for one replica is none",
      rollout: { left: 384 },
      cap: "limit 320Mi",
      gives: "CapReached by ResourceQuota/team",
    },
    { name: "no room", rollout: {}, cap: "limit 256Mi", gives: "CapReached by ResourceQuota/team" },
    {
      name: "the old pod goes first (StatefulSet)",
      rollout: { left: 2_048, surge: 0 },
      cap: "limit 725.3Mi",
      gives: "483Mi/725Mi by ResourceQuota/team",
    },
    {
      name: "requests: the limit grows alone, as long as new pods fit",
      rollout: { left: 512, of: "requests" },
      cap: "request 256Mi",
      gives: "256Mi/768Mi by ResourceQuota/team",
    },
    {
      name: "requests: not even pods of the present size fit during the rollout",
      rollout: { left: 500, of: "requests" },
      cap: "limit 0",
      gives: "CapReached by ResourceQuota/team",
    },
    {
      name: "a sidecar of every new pod",
      rollout: { left: 2_048, template: aTemplate({ containers: [small, proxy(100)], replicas: 6, surge: 2 }) },
      cap: "limit 497.3Mi",
      gives: "331Mi/497Mi by ResourceQuota/team",
    },
    {
      name: "a bare pod and its copy, which runs next to it",
      rollout: { left: 512, app: { kind: "Pod", namespace: "demo", name: "memhog" }, template: undefined, pods: hot() },
      cap: "limit 512Mi",
      gives: "341Mi/512Mi by ResourceQuota/team",
    },
    {
      name: "one pod resized in place",
      rollout: { left: 384, policies: [aPolicy()] },
      cap: "limit 768Mi",
      gives: "512Mi/768Mi",
    },
  ])("$name", ({ rollout: of, cap, gives }) => {
    const seen = rollout(of);
    expect(capsFor(seen)).toContain(`ResourceQuota/team: ${cap}`);
    expect(granted(seen)).toBe(gives);
  });

  it("hot replicas need the room once: the template is raised once for all of them", () => {
    const pods = [...hot(), ...hot({}, { name: "second", uid: "second" }), ...calm.slice(1)];
    const { commands } = decide(rollout({ left: 2_048, pods }));
    expect(commands).toMatchObject([
      { do: "patchTemplate", changes: [{ to: { limit: mib(597) }, cappedBy: "ResourceQuota/team" }] },
    ]);
  });

  it("two containers of one pod share the room", () => {
    const second = anObservedContainer({ name: "second", samples: [{ bytes: mib(380), ageMs: 1_000 }] });
    const pods = hot().map((pod) => ({ ...pod, containers: [...pod.containers, second] }));
    const template = aTemplate({ containers: [small, { ...small, name: "second" }], replicas: 1, surge: 1 });
    const { record } = decide(rollout({ left: 1_300, pods, template }));
    const sizes = record.intents.flatMap(({ changes }) => changes.map(({ to }) => to.limit));
    expect(sizes.map(readable)).toEqual(["768Mi", "532Mi"]);
  });

  it("a quota that fills up before the template is patched ends the raise", () => {
    const begun = decide(rollout({ left: 8_192 }));
    const { settled, commands } = decide({ ...rollout({ left: 384 }), record: begun.record });
    expect(settled).toMatchObject([{ outcome: "Abandoned", message: "it now exceeds ResourceQuota/team" }]);
    expect(commands).toEqual([]);
  });

  it("a LimitRange that rejects another container of the new pods allows no raise", () => {
    const template = aTemplate({ containers: [small, proxy(2_048)], replicas: 6 });
    const pods = hot();
    expect(granted({ ...rollout({ left: 8_192, template, pods }), limits: range({ max: mib(1_024) }) })).toBe(
      "CapReached by LimitRange/small",
    );
  });
});

function granted(seen: ObservedApp): string {
  const decision = decisionOf(seen);
  if (decision.kind === "hold") return `${decision.reason} by ${decision.cap}`;
  const { request, limit } = decision.granted;
  const by = decision.cappedBy === undefined ? "" : ` by ${decision.cappedBy}`;
  return `${request === undefined ? "none" : quantityText(request)}/${quantityText(limit)}${by}`;
}

describe("G1: the default cap, without maxMemory", () => {
  const chain = (method: "InPlace" | "Template", sizes: readonly number[], pod = { name: "memhog-1", uid: "pod-1" }) =>
    sizes.slice(1).map((to, at) =>
      anAction({
        ...{ method, pod },
        changes: [
          {
            container: "memhog",
            from: { limit: mib(sizes[at] ?? 0), request: mib(256) },
            to: { limit: mib(to), request: mib(256) },
          },
        ],
      }),
    );
  const inTemplate = (limit: number) => ({
    template: aTemplate({ containers: [{ name: "memhog", limit: mib(limit), request: mib(256) }] }),
  });
  const defaults = (seen: Partial<ObservedApp>, limit = 384) =>
    capsFor(anAppWith({ limit: mib(limit) }, seen)).filter((cap) => cap.startsWith("DefaultCap/"));

  it.each([
    { name: "8 times the limit in the template", seen: {}, multiple: 3072 },
    {
      name: "whatever the pod has by now",
      seen: { record: aRecord({ actions: chain("InPlace", [384, 768]) }) },
      limit: 768,
      multiple: 3072,
    },
    {
      name: "where memhog raised the template, the limit before that",
      seen: { record: aRecord({ actions: chain("Template", [384, 768, 1536]) }), ...inTemplate(1536) },
      ...{ limit: 1536, multiple: 3072 },
    },
    {
      name: "an edit of the template counts as the new limit",
      seen: { record: aRecord({ actions: chain("Template", [384, 768]) }), ...inTemplate(1000) },
      ...{ limit: 1000, multiple: 8000 },
    },
    {
      name: "of a bare pod, the limit it had first",
      seen: { record: aRecord({ actions: chain("InPlace", [384, 768, 1536]) }), template: undefined },
      ...{ limit: 1536, multiple: 3072 },
    },
  ])("is $name", ({ seen, limit, multiple }) => {
    expect(defaults(seen, limit)).toContain(`DefaultCap/Multiple: limit ${multiple}Mi`);
  });

  it("is halfway to what the node has, where that is less", () => {
    const pods = [anObservedPod({ node: aNode({ allocatable: mib(4_096) }) })];
    expect(capsFor(anApp({ pods }))[0]).toBe("DefaultCap/NodeShare: limit 2240Mi");
  });

  it("does not apply where people say maxMemory", () => {
    expect(defaults(unbounded)).toEqual([]);
  });
});
