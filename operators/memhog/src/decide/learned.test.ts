// G3: what an app has learned belongs to a revision of its template, and is given only as far as it hurts nobody.
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import {
  anAction,
  anApp,
  anAppWith,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  hungry,
  now,
  raises,
} from "../model/observed-app.fixture.ts";
import type { ObservedPod } from "../model/observed-app.ts";
import type { Learned } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { reasonOf } from "./verdict.fixture.ts";
import { verdictsOn } from "./verdict.ts";

const day = 86_400_000;
const learned = (different: Partial<Learned> = {}): Learned => ({
  ...{ container: "memhog", revision: "leaky", limit: mib(3072), request: mib(256), atMs: now - 7_200_000 },
  ...different,
});
const knowing = (known: Learned, pod: Partial<ObservedPod>) => anAppWith({}, { record: aRecord({ learned: [known] }) }, pod);

describe("G3: what was learned is for pods of the same revision", () => {
  it.each([
    { name: "a pod of the same revision gets it", pod: { revision: "leaky" }, reason: "LearnedBefore" },
    { name: "after a rollback, a pod of the fixed version does not", pod: { revision: "fixed" }, reason: "BelowThreshold" },
    { name: "a pod of an unknown revision does not", pod: {}, reason: "BelowThreshold" },
  ])("$name", ({ pod, reason }) => expect(reasonOf(knowing(learned(), pod))).toBe(reason));

  it("fades: after 14 days without another raise nobody gets it", () => {
    const old = (days: number) =>
      reasonOf(knowing(learned({ atMs: now - days * day }), { revision: "leaky", createdAtMs: now - 1_000 }));
    expect(old(13)).toBe("LearnedBefore");
    expect(old(14)).toBe("BelowThreshold");
  });
});

describe("G3: nothing is learned", () => {
  const applied = (cappedBy?: string) => {
    const intent = anIntent({
      changes: anIntent().changes.map((change) => ({ ...change, ...(cappedBy !== undefined && { cappedBy }) })),
    });
    const has = { limit: mib(768), request: mib(512) };
    return decide(anAppWith(has, { record: aRecord({ intents: [intent] }) }, { revision: "r1" })).record.learned;
  };

  it("from a raise that a cap reduced", () => {
    expect(applied()).toMatchObject([{ container: "memhog", revision: "r1", limit: mib(768) }]);
    expect(applied("maxMemory")).toEqual([]);
  });

  it("from a container that is stopped: what it had taught is forgotten, and what others taught is not", () => {
    const known = [learned({ atMs: now }), learned({ revision: "fixed" }), learned({ container: "proxy" })];
    const { record } = decide(
      anAppWith(hungry, { record: aRecord({ actions: raises(6), learned: known }) }, { revision: "leaky" }),
    );
    expect(record.stops).toMatchObject([{ reason: "SuspectedLeak" }]);
    expect(record.learned).toEqual(known.slice(1));
  });

  it("from an app that is contested", () => {
    const given = [{ uid: "pod-1", container: "memhog", limit: mib(768) }];
    const { record } = decide(
      anAppWith({}, { record: aRecord({ given, reverts: 1, learned: [learned()], actions: [anAction()] }) }),
    );
    expect(record.stops).toMatchObject([{ reason: "Contested" }]);
    expect(record.learned).toEqual([]);
  });
});

describe("G3: a quota is first for those that need it", () => {
  const fresh = (n: number, containers = [anObservedContainer()]) =>
    anObservedPod({ name: `new-${n}`, uid: `new-${n}`, revision: "r1", createdAtMs: now - 1_000, containers });
  const quotas = (leftMib: number) => [{ name: "team", of: "limits" as const, hard: mib(16_384), used: mib(16_384 - leftMib) }];
  const world = (pods: readonly ObservedPod[], leftMib: number) =>
    anApp({
      ...{ pods, limits: { ranges: [], quotas: quotas(leftMib) }, policies: [aPolicy()] },
      record: aRecord({ learned: [learned({ revision: "r1", limit: mib(768) })] }),
    });
  const raisedIn = (seen: ReturnType<typeof world>) =>
    verdictsOn(seen).flatMap(({ pod, decision }) => (decision.kind === "raise" ? [`${pod.name} ${decision.reason}`] : []));

  it("twelve new pods leave half of what is left to others", () => {
    const twelve = Array.from({ length: 12 }, (_, n) => fresh(n));
    // 384Mi each: the first leaves 1152Mi of 1536Mi, the second 768Mi, the third 384Mi.
    expect(raisedIn(world(twelve, 1536))).toHaveLength(3);
  });

  it("a hot pod comes first, although it is judged last", () => {
    const pods = [
      fresh(1),
      fresh(2),
      anObservedPod({ name: "old", uid: "old", revision: "r1", containers: [anObservedContainer(hungry)] }),
    ];
    expect(raisedIn(world(pods, 500))).toEqual(["old ThresholdCrossed"]);
  });
});
