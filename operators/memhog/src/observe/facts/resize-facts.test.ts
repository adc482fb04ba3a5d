import type { PodCondition } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { resizeIn } from "./resize-facts.ts";

describe("what the kubelet says about a resize", () => {
  const condition = (type: string, reason: string, more: Partial<PodCondition> = {}): PodCondition => ({
    ...{ type, reason, status: "True", message: "why" },
    ...more,
  });
  const pending = (reason: string, more: Partial<PodCondition> = {}) => condition("PodResizePending", reason, more);
  const message = "why";
  it.each([
    { name: "nothing", status: { observedGeneration: 2 }, is: { state: "none" } },
    { name: "Deferred", status: { conditions: [pending("Deferred")] }, is: { state: "deferred", message } },
    { name: "Infeasible", status: { conditions: [pending("Infeasible")] }, is: { state: "infeasible", message } },
    { name: "in progress", status: { conditions: [condition("PodResizeInProgress", "")] }, is: { state: "inProgress", message } },
    { name: "an error", status: { conditions: [condition("PodResizeInProgress", "Error")] }, is: { state: "error", message } },
    {
      name: "pending beside one in progress",
      status: { conditions: [condition("PodResizeInProgress", ""), pending("Deferred")] },
      is: { state: "deferred", message },
    },
    {
      name: "a condition that no longer holds",
      status: { conditions: [pending("Deferred", { status: "False" })] },
      is: { state: "none" },
    },
    {
      name: "a condition about an older spec",
      status: { observedGeneration: 2, conditions: [pending("Infeasible", { observedGeneration: 1 })] },
      is: { state: "none" },
    },
    {
      name: "a status of an older spec",
      status: { observedGeneration: 1, conditions: [pending("Infeasible")] },
      is: { state: "inProgress", message: "the kubelet has not seen it yet" },
    },
    { name: "Deferred, in the words of 1.32", status: { resize: "Deferred" as const }, is: { state: "deferred" } },
  ])("is understood: $name", ({ status, is }) => expect(resizeIn(status, 2)).toEqual(is));
});
