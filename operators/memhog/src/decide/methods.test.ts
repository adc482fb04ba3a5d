// D3: how much at a time; and how soon again after a failure.
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  asBarePod,
  elsewhere,
  hungry,
  now,
} from "../model/observed-app.fixture.ts";
import type { ObservedApp, ObservedContainer, ObservedPod, Policy } from "../model/observed-app.ts";
import type { Action, Intent } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { runToEnd } from "./world.fixture.ts";

const pods = (count: number, container: Partial<ObservedContainer> = {}, pod: Partial<ObservedPod> = {}) =>
  Array.from({ length: count }, (_, i) =>
    anObservedPod({
      name: `memhog-${i}`,
      uid: `pod-${i}`,
      containers: [anObservedContainer({ ...hungry, ...container })],
      ...pod,
    }),
  );
const beside = (namespace: number, cluster: number, otherNamespaces: number) =>
  elsewhere(namespace, { cluster, otherNamespaces });
const reasons = (seen: ObservedApp) => decide(seen).verdicts.map(({ decision }) => decision.reason);

describe("D3: how much at a time", () => {
  it("three pods of an app in place, the others are next", () => {
    const seen = anApp({ pods: pods(5) });
    expect(decide(seen).commands).toHaveLength(3);
    expect(reasons(seen)).toEqual(["ThresholdCrossed", "ThresholdCrossed", "ThresholdCrossed", "Busy", "Busy"]);
    const end = runToEnd(seen).world;
    expect(end.pods.map((pod) => pod.containers[0]?.limit)).toEqual(Array(5).fill(mib(768)));
  });

  it.each([
    { name: "ten in the cluster", taken: elsewhere(8), begun: 2 },
    { name: "none where all ten are taken", taken: elsewhere(10), begun: 0 },
    { name: "T2: one in a namespace that has none, though others have taken all", taken: beside(0, 10, 1), begun: 1 },
    { name: "T2: half of the slots beside one other namespace", taken: beside(3, 5, 1), begun: 2 },
    { name: "T2: no more than its share, though slots are free", taken: beside(3, 5, 2), begun: 0 },
  ])("$name", ({ taken, begun }) => {
    expect(decide(anApp({ pods: pods(3), underWayElsewhere: taken })).commands).toHaveLength(begun);
  });

  it("T2: raises that are frozen or that nobody confirms take no slot", () => {
    const record = (intent: Partial<Intent>) =>
      aRecord({ intents: [anIntent({ pod: { name: "memhog-9", uid: "pod-9" }, atMs: now - 5_000, ...intent })] });
    const other = anObservedPod({ name: "memhog-9", uid: "pod-9" });
    const commands = (intent: Partial<Intent>, pod: Partial<ObservedPod> = {}) =>
      decide(
        anApp({ pods: [...pods(1), { ...other, ...pod }], record: record(intent), underWayElsewhere: beside(0, 9, 9) }),
      ).commands.filter(({ intent: { pod: of } }) => of.uid === "pod-0").length;
    expect(commands({})).toBe(0);
    expect(commands({}, { monitored: false })).toBe(1);
    expect(commands({ atMs: now - 120_000 })).toBe(1);
    expect(commands({ atMs: now + 120_000 })).toBe(1);
  });

  it("a raise that could not begin for ten minutes because its pod is not monitored is given up", () => {
    const frozen = (atMs: number) =>
      decide(
        anApp({
          pods: pods(1, {}, { monitored: false }),
          record: aRecord({ intents: [anIntent({ pod: { name: "memhog-0", uid: "pod-0" }, atMs })] }),
        }),
      );
    expect(frozen(now - 599_000).record.intents).toHaveLength(1);
    expect(frozen(now - 600_000).record.intents).toEqual([]);
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
    const killed = d && { ...d, containers: [{ ...anObservedContainer(hungry), oomKill: kill }] };
    const all = [a, b, c, killed].filter((pod) => pod !== undefined);
    expect(reasons(anApp({ pods: all }))).toEqual(["ThresholdCrossed", "ThresholdCrossed", "Busy", "OutOfMemory"]);
  });
});

