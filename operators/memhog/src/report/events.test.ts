import type { EventInput } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { anApp, anIntent, anObservedPod, aPolicy, aRecord, now } from "../model/observed-app.fixture.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import type { AppRecord, Plan, Stop } from "../model/plan.ts";
import { type Before, type EventRecorder, eventReasons, newEvents, recordEvents } from "./events.ts";

const intent = anIntent();
const before = (record: Partial<AppRecord> = {}, reason = "BelowThreshold"): Before => ({ record: aRecord(record), reason });
const after = (record: Partial<AppRecord>, more: Partial<Plan> = {}) => aPlan({ record: aRecord(record), ...more });
const settled = (outcome: Plan["settled"][number]["outcome"], different = {}, message = "so it is") =>
  after({}, { settled: [{ intent: anIntent(different), outcome, message }] });
const kill = { uid: "pod-1", container: "memhog", restart: 0 };
const stop: Stop = { reason: "SuspectedLeak", atMs: now, uid: "pod-1", monitorUid: "m", monitorGeneration: 1 };
const capped = anIntent({ changes: intent.changes.map((change) => ({ ...change, cappedBy: "LimitRange/small" })) });
const held = (reason: "CapReached" | "AmbiguousMonitor" | "RecommendOnly" | "CoolingDown") =>
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
  { name: "a raise started", was: before(), plan: after({ intents: [intent] }), says: [] },
  { name: "a raise continues", was: before({ intents: [intent] }), plan: after({ intents: [intent] }), says: [] },
  {
    name: "the limits are confirmed",
    was: before({ intents: [intent] }),
    plan: after({ intents: [anIntent({ limitsApplied: true })] }),
    says: [`MemoryRaised: ${raised}, in place (ThresholdCrossed: usage has reached memThresholdPercent of the limit)`],
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
    says: [`MemoryRaised: ${raised}, in place (ThresholdCrossed: usage has reached memThresholdPercent of the limit)`],
  },
  {
    name: "a rollout finished",
    was: before({ intents: [anIntent({ method: "Template" })] }),
    plan: settled("Applied", { method: "Template", reason: "OutOfMemory" }),
    says: [`MemoryRaised: ${raised}, by a rollout (OutOfMemory: the container was OOM-killed)`],
  },
  {
    name: "a copy replaced the pod",
    was: before({ intents: [anIntent({ method: "CopyPod", copy: "memhog-1-autoscaled" })] }),
    plan: settled("Applied", { method: "CopyPod", copy: "memhog-1-autoscaled", reason: "OutOfMemory" }),
    says: [`PodReplaced: memhog-1 was replaced by memhog-1-autoscaled: ${raised} (OutOfMemory: the container was OOM-killed)`],
  },
  {
    name: "a cap",
    was: before(),
    plan: after({ intents: [capped] }),
    says: [`RaiseCapped: ${raised}: LimitRange/small allows no more`],
  },
  { name: "the same cap again", was: before({ intents: [capped] }), plan: after({ intents: [capped] }), says: [] },
  {
    name: "a resize is deferred",
    was: before({ intents: [intent] }),
    plan: after({ intents: [anIntent({ waiting: { reason: "ResizeDeferred" } })] }),
    says: [`RaiseDeferred: ${raised} is deferred: the node does not have enough free memory`],
  },
  {
    name: "a resize is still deferred",
    was: before({ intents: [anIntent({ waiting: { reason: "ResizeDeferred" } })] }),
    plan: after({ intents: [anIntent({ waiting: { reason: "ResizeDeferred" } })] }),
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
    name: "the pod is gone",
    was: before({ intents: [intent] }),
    plan: settled("Abandoned"),
    says: [`RaiseAbandoned: ${raised}: so it is`],
  },
  {
    name: "a kill",
    was: before(),
    plan: after({ kills: [kill], oomKills: 1 }),
    says: ["OutOfMemoryKilled: memhog was OOM-killed; 1 OOM kills of this app so far"],
  },
  { name: "a kill that was already reported", was: before({ kills: [kill] }), plan: after({ kills: [kill] }), says: [] },
  {
    name: "another kill of the same container",
    was: before({ kills: [kill] }),
    plan: after({ kills: [{ ...kill, restart: 1 }], oomKills: 2 }),
    says: ["OutOfMemoryKilled: memhog was OOM-killed; 2 OOM kills of this app so far"],
  },
  {
    name: "a leak",
    was: before(),
    plan: after({ stops: [stop] }),
    says: [
      "LeakSuspected: usage kept growing over several raises and never fell back, or the container was raised maxRaisesPerHour times within an hour; more memory would only hide a leak; no more raises until the AppMonitor is edited",
    ],
  },
  { name: "a leak that was already reported", was: before({ stops: [stop] }), plan: after({ stops: [stop] }), says: [] },
  { name: "a cap is reached", was: before(), plan: held("CapReached"), says: ["CapReached: memhog: LimitRange/small"] },
  { name: "the same cap is still reached", was: before({}, "CapReached"), plan: held("CapReached"), says: [] },
  { name: "a recommendation", was: before(), plan: held("RecommendOnly"), says: ["RaiseRecommended: memhog: LimitRange/small"] },
  { name: "a cooldown", was: before(), plan: held("CoolingDown"), says: [] },
];

