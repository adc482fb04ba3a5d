import { describe, expect, it } from "vitest";
import { Pod } from "../objects/kinds/pod.ts";
import { mergePatch, stageOf } from "./parent.ts";
import { atRevision, type ChildState, healthOf, nextRollout, patchOf } from "./rollout.ts";
import type { UpdateStrategy } from "./update.ts";

const states: Readonly<Record<string, ChildState>> = {
  missing: { kind: "missing" },
  outdated: { kind: "outdated" },
  sick: { kind: "unhealthy", message: "not Ready" },
  healthy: { kind: "healthy" },
};

describe("which child is updated next", () => {
  // "c:new/healthy": child c belongs to the revision "new", and is as that wants it and healthy.
  const cases = [
    {
      name: "new children belong to the latest revision",
      before: "c:-/missing b:-/missing",
      after: "c:new b:new",
      reason: "OnLatestRevision",
    },
    {
      name: "the first in the order of the hook moves",
      before: "c:old/outdated b:old/outdated",
      after: "c:new b:old",
      reason: "RolloutProgressing",
    },
    {
      name: "one that moved and is not updated yet blocks",
      before: "c:new/outdated b:old/outdated",
      after: "c:new b:old",
      reason: "RolloutWaiting",
    },
    {
      name: "one that moved and is missing blocks",
      before: "c:new/missing b:old/outdated",
      after: "c:new b:old",
      reason: "RolloutWaiting",
    },
    {
      name: "one that moved and is not healthy blocks",
      before: "c:new/sick b:old/outdated",
      after: "c:new b:old",
      reason: "RolloutWaiting",
    },
    {
      name: "the next one moves when the first is healthy",
      before: "c:new/healthy b:old/outdated",
      after: "c:new b:new",
      reason: "RolloutProgressing",
    },
    {
      name: "an old one that is lost stays old until its turn",
      before: "c:new/sick b:old/missing",
      after: "c:new b:old",
      reason: "RolloutWaiting",
    },
    {
      name: "one that already is as the latest wants it moves at once",
      before: "c:old/healthy b:old/outdated",
      after: "c:new b:new",
      reason: "RolloutProgressing",
    },
    {
      name: "one that is as the latest wants it and sick blocks",
      before: "c:old/sick b:old/outdated",
      after: "c:new b:old",
      reason: "RolloutWaiting",
    },
    { name: "all have moved", before: "c:new/healthy b:new/healthy", after: "c:new b:new", reason: "OnLatestRevision" },
  ];
  it.each(cases)("$name", ({ before, after, reason }) => {
    const parsed = before.split(" ").map((text) => /^(\w+):(\S+)\/(\w+)$/.exec(text) ?? []);
    const children = parsed.map(([, key = "", , state = ""]) => ({ key, state: states[state] ?? { kind: "missing" as const } }));
    const claims = new Map(parsed.filter(([, , by]) => by !== "-").map(([, key = "", by = ""]) => [key, by]));
    const next = nextRollout("new", children, claims);
    expect([[...next.claims].map(([key, by]) => `${key}:${by}`).join(" "), next.condition.reason]).toEqual([after, reason]);
  });
});

describe("whether a child is healthy", () => {
  const ready = { type: "Ready", status: "True", reason: "Fine" };
  const cases: readonly { name: string; strategy: UpdateStrategy; child: object; healthy: boolean }[] = [
    { name: "no checks", strategy: {}, child: {}, healthy: true },
    { name: "the condition is missing", strategy: checks({ type: "Ready" }), child: {}, healthy: false },
    {
      name: "the condition exists",
      strategy: checks({ type: "Ready" }),
      child: { status: { conditions: [ready] } },
      healthy: true,
    },
    {
      name: "another status",
      strategy: checks({ type: "Ready", status: "False" }),
      child: { status: { conditions: [ready] } },
      healthy: false,
    },
    {
      name: "another reason",
      strategy: checks({ type: "Ready", reason: "Bad" }),
      child: { status: { conditions: [ready] } },
      healthy: false,
    },
    {
      name: "in place: its controller has not seen the new spec",
      strategy: { method: "RollingInPlace" },
      child: { metadata: { generation: 2 }, status: { observedGeneration: 1 } },
      healthy: false,
    },
    {
      name: "in place: it tells no generation",
      strategy: { method: "RollingInPlace" },
      child: { metadata: { generation: 2 } },
      healthy: true,
    },
  ];
  it.each(cases)("$name", ({ strategy, child, healthy }) =>
    expect(healthOf(child, { kind: Pod, updateStrategy: strategy }).kind === "healthy").toBe(healthy),
  );
  function checks(...conditions: readonly { type: string; status?: string; reason?: string }[]): UpdateStrategy {
    return { statusChecks: { conditions } };
  }
});

describe("revisions", () => {
  const parent = { metadata: { name: "a" }, spec: { replicas: 3, template: { image: "2" } } };

  it("have the named fields only, and give the parent as it was", () => {
    expect(patchOf(parent, ["spec.template"])).toEqual({ spec: { template: { image: "2" } } });
    const old = { name: "old", patch: { spec: { template: { image: "1" } } }, children: [] };
    expect(atRevision(parent, old, ["spec.template"])).toEqual({ ...parent, spec: { replicas: 3, template: { image: "1" } } });
  });
});

describe("what to do with a parent", () => {
  const cases = [
    { selected: true, deleting: false, finalizer: false, finalizes: true, stage: "addFinalizer" },
    { selected: true, deleting: false, finalizer: false, finalizes: false, stage: "sync" },
    { selected: true, deleting: false, finalizer: true, finalizes: true, stage: "sync" },
    { selected: true, deleting: true, finalizer: true, finalizes: true, stage: "finalize" },
    { selected: false, deleting: false, finalizer: true, finalizes: true, stage: "finalize" },
    { selected: true, deleting: true, finalizer: true, finalizes: false, stage: "removeFinalizer" },
    { selected: true, deleting: true, finalizer: false, finalizes: true, stage: "ignore" },
    { selected: false, deleting: false, finalizer: false, finalizes: true, stage: "ignore" },
  ];
  it.each(cases)("selected $selected, deleted $deleting, finalizer $finalizer, hook $finalizes: $stage", ({ stage, ...state }) =>
    expect(stageOf(state)).toBe(stage),
  );
});

describe("the patch that replaces a status", () => {
  const cases = [
    { name: "adds", from: undefined, to: { a: 1 }, patch: { a: 1 } },
    { name: "removes", from: { a: 1, b: 2 }, to: { b: 2 }, patch: { a: null } },
    { name: "removes inside", from: { a: { b: 1, c: 2 } }, to: { a: { c: 2 } }, patch: { a: { b: null } } },
    { name: "replaces lists", from: { a: [1, 2] }, to: { a: [2] }, patch: { a: [2] } },
    { name: "replaces a map by a text", from: { a: { b: 1 } }, to: { a: "x" }, patch: { a: "x" } },
  ];
  it.each(cases)("$name", ({ from, to, patch }) => expect(mergePatch(from, to)).toEqual(patch));
});