describe("Auto leaves templates alone where pods can be resized", () => {
  const oomKill = { restart: 0, atMs: now - 20_000, stillDown: true };
  const before137 = { inPlace: true, resizeAfterOomKill: false };
  const down = pods(1, { running: false, samples: [], oomKill }, { ready: false });

  it.each(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] as const)(
    "a killed container of a %s waits until it runs again, and is then resized",
    (kind) => {
      const app = { kind, namespace: "demo", name: "memhog" };
      const waiting = decide(anApp({ app, pods: down, cluster: before137 }));
      expect(waiting.commands).toEqual([]);
      expect(waiting.verdicts).toMatchObject([{ decision: { reason: "NotRunning", wanted: { limit: mib(768) } } }]);
      const running = pods(1, { samples: [], restarts: 1, oomKill: { ...oomKill, stillDown: false } });
      const next = decide(anApp({ app, pods: running, cluster: before137, record: waiting.record }));
      expect(next.commands).toMatchObject([{ do: "resize" }]);
      expect(next.record.oomKills).toBe(1);
    },
  );

  it.each([
    { name: "a Windows pod", pod: { notResizable: "a Windows pod" } },
    { name: "a spec that can never fit on the node", pod: { resize: { state: "infeasible" } as const } },
  ])("$name is reported", ({ pod }) => {
    const { commands, verdicts } = decide(anApp({ pods: pods(1, {}, pod) }));
    expect(commands).toEqual([]);
    expect(verdicts).toMatchObject([{ decision: { reason: "InPlaceImpossible" } }]);
  });

  it("Redeploy patches the template at once", () => {
    const policies = [aPolicy({ strategy: "Redeploy" })];
    expect(decide(anApp({ pods: down, cluster: before137, policies })).commands).toMatchObject([{ do: "patchTemplate" }]);
  });
});

describe("D3: the circuit breaker", () => {
  const failed: Partial<Action> = { method: "CopyPod", outcome: "NotReady", pod: { name: "x", uid: "x" } };
  const actions = (...ago: readonly number[]) => ago.map((ms) => anAction({ ...failed, atMs: now - ms }));
  const seen = (list: readonly Action[]) =>
    asBarePod(anApp({ pods: pods(1), policies: [aPolicy({ strategy: "Redeploy" })], record: aRecord({ actions: list }) }));

  it.each([
    { name: "opens after two redeployments that did not become Ready", list: actions(900_000, 60_000), reason: "CircuitOpen" },
    { name: "does not open after one", list: actions(60_000), reason: "ThresholdCrossed" },
    { name: "closes after ten minutes", list: actions(900_000, 600_000), reason: "ThresholdCrossed" },
    {
      name: "does not open where one in between went well",
      list: [...actions(900_000), anAction({ method: "CopyPod", atMs: now - 500_000 }), ...actions(60_000)],
      reason: "ThresholdCrossed",
    },
  ])("$name", ({ list, reason }) => expect(reasons(seen(list))).toEqual([reason]));

  it("says when it closes", () => expect(decide(seen(actions(900_000, 60_000))).requeueAfterMs).toBe(540_000));
});

describe("D6: after a rollout that was undone", () => {
  const failed: Partial<Action> = { method: "Template", outcome: "NotReady", pod: { name: "x", uid: "x" } };
  const undone = (...minutes: readonly number[]) => minutes.map((ago) => anAction({ ...failed, atMs: now - ago * 60_000 }));
  const seen = (actions: readonly Action[], policy: Partial<Policy> = {}) =>
    anApp({ pods: pods(1), policies: [aPolicy({ strategy: "Redeploy", ...policy })], record: aRecord({ actions }) });

  it.each([
    { name: "the same is not tried again for half an hour", world: seen(undone(29)), reason: "RolloutUndone" },
    { name: "then it is", world: seen(undone(30)), reason: "ThresholdCrossed" },
    { name: "after two it takes an hour", world: seen(undone(120, 59)), reason: "RolloutUndone" },
    {
      name: "at most a day",
      world: seen(undone(...Array.from({ length: 20 }, (_, i) => 1_440 * (20 - i)))),
      reason: "ThresholdCrossed",
    },
    {
      name: "one that succeeded in between starts again",
      world: seen([...undone(90), anAction({ method: "Template", atMs: now - 80 * 60_000 }), ...undone(30)]),
      reason: "ThresholdCrossed",
    },
    { name: "another size may be tried at once", world: seen(undone(1), { maxMemory: mib(500) }), reason: "ThresholdCrossed" },
    { name: "M5: a clock that was set back does not make it sooner", world: seen(undone(-60)), reason: "RolloutUndone" },
  ])("$name", ({ world, reason }) => expect(reasons(world)).toEqual([reason]));
});

describe("D5: after a refusal", () => {
  const refused = (ago: number, different: Partial<Action> = {}) =>
    anAction({
      outcome: "Refused",
      atMs: now - ago,
      pod: { name: "memhog-0", uid: "pod-0" },
      message: "quota: team",
      ...different,
    });
  const seen = (actions: readonly Action[], different: Partial<ObservedApp> = {}) =>
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
      seen: seen([refused(1_000, { cause: "NoEffect" })]),
      reason: "ThresholdCrossed",
    },
  ])("$name", ({ seen: world, reason }) => expect(reasons(world)).toEqual([reason]));
});
