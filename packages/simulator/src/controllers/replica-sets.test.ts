import { type Pod, ReplicaSet } from "@memhog/runtime";
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

describe("the number of pods", () => {
  const steps = (replicas: number, ...pods: Parameters<typeof decideReplicas>[1]) => {
    const { create, remove } = decideReplicas(set(replicas), pods);
    return { create, remove: remove.map(({ metadata }) => metadata.name) };
  };
  const cases = [
    { name: "missing ones are made", steps: steps(3, pod("a")), decision: { create: 2, remove: [] } },
    { name: "enough is enough", steps: steps(1, pod("a")), decision: { create: 0, remove: [] } },
    { name: "one that goes is replaced at once", steps: steps(1, pod("a", going)), decision: { create: 1, remove: [] } },
    {
      name: "one that failed is replaced",
      steps: steps(1, pod("a", { status: { phase: "Failed" } })),
      decision: { create: 1, remove: [] },
    },
    {
      name: "one without a node goes first",
      steps: steps(1, pod("a"), pod("b", { spec: { nodeName: undefined } as never })),
      decision: { create: 0, remove: ["b"] },
    },
    {
      name: "one that is not ready goes before one that is",
      steps: steps(1, pod("a"), pod("b", notReady)),
      decision: { create: 0, remove: ["b"] },
    },
    {
      name: "the cheaper one goes first",
      steps: steps(1, pod("a"), pod("b", { metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "-1" } } })),
      decision: { create: 0, remove: ["b"] },
    },
    {
      name: "the younger of two equals goes",
      steps: steps(1, pod("a", { metadata: { creationTimestamp: "2026-01-02T00:00:00Z" } }), pod("b")),
      decision: { create: 0, remove: ["a"] },
    },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toEqual(decision));
});

describe("the status", () => {
  it("counts pods that run, that are ready, that are going", () => {
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

  it("says why pods are missing, and takes it back", () => {
    const failed = decideStatus(set(2), [], { reason: "FailedCreate", message: "exceeded quota" }, 0);
    expect(failed.conditions).toMatchObject([
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" },
    ]);
    expect(decideStatus({ ...set(2), status: failed }, [], undefined, 0).conditions).toBeUndefined();
  });
});
