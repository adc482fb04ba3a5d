// In place, case by case: what the world shows of an intent, and what follows from it. The intent is that of anIntent(): from
// 256Mi/384Mi to 512Mi/768Mi, decided a second ago.
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import {
  aNode,
  anAction,
  anApp,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  asBarePod,
  elsewhere,
  now,
} from "../model/observed-app.fixture.ts";
import type { ObservedApp, ObservedContainer, ObservedLimitRange, ObservedPod } from "../model/observed-app.ts";
import { decide } from "./decide.ts";

const sizes = (limit: number, request: number, applied = limit, admitted = request) => ({
  limit: mib(limit),
  request: mib(request),
  appliedLimit: mib(applied),
  appliedRequest: mib(admitted),
});
const seen = (container: Partial<ObservedContainer>, pod: Partial<ObservedPod> = {}, app: Partial<ObservedApp> = {}) =>
  anApp({
    record: aRecord({ intents: [anIntent()] }),
    ...app,
    pods: [anObservedPod({ containers: [anObservedContainer(container)], ...pod })],
  });
const limitsApplied = { record: aRecord({ intents: [anIntent({ limitsApplied: true })] }) };
const full = aNode({ allocatable: mib(4096), requested: mib(4096 - 255) });
const aRatio = (per: ObservedLimitRange["per"], maxRatio: number): ObservedLimitRange => ({
  name: "ratio",
  per,
  max: undefined,
  maxRatio,
});
const guaranteed = { qos: "Guaranteed" } as const;

describe("an open intent", () => {
  it.each([
    { name: "asks for the limits first", seen: seen({}), steps: ["limits"] },
    { name: "asks for both where the pod is Guaranteed", seen: seen(sizes(384, 384), guaranteed), steps: ["both"] },
    {
      name: "D5: asks for both where a LimitRange would refuse the limit alone",
      seen: seen({}, {}, { limits: { ranges: [aRatio("Container", 2)], quotas: [] } }),
      steps: ["both"],
    },
    {
      name: "D5: the same, of the sums over the pod",
      seen: seen({}, {}, { limits: { ranges: [aRatio("Pod", 2)], quotas: [] } }),
      steps: ["both"],
    },
    {
      name: "asks for the limits first where the LimitRange allows it",
      seen: seen({}, {}, { limits: { ranges: [aRatio("Container", 3)], quotas: [] } }),
      steps: ["limits"],
    },
    { name: "waits for the kubelet", seen: seen(sizes(768, 256, 384)), steps: [] },
    { name: "asks for the requests when the limits are confirmed", seen: seen(sizes(768, 256)), steps: ["requests"] },
    {
      name: "goes by the spec where the kubelet confirms nothing",
      seen: seen({ ...sizes(768, 256), appliedLimit: undefined, appliedRequest: undefined }),
      steps: ["requests"],
    },
    { name: "D4: sends no request that the node has no room for", seen: seen(sizes(768, 256), { node: full }), steps: [] },
    {
      name: "takes a request back that was deferred after all",
      seen: seen(sizes(768, 512, 768, 256), { resize: { state: "deferred" } }, limitsApplied),
      steps: ["requests"],
    },
    {
      name: "D4: does not repeat what is Deferred",
      seen: seen(sizes(768, 768, 384, 384), { ...guaranteed, resize: { state: "deferred" } }),
      steps: [],
    },
  ])("$name", ({ seen: world, steps }) => {
    const { commands, record } = decide(world);
    expect(commands.map((command) => command.do === "resize" && command.step)).toEqual(steps);
    expect(record.intents).toHaveLength(1);
  });

  it.each([
    { name: "both grew", to: 512, confirmed: "limits and requests are confirmed" },
    { name: "F1: only the limits were to grow", to: 256, confirmed: "limits are confirmed; requests stay as they are" },
  ])("says what was confirmed: $name", ({ to, confirmed }) => {
    const memory = (limit: number, request: number) => ({ limit: mib(limit), request: mib(request) });
    const intent = anIntent({ changes: [{ container: "memhog", from: memory(384, 256), to: memory(768, to) }] });
    const { settled } = decide(seen(sizes(768, to), {}, { record: aRecord({ intents: [intent] }) }));
    expect(settled).toMatchObject([{ outcome: "Applied", message: confirmed }]);
  });

  it.each([
    { name: "limits and requests are confirmed: Applied", seen: seen(sizes(768, 512)), outcome: "Applied" },
    { name: "the pod is gone: Abandoned", seen: { ...seen({}), pods: [] }, outcome: "Abandoned" },
    { name: "the pod is being deleted: Abandoned", seen: seen({}, { deleting: true }), outcome: "Abandoned" },
    { name: "W4: a namesake with another UID is another pod", seen: seen({}, { uid: "pod-9" }), outcome: "Abandoned" },
    { name: "the pod has ended: Abandoned", seen: seen({}, { phase: "Failed" }), outcome: "Abandoned" },
    {
      name: "its request was taken back: Applied all the same",
      seen: seen(
        sizes(768, 256),
        {},
        {
          record: aRecord({
            intents: [
              anIntent({
                limitsApplied: true,
                waiting: { reason: "RequestReverting" },
                changes: [
                  {
                    container: "memhog",
                    from: { limit: mib(384), request: mib(256) },
                    to: { limit: mib(768), request: mib(256) },
                  },
                ],
              }),
            ],
          }),
        },
      ),
      outcome: "Applied",
    },
    {
      name: "the API server refused it: Refused",
      seen: seen({}, {}, { record: aRecord({ intents: [anIntent({ waiting: { reason: "Refused" } })] }) }),
      outcome: "Refused",
    },
    {
      name: "the spec did not take it up for ten minutes: Refused",
      seen: seen({}, {}, { record: aRecord({ intents: [anIntent({ atMs: now - 600_000 })] }) }),
      outcome: "Refused",
    },
  ])("ends: $name", ({ seen: world, outcome }) => {
    const { settled, record, commands } = decide(world);
    expect(settled).toMatchObject([{ intent: { id: anIntent().id }, outcome }]);
    expect(record.actions).toMatchObject([{ outcome }]);
    expect(record.intents).toEqual([]);
    expect(commands).toEqual([]);
  });

  it("M5: is learned for pods that are made later, also while our clock is behind the API server's", () => {
    const createdAtMs = now + 3_600_000;
    expect(decide(seen(sizes(768, 512), { createdAtMs })).record.learned).toMatchObject([{ limit: mib(768), atMs: createdAtMs }]);
  });

  it("counts as a raise, and is learned, once its limits are confirmed; the request may still wait for room", () => {
    const { record, summary } = decide(seen(sizes(768, 256), { node: full }));
    expect(record).toMatchObject({ raises: 1, learned: [{ limit: mib(768) }], given: [{ uid: "pod-1", limit: mib(768) }] });
    expect(record.intents).toMatchObject([{ limitsApplied: true, waiting: { reason: "NoRoomForRequest" } }]);
    expect(summary).toMatchObject({ phase: "Waiting", reason: "ResizeDeferred" });
    const usage = { samples: [{ bytes: mib(700), ageMs: 2_000 }] };
    const again = decide(seen({ ...sizes(768, 256), ...usage }, { node: full }, { record, nowMs: now + 120_000 }));
    expect(again.settled).toMatchObject([{ outcome: "Applied", message: "the next raise followed" }]);
    expect(again.record.intents).toMatchObject([{ changes: [{ to: { limit: mib(1536), request: mib(512) } }] }]);
  });
});

