import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import { anAction, anApp, anIntent, aPodSeen, aRecord } from "../model/seen.fixture.ts";
import { explanationOf, explanationText } from "./explanation.ts";

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

describe("an explanation, for people", () => {
  it("begins with the pod, its app and its monitor, then the answer in words", () => {
    const text = explanationText(explanationOf(anApp(), aPlan(), "memhog-1"));
    expect(text.split("\n").slice(0, 5)).toEqual([
      "Pod demo/memhog-1 of Deployment/memhog",
      "Looked after by AppMonitor johnny-cache (at 75 % × 2, Auto)",
      "",
      "memhog: hold — BelowThreshold: usage ÷ limit is below memThresholdPercent, and the trend does not reach the limit soon",
      "    100Mi of 384Mi is 26 %, below 75 %",
    ]);
  });

  it("shows every number the decision rests on", () => {
    const text = explanationText(explanationOf(anApp(), aPlan({ verdicts: [raise] }), "memhog-1"));
    expect(text).toContain("memhog: raise to 600Mi — ThresholdCrossed");
    expect(text).toMatch(/^memhog +raise +ThresholdCrossed +290Mi +2s +384Mi +288Mi +2Mi\/s +47s +12s +0$/m);
    expect(text).toContain("memhog: limit at most 600Mi by maxMemory");
  });

  it("tells what is under way, what it waits for, and what was done", () => {
    const record = aRecord({ intents: [anIntent({ waitingFor: "room on the node" })], actions: [anAction()] });
    const text = explanationText(explanationOf(anApp(), aPlan({ record }), "memhog-1"));
    expect(text).toMatch(
      /Under way:\n {2}\S+ {2}ThresholdCrossed {2}InPlace {2}memhog 384Mi → 768Mi {2}attempt 1, waits for room/,
    );
    expect(text).toMatch(/Last actions:\n {2}\S+ {2}ThresholdCrossed {2}InPlace {2}memhog 384Mi → 768Mi {2}Applied/);
  });

  it("says when Prometheus does not answer, and when nobody looks after the pod", () => {
    const seen = anApp({ policies: [], metrics: { available: false, freshForMs: 1, problem: "connection refused" } });
    const text = explanationText(explanationOf(seen, aPlan(), "memhog-1"));
    expect(text).toContain("Looked after by no AppMonitor");
    expect(text).toContain("Prometheus: connection refused");
  });
});

it("an explanation is about one pod: what happens to its neighbours is left out", () => {
  const neighbour = { name: "memhog-2", uid: "pod-2" };
  const record = aRecord({ intents: [anIntent({ pod: neighbour })], actions: [anAction({ pod: neighbour }), anAction()] });
  const plan = aPlan({ record, verdicts: [aVerdict(), aVerdict({ pod: neighbour })] });
  const { verdicts, underWay, lastActions } = explanationOf(anApp({ pods: [aPodSeen()] }), plan, "memhog-1");
  expect([verdicts.length, underWay.length, lastActions.length]).toEqual([1, 0, 1]);
});