describe("new Events of a plan", () => {
  it.each(cases)("$name", ({ was, plan, says }) => {
    expect(newEvents(was, plan).map(({ event }) => `${event.reason}: ${event.message}`)).toEqual(says);
  });

  it("E1: emits no Event twice", () => {
    for (const { plan } of cases) {
      const again = newEvents({ record: plan.record, reason: plan.summary.reason }, { ...plan, settled: [] });
      expect(again).toEqual([]);
    }
  });

  it("uses documented reasons and messages of at most 1000 characters", () => {
    const names = Array.from({ length: 40 }, (_, at) => `${"container".repeat(20)}-${at}`);
    const changes = names.map((container) => ({
      container,
      from: { limit: mib(1), request: undefined },
      to: { limit: mib(2), request: undefined },
    }));
    const all = [
      ...cases.flatMap(({ was, plan }) => newEvents(was, plan)),
      ...newEvents(before(), settled("Refused", { changes })),
    ];
    for (const { event } of all) {
      expect(Object.keys(eventReasons)).toContain(event.reason);
      expect(event.message.length).toBeLessThanOrEqual(1000);
    }
  });
});

describe("recording Events", () => {
  function listener() {
    const heard: string[] = [];
    const eventOn = (kind: { kind: string }, object: { metadata: { name: string; uid: string } }, { message }: EventInput) =>
      void heard.push(`${kind.kind} ${object.metadata.name} ${object.metadata.uid}: ${message}`);
    return { heard, recorder: { eventOn } as EventRecorder };
  }
  const events = (pod?: { name: string; uid: string }) => [
    { event: { reason: "Contested", message: "so it is" } as const, ...(pod && { pod }) },
  ];

  it("records an Event on the pod, its app and the AppMonitor", () => {
    const { heard, recorder } = listener();
    recordEvents(recorder, anApp(), events({ name: "memhog-1", uid: "pod-1" }));
    expect(heard).toEqual([
      "Pod memhog-1 pod-1: so it is",
      "Deployment memhog template-uid: memhog-1: so it is",
      "AppMonitor johnny-cache monitor-uid: memhog-1: so it is",
    ]);
  });

  it("records the Event on the copy if the pod is gone, and on every AppMonitor that selects it", () => {
    const { heard, recorder } = listener();
    const seen = anApp({
      app: { kind: "Pod", namespace: "demo", name: "hungry" },
      template: undefined,
      pods: [anObservedPod({ name: "hungry-autoscaled", uid: "pod-2", copyOf: "pod-1" })],
      policies: [aPolicy({ name: "a", uid: "1" }), aPolicy({ name: "b", uid: "2" })],
    });
    recordEvents(recorder, seen, events({ name: "hungry", uid: "pod-1" }));
    expect(heard).toEqual([
      "Pod hungry-autoscaled pod-2: so it is",
      "AppMonitor a 1: hungry: so it is",
      "AppMonitor b 2: hungry: so it is",
    ]);
  });

  it("records an Event about the whole app on no pod", () => {
    const { heard, recorder } = listener();
    recordEvents(recorder, anApp(), events());
    expect(heard).toEqual(["Deployment memhog template-uid: so it is", "AppMonitor johnny-cache monitor-uid: so it is"]);
  });
});
