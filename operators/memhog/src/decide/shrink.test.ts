import { describe, expect, it } from "vitest";
import { bytes, MiB, mib, readable } from "../model/bytes.ts";
import {
  aNode,
  anAction,
  anApp,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  aTemplate,
  hpa,
  now,
  samplesOf,
} from "../model/observed-app.fixture.ts";
import type { ObservedApp, ObservedContainer, ObservedPod, Policy } from "../model/observed-app.ts";
import type { AppRecord, Shrink } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { withShrinks } from "./shrink.ts";

const day = 86_400_000;
const perDay = day / 12_000;
const shrink = { windowMs: day, margin: 0.2, belowTemplate: false };

interface Given {
  readonly container?: Partial<ObservedContainer>;
  readonly pod?: Partial<ObservedPod>;
  readonly policy?: Partial<Policy>;
  readonly app?: Partial<ObservedApp>;
  readonly record?: Partial<AppRecord>;
}

/** 1Gi/1536Mi, at most 200 MiB used in a day, template 256Mi/384Mi. */
function world({ container = {}, pod = {}, policy = {}, app = {}, record = {} }: Given = {}): ObservedApp {
  const window = { peak: mib(200), samples: perDay, lengthMs: day };
  const one = anObservedContainer({ limit: mib(1536), request: mib(1024), window, ...container });
  return anApp({
    pods: [anObservedPod({ createdAtMs: now - 2 * day, containers: [one], ...pod })],
    policies: [aPolicy({ shrink, ...policy })],
    cluster: { inPlace: true, resizeAfterOomKill: true, lowersLimits: true },
    record: aRecord(record),
    ...app,
  });
}

const planOf = (seen: ObservedApp) => withShrinks(seen, decide(seen));
const text = ({ limit, request }: Shrink["to"]) => `${readable(request ?? 0)}/${readable(limit)}`;

function answerOf(given: Given): string {
  const [verdict] = planOf(world(given)).shrinks?.verdicts ?? [];
  if (verdict === undefined) return "none";
  return verdict.decision.kind === "hold" ? verdict.decision.reason : text(verdict.decision.to);
}

const peak = (count: number, lengthMs = day) => ({ window: { peak: mib(count), samples: perDay, lengthMs } });
const applied: Shrink = {
  pod: { name: "memhog-1", uid: "pod-1" },
  container: "memhog",
  from: { limit: mib(1536), request: mib(256) },
  to: { limit: mib(384), request: mib(256) },
  atMs: now - 2 * day,
  state: "Applied",
};
const low = { limit: mib(1536), request: mib(256) };

