import { CronJob, DaemonSet, type Deployment, ReplicaSet, StatefulSet } from "@memhog/runtime";
import { aDeployment, anObject, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { container, sidecar } from "./facts.fixture.ts";
import { cronJobFacts, daemonSetFacts, deploymentFacts, replicaSetFacts, statefulSetFacts } from "./owner-facts.ts";

describe("what is kept of owners", () => {
  const template = { spec: { initContainers: [container("proxy", "2Mi", sidecar)], containers: [container("main", "3Mi")] } };
  const done = { observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3 };
  const deployment = (given: DeepPartial<Deployment>) => deploymentFacts(aDeployment(given));

  it("is the memory of the template, sidecars included", () => {
    expect(deployment({ spec: { template } })).toEqual({
      containers: [
        { name: "proxy", limit: mib(2), request: mib(2) },
        { name: "main", limit: mib(3), request: mib(3) },
      ],
      ...{ replicas: 3, readyReplicas: 3, rolledOut: true, replacesPods: true, takenFirst: 0 },
    });
  });

  it.each([
    { name: "not seen by its controller", status: { ...done, observedGeneration: 0 } },
    { name: "with old pods left", status: { ...done, updatedReplicas: 2 } },
    { name: "with pods too many", status: { ...done, replicas: 4 } },
    { name: "with pods that are not ready", status: { ...done, readyReplicas: 2 } },
  ])("a Deployment is not rolled out $name", ({ status }) => expect(deployment({ status }).rolledOut).toBe(false));

  it.each([
    {
      name: "is late",
      given: {
        status: { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" }] },
      },
      why: "late",
    },
    {
      name: "may make no pods",
      given: { status: { conditions: [{ type: "ReplicaFailure", status: "True", message: "quota" }] } },
      why: "quota",
    },
    { name: "is paused", given: { spec: { paused: true } }, why: "the Deployment is paused" },
  ] as const)("a Deployment that $name is stalled", ({ given, why }) => expect(deployment(given).stalled).toBe(why));

  it("a StatefulSet replaces pods itself unless it is told not to; a partition holds it back", () => {
    const spec = { replicas: 3, template };
    const set = (updateStrategy: object) =>
      statefulSetFacts(anObject(StatefulSet, { spec: { ...spec, updateStrategy }, status: done }));
    expect(set({})).toMatchObject({ replacesPods: true, rolledOut: true, takenFirst: 1 });
    expect(set({ type: "OnDelete" })).toMatchObject({ replacesPods: false });
    expect(set({ rollingUpdate: { partition: 2 } }).stalled).toContain("below 2");
  });

  it("a DaemonSet has as many replicas as nodes", () => {
    const counts = { currentNumberScheduled: 2, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 2 };
    const set = (updated: number) => {
      const status = { ...counts, observedGeneration: 1, updatedNumberScheduled: updated };
      return daemonSetFacts(anObject(DaemonSet, { spec: { template }, status }));
    };
    expect(set(2)).toMatchObject({ replicas: 2, readyReplicas: 2, rolledOut: true, replacesPods: true, takenFirst: 1 });
    expect(set(1).rolledOut).toBe(false);
  });

  it("a ReplicaSet leaves its pods as they are", () => {
    const status = { observedGeneration: 1, replicas: 1, readyReplicas: 1 };
    expect(replicaSetFacts(anObject(ReplicaSet, { spec: { template }, status }))).toMatchObject({
      replacesPods: false,
      rolledOut: true,
      takenFirst: 1,
    });
  });

  it("a CronJob has nothing to roll out: its next run is made from the template", () => {
    const spec = { schedule: "* * * * *", jobTemplate: { spec: { template } } };
    expect(cronJobFacts(anObject(CronJob, { spec }))).toMatchObject({
      replicas: 0,
      rolledOut: true,
      takenFirst: 0,
      containers: [{}, { name: "main" }],
    });
  });
});