describe("D4: what is infeasible", () => {
  const byKubelet = seen(sizes(768, 256, 384), { resize: { state: "infeasible" } });
  const byServer = seen({}, {}, { record: aRecord({ intents: [anIntent({ waiting: { reason: "ResizeInfeasible" } })] }) });

  it.each([
    { name: "said by the kubelet", world: byKubelet },
    { name: "said by the API server", world: byServer },
  ])("is reported under Auto, which leaves templates alone: $name", ({ world }) => {
    const { settled, record, commands } = decide(world);
    expect(settled).toMatchObject([{ outcome: "Infeasible" }]);
    expect([record.intents, commands]).toEqual([[], []]);
  });

  it("falls back to a copy of a bare pod", () => {
    const { commands } = decide(asBarePod(byKubelet));
    expect(commands).toMatchObject([{ do: "createCopy", copy: "memhog-autoscaled" }]);
  });

  it("stays open, and says so, while something else is under way", () => {
    const { record, verdicts } = decide({ ...asBarePod(byKubelet), underWayElsewhere: elsewhere(10) });
    expect(record.intents).toMatchObject([{ method: "InPlace", waiting: { reason: "ResizeInfeasible" } }]);
    expect(verdicts).toMatchObject([{ decision: { reason: "Busy" } }]);
  });

  it("is reported under InPlace, and not tried again", () => {
    const policies = [aPolicy({ strategy: "InPlace" })];
    const first = decide({ ...byKubelet, policies });
    expect(first.settled).toMatchObject([{ outcome: "Infeasible" }]);
    expect(first.record.intents).toEqual([]);
    expect(first.verdicts).toMatchObject([{ decision: { reason: "InPlaceImpossible" } }]);
    const hungry = seen(
      { samples: [{ bytes: mib(300), ageMs: 2_000 }] },
      {},
      { policies, record: aRecord({ actions: [anAction({ outcome: "Infeasible" })] }) },
    );
    expect(decide(hungry).verdicts).toMatchObject([{ decision: { reason: "InPlaceImpossible" } }]);
  });
});
