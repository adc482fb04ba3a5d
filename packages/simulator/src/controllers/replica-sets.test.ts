import type { Pod } from "@memhog/runtime";
import { ReplicaSet } from "@memhog/runtime/kinds";
import { anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideReplicas, decideStatus } from "./replica-sets.ts";

const set = (replicas: number) =>
  anObject(ReplicaSet, {
    spec: { replicas, selector: {}, template: { metadata: { labels: { app: "web" } }, spec: { containers: [] } } },
  });
const pod = (name: string, more: DeepPartial<Pod> = {}) =>
  aPod({ ...more, metadata: { name, labels: { app: "web" }, ...more.metadata } });
const notReady = { status: { conditions: [{ type: "Ready", status: "False" }] } } as const;
const going = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };

describe("a ReplicaSet", () => {
  const steps = (replicas: number, ...pods: Parameters<typeof decideReplicas>[1]) => {
    const { create, remove } = decideReplicas(set(replicas), pods);
    return { create, remove: remove.map(({ metadata }) => metadata.name) };
  };
  const cases = [
    { name: "creates missing pods", steps: steps(3, pod("a")), decision: { create: 2, remove: [] } },
    { name: "does nothing at the desired number", steps: steps(1, pod("a")), decision: { create: 0, remove: [] } },
    { name: "replaces a pod that is being deleted", steps: steps(1, pod("a", going)), decision: { create: 1, remove: [] } },
    {
      name: "replaces a failed pod",
      steps: steps(1, pod("a", { status: { phase: "Failed" } })),
      decision: { create: 1, remove: [] },
    },
    {
      name: "deletes an unscheduled pod first",
      steps: steps(1, pod("a"), pod("b", { spec: { nodeName: undefined } as never })),
      decision: { create: 0, remove: ["b"] },
    },
    {
      name: "deletes an unready pod before a ready one",
      steps: steps(1, pod("a"), pod("b", notReady)),
      decision: { create: 0, remove: ["b"] },
    },
    {
      name: "deletes the pod with the lower deletion cost first",
      steps: steps(1, pod("a"), pod("b", { metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "-1" } } })),
      decision: { create: 0, remove: ["b"] },
    },
    {
      name: "deletes the younger of two equal pods",
      steps: steps(1, pod("a", { metadata: { creationTimestamp: "2026-01-02T00:00:00Z" } }), pod("b")),
      decision: { create: 0, remove: ["a"] },
    },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toEqual(decision));
});

describe("the status of a ReplicaSet", () => {
  it("counts running, ready and terminating pods", () => {
    const pods = [pod("a"), pod("b", notReady), pod("c", going)];
    expect(decideStatus(set(2), pods, undefined, 0)).toEqual({
      ...{
        observedGeneration: 1,
        replicas: 2,
        fullyLabeledReplicas: 2,
        readyReplicas: 1,
        availableReplicas: 1,
        terminatingReplicas: 1,
      },
    });
  });

  it("reports why pods are missing, and removes that condition", () => {
    const failed = decideStatus(set(2), [], { reason: "FailedCreate", message: "exceeded quota" }, 0);
    expect(failed.conditions).toMatchObject([
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" },
    ]);
    expect(decideStatus({ ...set(2), status: failed }, [], undefined, 0).conditions).toBeUndefined();
  });
});
