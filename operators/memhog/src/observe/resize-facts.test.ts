import type { PodCondition } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { resizeIn } from "./pod-facts.ts";

describe("the state of a resize in the pod status", () => {
  const condition = (type: string, reason: string, more: Partial<PodCondition> = {}): PodCondition => ({
    ...{ type, reason, status: "True", message: "why" },
    ...more,
  });
  const pending = (reason: string, more: Partial<PodCondition> = {}) => condition("PodResizePending", reason, more);
  const message = "why";
  it.each([
    { name: "no resize", status: { observedGeneration: 2 }, is: { state: "none" } },
    { name: "Deferred", status: { conditions: [pending("Deferred")] }, is: { state: "deferred", message } },
    { name: "Infeasible", status: { conditions: [pending("Infeasible")] }, is: { state: "infeasible", message } },
    { name: "in progress", status: { conditions: [condition("PodResizeInProgress", "")] }, is: { state: "inProgress", message } },
    { name: "error", status: { conditions: [condition("PodResizeInProgress", "Error")] }, is: { state: "error", message } },
    {
      name: "pending while another is in progress",
      status: { conditions: [condition("PodResizeInProgress", ""), pending("Deferred")] },
      is: { state: "deferred", message },
    },
    {
      name: "a condition with status False",
      status: { conditions: [pending("Deferred", { status: "False" })] },
      is: { state: "none" },
    },
    {
      name: "a condition of an older generation",
      status: { observedGeneration: 2, conditions: [pending("Infeasible", { observedGeneration: 1 })] },
      is: { state: "none" },
    },
    {
      name: "a status of an older generation",
      status: { observedGeneration: 1, conditions: [pending("Infeasible")] },
      is: { state: "inProgress", message: "the kubelet has not observed the resize yet" },
    },
    { name: "Deferred in the format of Kubernetes 1.32", status: { resize: "Deferred" as const }, is: { state: "deferred" } },
  ])("is parsed: $name", ({ status, is }) => expect(resizeIn(status, 2)).toEqual(is));
});