describe("what is taken back", () => {
  it.each([
    { name: "the request first", is: "256Mi/1536Mi" },
    { name: "then the limit", container: low, is: "256Mi/384Mi" },
    {
      name: "the limit keeps the peak with its margin below the threshold",
      container: { ...low, ...peak(400) },
      is: "256Mi/640Mi",
    },
    {
      name: "nothing below the template",
      container: { limit: mib(384), request: mib(256), ...peak(100) },
      is: "NothingToShrink",
    },
    {
      name: "less than the template if the AppMonitor allows it",
      container: { limit: mib(384), request: mib(256), ...peak(100) },
      policy: { shrink: { ...shrink, belowTemplate: true } },
      is: "120Mi/384Mi",
    },
    { name: "nothing from a pod without a template", app: { template: undefined }, is: "NothingToShrink" },
    {
      name: "both at once from a Guaranteed pod",
      container: { limit: mib(1024), request: mib(1024) },
      pod: { qos: "Guaranteed" },
      app: { template: aTemplate({ containers: [{ name: "memhog", limit: mib(384), request: mib(384) }] }) },
      is: "384Mi/384Mi",
    },
    { name: "nothing if it is little", container: peak(900), is: "NothingToShrink" },
    { name: "nothing without spec.shrink", policy: { shrink: undefined }, is: "none" },
    {
      name: "G4: never below what is used now",
      container: { ...low, ...peak(10), samples: samplesOf([390, 400, 400]) },
      is: "256Mi/640Mi",
    },
    {
      name: "only the request before Kubernetes 1.34",
      container: low,
      app: { cluster: { inPlace: true, resizeAfterOomKill: false } },
      is: "NothingToShrink",
    },
    {
      name: "nothing where pods cannot be resized",
      app: { cluster: { inPlace: false, resizeAfterOomKill: false } },
      is: "ShrinkBlocked",
    },
    { name: "nothing that restarts the container", container: { restartsOnResize: true }, is: "ShrinkBlocked" },
    { name: "nothing by strategy Redeploy", policy: { strategy: "Redeploy" }, is: "ShrinkBlocked" },
    { name: "F1: nothing beside an HPA", app: hpa, is: "ShrinkBlocked" },
    { name: "nothing while a resize is in progress", pod: { resize: { state: "inProgress" } }, is: "ShrinkBlocked" },
    {
      name: "nothing while a raise waits for its requests",
      pod: { node: aNode({ requested: mib(16_384) }) },
      record: {
        intents: [
          anIntent({ limitsApplied: true, changes: [{ container: "memhog", from: low, to: { ...low, request: mib(1400) } }] }),
        ],
      },
      is: "ShrinkBlocked",
    },
    {
      name: "nothing after an OOM kill in the window",
      container: { oomKill: { restart: 0, atMs: now - day / 2, stillDown: false } },
      is: "ShrinkBlocked",
    },
    { name: "M4: nothing without a window", container: { window: undefined }, is: "WindowIncomplete" },
    { name: "M4: nothing if the window is another one", container: peak(200, 7 * day), is: "WindowIncomplete" },
    {
      name: "M4: nothing if samples cover 80 % of it",
      container: { window: { peak: mib(200), samples: perDay * 0.8, lengthMs: day } },
      is: "WindowIncomplete",
    },
    {
      name: "M4: nothing if the last answer had warnings",
      app: { metrics: { available: true, problem: "partial", freshForMs: 60_000 } },
      is: "WindowIncomplete",
    },
    {
      name: "M1: nothing while Prometheus is down",
      app: { metrics: { available: false, freshForMs: 60_000 } },
      is: "WindowIncomplete",
    },
    {
      name: "one step a day",
      container: low,
      record: { shrinks: [{ ...applied, atMs: now - day + 1, to: low }] },
      is: "ShrunkToday",
    },
    {
      name: "the next step after a day",
      container: low,
      record: { shrinks: [{ ...applied, atMs: now - day, to: low }] },
      is: "256Mi/384Mi",
    },
    {
      name: "never again where it had to be undone",
      container: low,
      record: { shrinks: [{ ...applied, pod: { name: "gone", uid: "gone" }, state: "Undone" }] },
      is: "ShrinkUndone",
    },
  ] as readonly (Given & { name: string; is: string })[])("$name", ({ is, ...given }) => expect(answerOf(given)).toBe(is));

  it("is stored before it is done, one container at a time, and lowers what counts as a revert", () => {
    const given = [{ uid: "pod-1", container: "memhog", limit: mib(1536) }];
    const { record, shrinks } = planOf(world({ container: low, record: { given } }));
    expect(record.shrinks).toMatchObject([{ to: { limit: mib(384) }, state: "Pending", atMs: now }]);
    expect(record.given).toEqual([{ uid: "pod-1", container: "memhog", limit: mib(384) }]);
    expect(shrinks?.command).toMatchObject({ shrink: record.shrinks[0], resourceVersion: "42" });
    expect(planOf(world({ container: low, record })).record, "C1: decided again, it is the same").toEqual(record);
  });

  it("is reported and not done under Recommend", () => {
    const { record, shrinks } = planOf(world({ policy: { strategy: "Recommend" } }));
    expect([record.shrinks, shrinks?.command, shrinks?.verdicts[0]?.decision.kind]).toEqual([[], undefined, "shrink"]);
  });

  it("waits while another container of the app is raised", () => {
    const busy = anObservedPod({
      name: "busy",
      uid: "busy",
      containers: [anObservedContainer({ samples: samplesOf([300, 300, 300]) })],
    });
    const seen = world();
    expect(planOf({ ...seen, pods: [...seen.pods, busy] }).record.shrinks).toEqual([]);
  });
});

