import { type Deployment, findCondition, type Stored } from "@memhog/runtime";
import { type DeploymentStatus, ReplicaSet } from "@memhog/runtime/kinds";
import { aDeployment, anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideStatus, overdueInMs } from "./status.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
/** Four pods with maxUnavailable 1. */
const deployment = (status: DeploymentStatus = {}, spec: object = {}): Stored<Deployment> => ({
  ...aDeployment({ metadata: { name: "web" }, spec: { replicas: 4, progressDeadlineSeconds: 600, ...spec } }),
  status,
});
const set = (name: string, replicas: number, availableReplicas: number, conditions: object[] = []) =>
  anObject(ReplicaSet, {
    metadata: { name },
    spec: { replicas },
    status: { replicas, readyReplicas: availableReplicas, availableReplicas, conditions },
  } as never);
const progressing = (reason: string, lastUpdateTime = "2026-01-01T00:59:00Z") =>
  ({ type: "Progressing", status: "True", reason, lastUpdateTime, lastTransitionTime: lastUpdateTime }) as const;
const said = (status: DeploymentStatus, type: string) => {
  const condition = findCondition(status.conditions, type);
  return condition && `${condition.status} ${condition.reason}`;
};

it("a Deployment counts the pods of all its ReplicaSets", () => {
  const status = decideStatus(deployment(), { current: set("new", 2, 1), old: [set("old", 3, 3)] }, now);
  expect(status).toMatchObject({
    replicas: 5,
    updatedReplicas: 2,
    readyReplicas: 4,
    availableReplicas: 4,
    unavailableReplicas: 1,
  });
});

it("a Deployment is available if at most maxUnavailable pods are missing", () => {
  const of = (available: number) =>
    said(decideStatus(deployment(), { current: set("new", 4, available), old: [] }, now), "Available");
  expect(of(3)).toBe("True MinimumReplicasAvailable");
  expect(of(2)).toBe("False MinimumReplicasUnavailable");
});

describe("the Progressing condition of a Deployment", () => {
  const after = (before: DeploymentStatus, available: number, more: { created?: string; spec?: object } = {}) =>
    said(
      decideStatus(deployment(before, more.spec), { current: set("new", 4, available), old: [], created: more.created }, now),
      "Progressing",
    );
  const going = { replicas: 4, updatedReplicas: 4, readyReplicas: 2, availableReplicas: 2 };
  const cases = [
    { name: "begins with a new ReplicaSet", progress: after({}, 0, { created: "new" }), decision: "True NewReplicaSetCreated" },
    { name: "begins with an existing ReplicaSet", progress: after({}, 0), decision: "True FoundNewReplicaSet" },
    {
      name: "is updated when a pod becomes available",
      progress: after({ ...going, conditions: [progressing("NewReplicaSetCreated")] }, 3),
      decision: "True ReplicaSetUpdated",
    },
    {
      name: "is unchanged while pods become available",
      progress: after({ ...going, conditions: [progressing("ReplicaSetUpdated")] }, 2),
      decision: "True ReplicaSetUpdated",
    },
    {
      name: "is False after the deadline",
      progress: after({ ...going, conditions: [progressing("ReplicaSetUpdated", "2026-01-01T00:40:00Z")] }, 2),
      decision: "False ProgressDeadlineExceeded",
    },
    {
      name: "reports completion",
      progress: after({ ...going, conditions: [progressing("ReplicaSetUpdated")] }, 4),
      decision: "True NewReplicaSetAvailable",
    },
    {
      name: "stays complete if a pod fails later",
      progress: after({ ...going, conditions: [progressing("NewReplicaSetAvailable", "2026-01-01T00:00:00Z")] }, 1),
      decision: "True NewReplicaSetAvailable",
    },
    {
      name: "reports a pause",
      progress: after({ ...going, conditions: [progressing("ReplicaSetUpdated")] }, 2, { spec: { paused: true } }),
      decision: "Unknown DeploymentPaused",
    },
    {
      name: "reports a resume",
      progress: after({ ...going, conditions: [progressing("DeploymentPaused")] }, 2),
      decision: "Unknown DeploymentResumed",
    },
  ];
  it.each(cases)("$name", ({ progress, decision }) => expect(progress).toBe(decision));

  it("exceeds its deadline only during a rollout", () => {
    expect(overdueInMs(deployment({ conditions: [progressing("ReplicaSetUpdated")] }), now)).toBe(540_000);
    expect(overdueInMs(deployment({ conditions: [progressing("NewReplicaSetAvailable")] }), now)).toBeUndefined();
  });
});

it("a Deployment passes on the ReplicaFailure condition and removes it", () => {
  const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" };
  const failed = decideStatus(deployment(), { current: set("new", 4, 0, [failure]), old: [] }, now);
  expect(said(failed, "ReplicaFailure")).toBe("True FailedCreate");
  expect(said(decideStatus(deployment(failed), { current: set("new", 4, 0), old: [] }, now), "ReplicaFailure")).toBeUndefined();
});
