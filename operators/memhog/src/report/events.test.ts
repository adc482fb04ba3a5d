import type { Remark } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import type { Plan } from "../model/plan.ts";
import type { AppRecord, Stop } from "../model/record.ts";
import { anApp, anIntent, aPodSeen, aPolicy, aRecord, now } from "../model/seen.fixture.ts";
import { eventReasons } from "./event-reasons.ts";
import { type Before, news, type Teller, tell } from "./events.ts";

const intent = anIntent();
const before = (record: Partial<AppRecord> = {}, reason = "BelowThreshold"): Before => ({ record: aRecord(record), reason });
const after = (record: Partial<AppRecord>, more: Partial<Plan> = {}) => aPlan({ record: aRecord(record), ...more });
const settled = (outcome: Plan["settled"][number]["outcome"], different = {}, detail = "so it is") =>
  after({}, { settled: [{ intent: anIntent(different), outcome, detail }] });
const kill = { uid: "pod-1", container: "memhog", restart: 0 };
const stop: Stop = { reason: "SuspectedLeak", atMs: now, uid: "pod-1", monitorUid: "m", monitorGeneration: 1 };
const capped = anIntent({ changes: intent.changes.map((change) => ({ ...change, cappedBy: "LimitRange/small" })) });
const held = (reason: "AtCeiling" | "AmbiguousMonitor" | "RecommendOnly" | "CoolingDown") =>
  after(
    {},
    {
      summary: { ...aPlan().summary, reason, message: "" },
      verdicts: [aVerdict({ decision: { kind: "hold", reason, detail: "LimitRange/small" } })],
    },
  );

const raised = "memhog 256Mi/384Mi → 512Mi/768Mi";
const cases: readonly { name: string; was: Before; plan: Plan; says: readonly string[] }[] = [
  { name: "nothing happened", was: before(), plan: aPlan(), says: [] },
  { name: "a raise began", was: before(), plan: after({ intents: [intent] }), says: [] },
  { name: "a raise goes on", was: before({ intents: [intent] }), plan: after({ intents: [intent] }), says: [] },
  {
    name: "the limits are confirmed",
    was: before({ intents: [intent] }),
    plan: after({ intents: [anIntent({ limitsApplied: true })] }),
    says: [`MemoryRaised: ${raised}, in place (ThresholdCrossed: usage ÷ limit has reached memThresholdPercent)`],
  },
  {
    name: "the requests follow",
    was: before({ intents: [anIntent({ limitsApplied: true })] }),
    plan: settled("Applied", { limitsApplied: true }),
    says: [],
  },
  {
    name: "limits and requests at once",
    was: before({ intents: [intent] }),
    plan: settled("Applied"),
    says: [`MemoryRaised: ${raised}, in place (ThresholdCrossed: usage ÷ limit has reached memThresholdPercent)`],
  },
  {
    name: "a rollout has ended",
    was: before({ intents: [anIntent({ road: "Template" })] }),
    plan: settled("Applied", { road: "Template", reason: "OutOfMemory" }),
    says: [`MemoryRaised: ${raised}, by its template (OutOfMemory: the container was killed for lack of memory)`],
  },
  {
    name: "a copy took over",
    was: before({ intents: [anIntent({ road: "CopyPod", copy: "memhog-1-autoscaled" })] }),
    plan: settled("Applied", { road: "CopyPod", copy: "memhog-1-autoscaled", reason: "OutOfMemory" }),
    says: [
      `PodReplaced: memhog-1 was replaced by memhog-1-autoscaled: ${raised} (OutOfMemory: the container was killed for lack of memory)`,
    ],
  },
  {
    name: "a cap",
    was: before(),
    plan: after({ intents: [capped] }),
    says: [`RaiseCapped: ${raised}: LimitRange/small allows no more`],
  },
  { name: "the same cap again", was: before({ intents: [capped] }), plan: after({ intents: [capped] }), says: [] },
  {
    name: "the node has no room",
    was: before({ intents: [intent] }),
    plan: after({ intents: [anIntent({ waitingFor: "Deferred" })] }),
    says: [`RaiseDeferred: ${raised} waits: the node has no room for it now`],
  },
  {
    name: "the node still has no room",
    was: before({ intents: [anIntent({ waitingFor: "Deferred" })] }),
    plan: after({ intents: [anIntent({ waitingFor: "Deferred" })] }),
    says: [],
  },
  { name: "refused", was: before({ intents: [intent] }), plan: settled("Refused"), says: [`RaiseRefused: ${raised}: so it is`] },
  {
    name: "infeasible",
    was: before({ intents: [intent] }),
    plan: settled("Infeasible"),
    says: [`RaiseInfeasible: ${raised}: so it is`],
  },
  {
    name: "not Ready",
    was: before({ intents: [intent] }),
    plan: settled("NotReady"),
    says: [`ReplacementNotReady: ${raised}: so it is`],
  },
  {
    name: "the pod went away",
    was: before({ intents: [intent] }),
    plan: settled("Abandoned"),
    says: [`RaiseAbandoned: ${raised}: so it is`],
  },
  {
    name: "a kill",
    was: before(),
    plan: after({ kills: [kill] }),
    says: ["OutOfMemoryKilled: memhog was killed for lack of memory"],
  },
  { name: "a kill that was told", was: before({ kills: [kill] }), plan: after({ kills: [kill] }), says: [] },
  {
    name: "another kill of the same container",
    was: before({ kills: [kill] }),
    plan: after({ kills: [{ ...kill, restart: 1 }] }),
    says: ["OutOfMemoryKilled: memhog was killed for lack of memory"],
  },
  {
    name: "a leak",
    was: before(),
    plan: after({ stops: [stop] }),
    says: [
      "LeakSuspected: more raises than maxRaisesPerHour: more memory only hides a leak; left alone until the AppMonitor is edited",
    ],
  },
  { name: "a leak that was told", was: before({ stops: [stop] }), plan: after({ stops: [stop] }), says: [] },
  { name: "a ceiling", was: before(), plan: held("AtCeiling"), says: ["AtCeiling: memhog: LimitRange/small"] },
  { name: "the same ceiling", was: before({}, "AtCeiling"), plan: held("AtCeiling"), says: [] },
  { name: "a recommendation", was: before(), plan: held("RecommendOnly"), says: ["RaiseRecommended: memhog: LimitRange/small"] },
  { name: "a cooldown", was: before(), plan: held("CoolingDown"), says: [] },
];