describe("what becomes of it", () => {
  const pending: Shrink = { ...applied, atMs: now - 1_000, state: "Pending" };
  const stateAfter = (given: Given) => {
    const { record, shrinks } = planOf(world(given));
    return `${record.shrinks.map(({ state }) => state).join()}${shrinks?.command ? ", command" : ""}`;
  };
  const lowered = { limit: mib(384), request: mib(256), appliedLimit: mib(1536) };
  const raise = anAction({
    atMs: now - 1_000,
    changes: [{ container: "memhog", from: { limit: mib(384), request: mib(256) }, to: { limit: mib(768), request: mib(512) } }],
  });

  it.each([
    { name: "not sent yet", container: low, record: { shrinks: [pending] }, is: "Pending, command" },
    { name: "sent, not confirmed", container: lowered, record: { shrinks: [pending] }, is: "Pending" },
    { name: "confirmed", container: { ...lowered, appliedLimit: mib(384) }, record: { shrinks: [pending] }, is: "Applied" },
    {
      name: "the kubelet cannot apply it: set back",
      container: lowered,
      pod: { resize: { state: "error" } },
      record: { shrinks: [pending] },
      is: "Reverting, command",
    },
    { name: "set back: never again", container: low, record: { shrinks: [{ ...pending, state: "Reverting" }] }, is: "Undone" },
    {
      name: "spec.shrink was removed before it was sent",
      container: low,
      policy: { shrink: undefined },
      record: { shrinks: [pending] },
      is: "",
    },
    {
      name: "raised again: never again",
      container: { limit: mib(768), request: mib(512) },
      record: { shrinks: [applied], actions: [raise] },
      is: "Undone",
    },
    {
      name: "the pod is gone",
      container: { limit: mib(384), request: mib(256) },
      record: { shrinks: [{ ...applied, pod: { name: "x", uid: "x" } }] },
      is: "",
    },
  ] as readonly (Given & { name: string; is: string })[])("$name", ({ is, ...given }) => expect(stateAfter(given)).toBe(is));

  const modest: Shrink = { ...applied, from: { limit: mib(1536), request: mib(1024) }, to: low };
  it.each([
    { name: "usage is above the lowered request: it goes back", samples: samplesOf([300, 300, 300]), is: "Reverting, command" },
    { name: "usage is below the lowered request", samples: samplesOf([200, 200, 200]), is: "Applied" },
    {
      name: "usage is above the lowered request, and the node has no room",
      samples: samplesOf([300, 300, 300]),
      pod: { node: aNode({ requested: mib(16_000) }) },
      is: "Applied",
    },
  ])("$name", ({ is, samples, pod = {} }) =>
    expect(stateAfter({ container: { ...low, samples, window: undefined }, pod, record: { shrinks: [modest] } })).toBe(is),
  );

  it("G4: is decided anew if usage has grown before it was sent", () => {
    const container = { ...low, samples: samplesOf([390, 400, 400]) };
    const { record } = planOf(world({ container, record: { shrinks: [pending] } }));
    expect(record.shrinks).toMatchObject([{ to: { limit: mib(640) }, state: "Pending", atMs: now }]);
  });

  it("E4: nothing changes while the AppMonitor is paused", () => {
    const seen = world({ policy: { paused: true }, container: low, record: { shrinks: [pending] } });
    expect(planOf(seen)).toMatchObject({ record: seen.record, commands: [] });
    expect(planOf(seen).shrinks).toBeUndefined();
  });

  it("a container that was lowered is not given again what other pods needed", () => {
    const learned = [{ container: "memhog", limit: mib(1536), request: mib(1024), atMs: now - 3 * day }];
    const seen = world({ container: { limit: mib(384), request: mib(256) }, record: { learned, shrinks: [applied] } });
    expect(planOf(seen).verdicts[0]?.decision.reason).toBe("BelowThreshold");
  });

  it("is followed by no raise while usage stays at its peak", () => {
    const target = planOf(world({ container: low })).record.shrinks[0]?.to;
    const used = { samples: samplesOf([200, 200, 200]), limit: target?.limit ?? bytes(MiB), request: mib(256) };
    expect(planOf(world({ container: used })).verdicts[0]?.decision.kind).toBe("hold");
  });
});
