// F2: somebody takes back what we gave.
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { aContainerSeen, anApp, anAppWith, anIntent, aPodSeen, aPolicy, aRecord, hungry, now } from "../../model/seen.fixture.ts";
import { decide } from "../decide.ts";
import { later, pass, type Run } from "./run.fixture.ts";
import { onPod, settled } from "./world.fixture.ts";

const given = [{ uid: "pod-1", container: "memhog", limit: mib(768) }];
const taken = anApp({ record: aRecord({ given }) });

describe("F2: what was given and is there no more", () => {
  it("counts once, however often we look", () => {
    const first = decide(taken);
    expect(first.record).toMatchObject({ reverts: 1, given: [], stops: [] });
    expect(decide({ ...taken, record: first.record }).record).toBe(first.record);
  });

  it("ends what was still under way for that pod", () => {
    const intents = [anIntent({ limitsApplied: true, waitingFor: "room on the node for the request" })];
    const { settled: ends, record } = decide({ ...taken, record: aRecord({ given, intents }) });
    expect(ends).toMatchObject([{ outcome: "Abandoned", detail: "somebody took it back" }]);
    expect(record.intents).toEqual([]);
  });

  it("stops the app the second time, and begins nothing that was only intended", () => {
    const pods = [aPodSeen(), aPodSeen({ name: "memhog-2", uid: "pod-2" })];
    const intents = [anIntent({ id: "pod-2/InPlace/768Mi/1", pod: { name: "memhog-2", uid: "pod-2" } })];
    const { record, commands, summary } = decide({ ...taken, pods, record: aRecord({ given, intents, reverts: 1 }) });
    expect(record).toMatchObject({ reverts: 2, intents: [], stops: [{ reason: "Contested", monitorGeneration: 1 }] });
    expect(commands).toEqual([]);
    expect(summary).toMatchObject({ phase: "Stopped", reason: "Contested" });
  });

  it("is seen on a template too: GitOps restores it", () => {
    const record = aRecord({ given: [{ uid: "template-uid", container: "memhog", limit: mib(768) }], reverts: 1 });
    expect(decide(anApp({ record })).record).toMatchObject({ reverts: 2, stops: [{ reason: "Contested" }] });
  });

  it("is forgotten with the pod, and with an edit of the AppMonitor the count starts anew", () => {
    expect(decide({ ...taken, pods: [aPodSeen({ uid: "pod-9" })] }).record).toMatchObject({ given: [], reverts: 0 });
    const stops = [{ reason: "Contested" as const, atMs: now, monitorUid: "monitor-uid", monitorGeneration: 1 }];
    const edited = anApp({ policies: [aPolicy({ generation: 2 })], record: aRecord({ stops, reverts: 2 }) });
    expect(decide(edited).record).toMatchObject({ stops: [], reverts: 0 });
  });

  it("twice, from the first crossing on: two raises, then none", () => {
    const start = anAppWith(hungry, { policies: [aPolicy({ cooldownMs: 0 })] });
    let run: Run = { world: start, effects: [] };
    for (let i = 0; i < 12; i++) {
      run = pass(later(run, 1_000));
      run = { ...run, world: settled(run.world) };
      const [pod] = run.world.pods;
      const raised = pod?.containers[0]?.request === mib(512);
      if (raised)
        run = { ...pass(run), world: onPod(run.world, pod.uid, (one) => ({ ...one, containers: [aContainerSeen(hungry)] })) };
    }
    expect(run.effects.filter((effect) => effect === "resize limits")).toHaveLength(2);
    expect(run.world.record.stops).toMatchObject([{ reason: "Contested" }]);
  });
});