describe("the news of a plan", () => {
  it.each(cases)("$name", ({ was, plan, says }) => {
    expect(news(was, plan).map(({ remark }) => `${remark.reason}: ${remark.note}`)).toEqual(says);
  });

  it("is none the second time (E1)", () => {
    for (const { plan } of cases) {
      const again = news({ record: plan.record, reason: plan.summary.reason }, { ...plan, settled: [] });
      expect(again).toEqual([]);
    }
  });

  it("has reasons that are listed, and notes that an API server takes", () => {
    const names = Array.from({ length: 40 }, (_, at) => `${"container".repeat(20)}-${at}`);
    const changes = names.map((container) => ({
      container,
      from: { limit: mib(1), request: undefined },
      to: { limit: mib(2), request: undefined },
    }));
    const all = [...cases.flatMap(({ was, plan }) => news(was, plan)), ...news(before(), settled("Refused", { changes }))];
    for (const { remark } of all) {
      expect(Object.keys(eventReasons)).toContain(remark.reason);
      expect(remark.note.length).toBeLessThanOrEqual(1000);
    }
  });
});

describe("telling the news", () => {
  function listener() {
    const heard: string[] = [];
    const eventOn = (kind: { kind: string }, object: { metadata: { name: string; uid: string } }, { note }: Remark) =>
      void heard.push(`${kind.kind} ${object.metadata.name} ${object.metadata.uid}: ${note}`);
    return { heard, teller: { eventOn } as Teller };
  }
  const told = (pod?: { name: string; uid: string }) => [
    { remark: { reason: "Contested", note: "so it is" } as const, ...(pod && { pod }) },
  ];

  it("reaches the pod, its app and the AppMonitor", () => {
    const { heard, teller } = listener();
    tell(teller, anApp(), told({ name: "memhog-1", uid: "pod-1" }));
    expect(heard).toEqual([
      "Pod memhog-1 pod-1: so it is",
      "Deployment memhog template-uid: memhog-1: so it is",
      "AppMonitor johnny-cache monitor-uid: memhog-1: so it is",
    ]);
  });

  it("reaches the copy where the pod is gone, and every AppMonitor where there are too many", () => {
    const { heard, teller } = listener();
    const seen = anApp({
      app: { kind: "Pod", namespace: "demo", name: "hungry" },
      template: undefined,
      pods: [aPodSeen({ name: "hungry-autoscaled", uid: "pod-2", copyOf: "pod-1" })],
      policies: [aPolicy({ name: "a", uid: "1" }), aPolicy({ name: "b", uid: "2" })],
    });
    tell(teller, seen, told({ name: "hungry", uid: "pod-1" }));
    expect(heard).toEqual([
      "Pod hungry-autoscaled pod-2: so it is",
      "AppMonitor a 1: hungry: so it is",
      "AppMonitor b 2: hungry: so it is",
    ]);
  });

  it("about the whole app does not single out a pod", () => {
    const { heard, teller } = listener();
    tell(teller, anApp(), told());
    expect(heard).toEqual(["Deployment memhog template-uid: so it is", "AppMonitor johnny-cache monitor-uid: so it is"]);
  });
});
