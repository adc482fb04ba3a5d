import { describe, expect, expectTypeOf, it } from "vitest";
import { condition, reasonsOf } from "./conditions.ts";
import type { ConditionOf } from "./define-resource.ts";
import { Memcached } from "./sample-operators.fixture.ts";

describe("condition()", () => {
  it("takes the status from the reason", () => {
    const degraded = condition(Memcached, "Degraded", "NameConflict", "the Deployment is not ours");
    expect(degraded).toEqual({
      type: "Degraded",
      status: "True",
      reason: "NameConflict",
      message: "the Deployment is not ours",
    });
    expectTypeOf(degraded).toExtend<ConditionOf<typeof Memcached>>();
  });

  it("accepts a union of reasons, with the statuses they imply", () => {
    const ready = (missing: number): ConditionOf<typeof Memcached> =>
      condition(Memcached, "Available", missing === 0 ? "MinimumAvailable" : "TooFewReady", `${missing} are missing`);
    expect([ready(0).status, ready(1).status]).toEqual(["True", "False"]);
  });

  it("accepts a union of types and returns one of the defined conditions", () => {
    const either = (rolling: boolean): ConditionOf<typeof Memcached> =>
      rolling ? condition(Memcached, "Progressing", "RollingOut", "") : condition(Memcached, "Available", "TooFewReady", "");
    const type: "Available" | "Progressing" = either(true).type === "Progressing" ? "Progressing" : "Available";
    const chosen: ConditionOf<typeof Memcached> = condition(Memcached, type, "RollingOut", "");
    expect(chosen).toEqual({ type: "Progressing", status: "True", reason: "RollingOut", message: "" });
  });

  it("compiles only with reasons of the type", () => {
    // @ts-expect-error RollingOut is a reason of Progressing
    expect(() => condition(Memcached, "Available", "RollingOut", "")).toThrow("Available/RollingOut");
  });
});

describe("reasonsOf()", () => {
  it("lists every reason with its status and description, for all three notations", () => {
    const table = { A: ["One"], B: { Two: "A sentence." }, C: { True: ["Three"], Unknown: { Four: "Another." } } } as const;
    expect(reasonsOf(table)).toEqual([
      { type: "A", status: undefined, reason: "One", description: "" },
      { type: "B", status: undefined, reason: "Two", description: "A sentence." },
      { type: "C", status: "True", reason: "Three", description: "" },
      { type: "C", status: "Unknown", reason: "Four", description: "Another." },
    ]);
  });
});
