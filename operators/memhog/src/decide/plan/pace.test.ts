// D3: how much at a time; and how soon again after a failure.
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import type { Action } from "../../model/record.ts";
import { aContainerSeen, anAction, anApp, aPodSeen, aPolicy, aRecord, hungry, now } from "../../model/seen.fixture.ts";
import type { AppSeen, ContainerSeen, PodSeen } from "../../model/seen.ts";
import { decide } from "../decide.ts";
import { runToEnd } from "./run.fixture.ts";

const pods = (count: number, container: Partial<ContainerSeen> = {}, pod: Partial<PodSeen> = {}) =>
  Array.from({ length: count }, (_, i) =>
    aPodSeen({ name: `memhog-${i}`, uid: `pod-${i}`, containers: [aContainerSeen({ ...hungry, ...container })], ...pod }),
  );
const reasons = (seen: AppSeen) => decide(seen).verdicts.map(({ decision }) => decision.reason);

describe("D3: how much at a time", () => {
  it("three pods of an app in place, the others are next", () => {
    const seen = anApp({ pods: pods(5) });
    expect(decide(seen).commands).toHaveLength(3);
    expect(reasons(seen)).toEqual(["ThresholdCrossed", "ThresholdCrossed", "ThresholdCrossed", "Busy", "Busy"]);
    const end = runToEnd(seen).world;
    expect(end.pods.map((pod) => pod.containers[0]?.limit)).toEqual(Array(5).fill(mib(768)));
  });

  it("ten in the cluster", () => {
    expect(decide(anApp({ pods: pods(3), underWayElsewhere: 8 })).commands).toHaveLength(2);
    expect(reasons(anApp({ pods: pods(1), underWayElsewhere: 10 }))).toEqual(["Busy"]);
  });

  it("one pod where a resize restarts the container, and only while the others are Ready", () => {
    const restarts = { restartsOnResize: true };
    expect(reasons(anApp({ pods: pods(2, restarts) }))).toEqual(["ThresholdCrossed", "Busy"]);
    const [first, second] = pods(2, restarts);
    const broken = [first, second && { ...second, ready: false }].filter((pod) => pod !== undefined);
    expect(reasons(anApp({ pods: broken }))).toEqual(["Busy", "ThresholdCrossed"]);
  });

  it("who was killed goes before who is only near the threshold", () => {
    const kill = { restart: 0, atMs: now - 5_000, stillDown: false };
    const [a, b, c, d] = pods(4);
    const killed = d && { ...d, containers: [{ ...aContainerSeen(hungry), oomKill: kill }] };
    const all = [a, b, c, killed].filter((pod) => pod !== undefined);
    expect(reasons(anApp({ pods: all }))).toEqual(["ThresholdCrossed", "ThresholdCrossed", "Busy", "OutOfMemory"]);
  });
});

describe("D3: the circuit breaker", () => {
  const failed: Partial<Action> = { road: "Template", outcome: "NotReady", pod: { name: "x", uid: "x" } };
  const actions = (...ago: readonly number[]) => ago.map((ms) => anAction({ ...failed, atMs: now - ms }));
  const seen = (list: readonly Action[]) =>
    anApp({ pods: pods(1), policies: [aPolicy({ strategy: "Redeploy" })], record: aRecord({ actions: list }) });

  it.each([
    { name: "opens after two redeployments that did not become Ready", list: actions(900_000, 60_000), reason: "CircuitOpen" },
    { name: "does not open after one", list: actions(60_000), reason: "ThresholdCrossed" },
    { name: "closes after ten minutes", list: actions(900_000, 600_000), reason: "ThresholdCrossed" },
    {
      name: "does not open where one in between went well",
      list: [...actions(900_000), anAction({ road: "Template", atMs: now - 500_000 }), ...actions(60_000)],
      reason: "ThresholdCrossed",
    },
  ])("$name", ({ list, reason }) => expect(reasons(seen(list))).toEqual([reason]));

  it("says when it closes", () => expect(decide(seen(actions(900_000, 60_000))).againInMs).toBe(540_000));
});

describe("D5: after a refusal", () => {
  const refused = (ago: number, different: Partial<Action> = {}) =>
    anAction({
      outcome: "Refused",
      atMs: now - ago,
      pod: { name: "memhog-0", uid: "pod-0" },
      detail: "quota: team",
      ...different,
    });
  const seen = (actions: readonly Action[], different: Partial<AppSeen> = {}) =>
    anApp({ pods: pods(1), record: aRecord({ actions }), ...different });

  it.each([
    { name: "the same is not tried again for five minutes", seen: seen([refused(299_000)]), reason: "Refused" },
    { name: "then it is", seen: seen([refused(300_000)]), reason: "ThresholdCrossed" },
    { name: "after two it takes ten", seen: seen([refused(900_000), refused(599_000)]), reason: "Refused" },
    {
      name: "something else is tried at once: the policy has changed",
      seen: seen([refused(1_000)], { policies: [aPolicy({ multiplier: 1.5 })] }),
      reason: "ThresholdCrossed",
    },
    { name: "M5: a clock that was set back does not make it sooner", seen: seen([refused(-3_600_000)]), reason: "Refused" },
    {
      name: "what was only not taken up is tried again at once, the first time",
      seen: seen([refused(1_000, { detail: "it was not taken up within 10 minutes" })]),
      reason: "ThresholdCrossed",
    },
  ])("$name", ({ seen: world, reason }) => expect(reasons(world)).toEqual([reason]));
});
