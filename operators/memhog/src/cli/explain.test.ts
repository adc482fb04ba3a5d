import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { anAction, anApp, anIntent, anObservedPod, aRecord } from "../model/observed-app.fixture.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import { explanationOf, explanationText } from "./explain.ts";

const raise = aVerdict({
  decision: {
    kind: "raise",
    reason: "ThresholdCrossed",
    detail: "290Mi of 384Mi is 75.5 %",
    from: { limit: mib(384), request: mib(256) },
    wanted: { limit: mib(768), request: mib(512) },
    granted: { limit: mib(600), request: mib(400) },
    cappedBy: "maxMemory",
  },
  inputs: {
    ...aVerdict().inputs,
    usage: mib(290),
    growth: 2 * 1024 * 1024,
    runsOutInMs: 47_000,
    cooldownLeftMs: 12_000,
    caps: [{ name: "maxMemory", of: "limit", most: mib(600) }],
  },
});

describe("text output of explain", () => {
  it("begins with the pod, its app and its AppMonitor, followed by the decision", () => {
    const text = explanationText(explanationOf(anApp(), aPlan(), { pod: "memhog-1" }));
    expect(text.split("\n").slice(0, 5)).toEqual([
      "Pod demo/memhog-1 of Deployment/memhog",
      "Monitored by AppMonitor johnny-cache (at 75 % × 2, Auto)",
      "",
      "memhog: hold — BelowThreshold: usage is below memThresholdPercent of the limit and will not reach the limit soon",
      "    100Mi of 384Mi is 26 %, below 75 %",
    ]);
  });

  it("tells which AppMonitors are less specific than the one that acts", () => {
    const text = explanationText(explanationOf(anApp({ outranked: ["default", "tier"] }), aPlan(), { pod: "memhog-1" }));
    expect(text).toContain("Monitored by AppMonitor johnny-cache (at 75 % × 2, Auto); more specific than default, tier");
  });

  it("contains every input of the decision", () => {
    const text = explanationText(explanationOf(anApp(), aPlan({ verdicts: [raise] }), { pod: "memhog-1" }));
    expect(text).toContain("memhog: raise to 600Mi — ThresholdCrossed");
    expect(text).toMatch(/^memhog +raise +ThresholdCrossed +290Mi +2s +384Mi +288Mi +2Mi\/s +47s +12s +0$/m);
    expect(text).toContain("memhog: limit at most 600Mi by maxMemory");
  });

  it("contains intents with their wait reasons and the last actions", () => {
    const record = aRecord({ intents: [anIntent({ waiting: { reason: "NoRoomForRequest" } })], actions: [anAction()] });
    const text = explanationText(explanationOf(anApp(), aPlan({ record }), { pod: "memhog-1" }));
    expect(text).toMatch(
      /Under way:\n {2}\S+ {2}ThresholdCrossed {2}InPlace {2}memhog 384Mi → 768Mi {2}attempt 1, waiting: NoRoomForRequest: the limits/,
    );
    expect(text).toMatch(/Last actions:\n {2}\S+ {2}ThresholdCrossed {2}InPlace {2}memhog 384Mi → 768Mi {2}Applied/);
  });

  it("reports that Prometheus is unavailable and that no AppMonitor selects the pod", () => {
    const seen = anApp({ policies: [], metrics: { available: false, freshForMs: 1, problem: "connection refused" } });
    const text = explanationText(explanationOf(seen, aPlan(), { pod: "memhog-1" }));
    expect(text).toContain("Monitored by no AppMonitor");
    expect(text).toContain("Prometheus: connection refused");
  });
});

it("M6: explain shows the query if Prometheus answers without samples of the pod", () => {
  const query = { query: 'container_memory_working_set_bytes{namespace="demo"}[120s]', series: 7, samples: 0 };
  const blind = aVerdict({ decision: { kind: "hold", reason: "NoSample", detail: "no sample" } });
  const text = explanationText(explanationOf(anApp(), aPlan({ verdicts: [blind] }), { pod: "memhog-1", query }));
  expect(text).toContain("no samples of memhog in memhog-1. The response has 7 series");
  expect(text).toContain(query.query);
  expect(explanationText(explanationOf(anApp(), aPlan(), { pod: "memhog-1", query }))).not.toContain(query.query);
});

it("M6: explain shows the number of OOM kills of the app", () => {
  const text = explanationText(explanationOf(anApp(), aPlan({ record: aRecord({ oomKills: 7 }) }), { pod: "memhog-1" }));
  expect(text).toContain("OOM kills:\n  7 of Deployment/memhog so far");
  expect(explanationText(explanationOf(anApp(), aPlan(), { pod: "memhog-1" }))).not.toContain("OOM kills");
});

it("explain omits other pods of the app", () => {
  const otherPod = { name: "memhog-2", uid: "pod-2" };
  const record = aRecord({ intents: [anIntent({ pod: otherPod })], actions: [anAction({ pod: otherPod }), anAction()] });
  const plan = aPlan({ record, verdicts: [aVerdict(), aVerdict({ pod: otherPod })] });
  const { verdicts, underWay, lastActions } = explanationOf(anApp({ pods: [anObservedPod()] }), plan, { pod: "memhog-1" });
  expect([verdicts.length, underWay.length, lastActions.length]).toEqual([1, 0, 1]);
});
