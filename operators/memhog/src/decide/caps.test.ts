// The table in the comment of caps.ts, line by line; and D5: what the namespace allows is known before anything is tried.
import { describe, expect, it } from "vitest";
import { mib, readable } from "../model/bytes.ts";
import { aContainerSeen, aNode, anApp, anIntent, aPodSeen, aPolicy, aRecord } from "../model/seen.fixture.ts";
import type { AppSeen, NamespaceLimits, PodSeen, QuotaSeen, RangeSeen } from "../model/seen.ts";
import { inputsFor } from "./verdict.fixture.ts";
import { verdictsOn } from "./verdict.ts";

const range = (different: Partial<RangeSeen>): NamespaceLimits => ({
  ranges: [{ name: "small", per: "Container", max: undefined, maxRatio: undefined, ...different }],
  quotas: [],
});
const quota = (different: Partial<QuotaSeen>): NamespaceLimits => ({
  ranges: [],
  quotas: [{ name: "team", of: "limits", hard: mib(10_240), used: mib(9_728), ...different }],
});
const sidecar = aContainerSeen({ name: "proxy", sidecar: true, limit: mib(300), request: mib(100) });
const guaranteed = (pod: Partial<PodSeen>) =>
  aPodSeen({ qos: "Guaranteed", containers: [aContainerSeen({ limit: mib(384), request: mib(384) })], ...pod });

const had = { limit: mib(384), request: mib(384) };

const cases: readonly { readonly name: string; readonly seen: Partial<AppSeen>; readonly cap: string }[] = [
  { name: "maxMemory", seen: { policies: [aPolicy({ maxMemory: mib(600) })] }, cap: "maxMemory: limit 600Mi" },
  { name: "a LimitRange per container", seen: { limits: range({ max: mib(1024) }) }, cap: "LimitRange/small: limit 1024Mi" },
  {
    name: "a LimitRange per pod leaves what the sidecar does not have",
    seen: {
      limits: range({ per: "Pod", max: mib(1024) }),
      pods: [aPodSeen({ containers: [aContainerSeen(), sidecar] })],
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
    seen: { pods: [aPodSeen({ containers: [aContainerSeen(), sidecar], node: aNode({ allocatable: mib(1_000) }) })] },
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
  expect(capsFor(anApp({ pods: [aPodSeen({ node: undefined })] }))).toEqual([]);
});

describe("room that is spoken for", () => {
  const two = (different: Partial<AppSeen>) => anApp({ pods: [hot("pod-1"), hot("pod-2")], limits: quota({}), ...different });
  const hot = (uid: string) =>
    aPodSeen({ uid, name: uid, containers: [aContainerSeen({ samples: [{ bytes: mib(380), ageMs: 1_000 }] })] });

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

function capsFor(seen: AppSeen): readonly string[] {
  return inputsFor(seen).caps.map(({ name, of, most }) => `${name}: ${of} ${readable(most)}`);
}
