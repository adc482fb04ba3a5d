import { describe, expect, it } from "vitest";
import { findCondition, hasCondition, removeCondition, setCondition } from "./condition.ts";
import type { Condition } from "./kinds/kind.ts";

const then = "2026-01-01T00:00:00Z";
const now = Date.UTC(2026, 0, 1, 12);
const ready: Condition = { type: "Ready", status: "True", reason: "AllPodsRunning", message: "", lastTransitionTime: then };
const scaling: Condition = { type: "Scaling", status: "False", reason: "Settled", message: "", lastTransitionTime: then };
const { lastTransitionTime: _, ...stated } = ready;

describe("setCondition", () => {
  const cases: readonly {
    name: string;
    conditions: readonly Condition[] | undefined;
    state: typeof stated;
    expected: readonly Condition[];
  }[] = [
    {
      name: "adds the first condition",
      conditions: undefined,
      state: stated,
      expected: [{ ...ready, lastTransitionTime: "2026-01-01T12:00:00Z" }],
    },
    {
      name: "appends another condition",
      conditions: [scaling],
      state: stated,
      expected: [scaling, { ...ready, lastTransitionTime: "2026-01-01T12:00:00Z" }],
    },
    {
      name: "updates lastTransitionTime when the status changes, and keeps the position",
      conditions: [ready, scaling],
      state: { ...stated, status: "False", reason: "PodsMissing" },
      expected: [{ ...ready, status: "False", reason: "PodsMissing", lastTransitionTime: "2026-01-01T12:00:00Z" }, scaling],
    },
    {
      name: "keeps lastTransitionTime when only the message changes",
      conditions: [ready],
      state: { ...stated, message: "3 of 3" },
      expected: [{ ...ready, message: "3 of 3" }],
    },
    {
      name: "keeps lastTransitionTime when only observedGeneration changes",
      conditions: [ready],
      state: { ...stated, observedGeneration: 7 },
      expected: [{ ...ready, observedGeneration: 7 }],
    },
    {
      name: "fills in a missing lastTransitionTime",
      conditions: [stated],
      state: stated,
      expected: [{ ...ready, lastTransitionTime: "2026-01-01T12:00:00Z" }],
    },
  ];
  it.each(cases)("$name", ({ conditions, state, expected }) => expect(setCondition(conditions, state, now)).toEqual(expected));

  it("returns the same array when nothing changed", () => {
    const conditions = [scaling, ready];
    expect(setCondition(conditions, stated, now)).toBe(conditions);
  });

  it("treats a missing message as an empty one", () => {
    const { message: _, ...wordless } = stated;
    const conditions = [ready];
    expect(setCondition(conditions, wordless, now)).toBe(conditions);
  });
});

describe("findCondition and hasCondition", () => {
  it("find a condition by its type", () => {
    expect(findCondition([scaling, ready], "Ready")).toBe(ready);
    expect(findCondition(undefined, "Ready")).toBeUndefined();
  });

  it("compare the status", () => {
    expect(hasCondition([ready], "Ready")).toBe(true);
    expect(hasCondition([ready], "Ready", "False")).toBe(false);
    expect(hasCondition([], "Ready", "Unknown")).toBe(false);
  });
});

describe("removeCondition", () => {
  it("removes the condition", () => expect(removeCondition([scaling, ready], "Ready")).toEqual([scaling]));
  it("returns the same array when there is no such condition", () => {
    const conditions = [scaling];
    expect(removeCondition(conditions, "Ready")).toBe(conditions);
  });
});
