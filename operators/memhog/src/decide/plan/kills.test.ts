// G2: a kill counts once, with its answer. And the stops that a verdict asks for.
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { anApp, anAppWith, anIntent, aPodSeen, aPolicy, aRecord, hungry, now, raises, vpa } from "../../model/seen.fixture.ts";
import type { AppSeen } from "../../model/seen.ts";
import { decide } from "../decide.ts";

const kill = { restart: 2, atMs: now - 20_000, stillDown: false };
const counted = [{ uid: "pod-1", container: "memhog", restart: 2 }];

describe("G2: a kill", () => {
  it("is counted by the record that holds the intent, once", () => {
    const first = decide(anAppWith({ oomKill: kill }));
    expect(first.record).toMatchObject({ kills: counted, oomKills: 1, intents: [{ reason: "OutOfMemory" }] });
    const again = decide(anAppWith({ oomKill: kill }, { record: first.record }));
    expect(again.record).toEqual(first.record);
  });

  it.each([
    { name: "Busy", seen: anAppWith({ oomKill: kill }, { underWayElsewhere: 10 }) },
    { name: "paused", seen: anAppWith({ oomKill: kill }, { policies: [aPolicy({ paused: true })] }) },
    { name: "not monitored", seen: anAppWith({ oomKill: kill }, {}, { monitored: false }) },
    {
      name: "not running, and only in place is allowed",
      seen: anAppWith(
        { oomKill: { ...kill, stillDown: true }, running: false },
        { policies: [aPolicy({ strategy: "InPlace" })], cluster: { inPlace: true, resizeAfterOomKill: false } },
      ),
    },
  ])("waits for its answer while it is $name", ({ seen }) => {
    expect(decide(seen).record).toMatchObject({ kills: [], oomKills: 0, intents: [] });
  });

  it.each([
    { name: "Recommend", different: { policies: [aPolicy({ strategy: "Recommend" })] } },
    { name: "a cap that leaves nothing", different: { policies: [aPolicy({ maxMemory: mib(384) })] } },
    { name: "another autoscaler", different: vpa },
  ])("is counted where the answer is no: $name", ({ different }: { different: Partial<AppSeen> }) => {
    expect(decide(anAppWith({ oomKill: kill }, different)).record).toMatchObject({ kills: counted, oomKills: 1, intents: [] });
  });

  it("is answered by memory that arrived after it, though that was decided before", () => {
    const bigger = { limit: mib(768), request: mib(512), appliedLimit: mib(768), appliedRequest: mib(512) };
    const record = aRecord({ intents: [anIntent({ atMs: now - 60_000 })] });
    const plan = decide(anAppWith({ ...bigger, oomKill: kill }, { record }));
    expect(plan.record).toMatchObject({ kills: counted, intents: [], actions: [{ outcome: "Applied" }] });
  });

  it("is forgotten with its pod; the sum is not", () => {
    const record = aRecord({ kills: counted, oomKills: 1 });
    expect(decide(anApp({ record, pods: [aPodSeen({ uid: "pod-2" })] })).record).toMatchObject({ kills: [], oomKills: 1 });
  });
});

describe("a stop", () => {
  const tooOften = aRecord({ actions: raises(6) });

  it("G1: is stored for the pod where it was raised in place, for the app where pods are replaced", () => {
    const inPlace = decide(anAppWith(hungry, { record: tooOften }));
    expect(inPlace.record.stops).toEqual([
      { reason: "SuspectedLeak", atMs: now, uid: "pod-1", monitorUid: "monitor-uid", monitorGeneration: 1 },
    ]);
    expect(inPlace.summary).toMatchObject({ phase: "Stopped", reason: "SuspectedLeak" });
    const policies = [aPolicy({ strategy: "Redeploy" })];
    const redeployed = decide(anAppWith(hungry, { policies, record: aRecord({ actions: raises(6, { road: "Template" }) }) }));
    expect(redeployed.record.stops).toMatchObject([{ reason: "SuspectedLeak" }]);
    expect(redeployed.record.stops[0]?.uid).toBeUndefined();
  });

  it("holds after the hour, until the AppMonitor is edited; then the raises before it do not count", () => {
    const { record } = decide(anAppWith(hungry, { record: tooOften }));
    const later = { record, nowMs: now + 7_200_000 };
    expect(decide(anAppWith(hungry, later)).verdicts).toMatchObject([{ decision: { reason: "SuspectedLeak" } }]);
    expect(decide(anAppWith(hungry, later)).record).toBe(record);
    const edited = anAppWith(hungry, { record, nowMs: now + 60_000, policies: [aPolicy({ generation: 2 })] });
    expect(decide(edited).verdicts).toMatchObject([{ decision: { reason: "ThresholdCrossed" } }]);
  });

  it("goes with its pod", () => {
    const { record } = decide(anAppWith(hungry, { record: tooOften }));
    expect(decide(anApp({ record, pods: [aPodSeen({ uid: "pod-2" })] })).record.stops).toEqual([]);
  });
});
