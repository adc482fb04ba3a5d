import { type Deployment, StatefulSet } from "@memhog/runtime";
import { CronJob, DaemonSet, ReplicaSet } from "@memhog/runtime/kinds";
import { aDeployment, anObject, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { container, sidecar } from "./facts.fixture.ts";
import { cronJobFacts, daemonSetFacts, deploymentFacts, replicaSetFacts, statefulSetFacts } from "./owner-facts.ts";

describe("owner facts", () => {
  const template = { spec: { initContainers: [container("proxy", "2Mi", sidecar)], containers: [container("main", "3Mi")] } };
  const done = { observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3 };
  const deployment = (given: DeepPartial<Deployment>) => deploymentFacts(aDeployment(given));

  it("contain the memory of the template, including sidecars", () => {
    expect(deployment({ spec: { template } })).toEqual({
      containers: [
        { name: "proxy", limit: mib(2), request: mib(2) },
        { name: "main", limit: mib(3), request: mib(3) },
      ],
      ...{ replicas: 3, readyReplicas: 3, rolledOut: true, replacesPods: true, maxUnavailable: 0, surge: 1, deadlineMs: 600_000 },
    });
  });

  it.each([
    { name: "if its controller has not observed it", status: { ...done, observedGeneration: 0 } },
    { name: "if old pods remain", status: { ...done, updatedReplicas: 2 } },
    { name: "if there are too many pods", status: { ...done, replicas: 4 } },
    { name: "if some pods are not Ready", status: { ...done, readyReplicas: 2 } },
  ])("a Deployment is not rolled out $name", ({ status }) => expect(deployment({ status }).rolledOut).toBe(false));

  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "late" };
  const refused = { type: "ReplicaFailure", status: "True", message: "quota" };
  it.each([
    { name: "exceeded its deadline", given: { status: { ...done, conditions: [late] } }, says: { stalled: "late" } },
    { name: "cannot create pods", given: { status: { ...done, conditions: [refused] } }, says: { failing: "quota" } },
    { name: "is paused", given: { spec: { paused: true } }, says: { held: "the Deployment is paused" } },
    {
      name: "has conditions of its previous template",
      given: { metadata: { generation: 2 }, status: { ...done, conditions: [late, refused] } },
      says: {},
    },
    { name: "has a deadline", given: { spec: { progressDeadlineSeconds: 60 } }, says: { deadlineMs: 60_000 } },
    { name: "has none", given: { spec: { progressDeadlineSeconds: 2_147_483_647 } }, says: { deadlineMs: 3_600_000 } },
  ])("D6: a Deployment that $name", ({ given, says }) => {
    const { held, stalled, failing, deadlineMs } = deployment(given as DeepPartial<Deployment>);
    const none = { held: undefined, stalled: undefined, failing: undefined, deadlineMs: 600_000 };
    expect({ held, stalled, failing, deadlineMs }).toEqual({ ...none, ...says });
  });

  it.each<{ name: string; strategy?: NonNullable<Deployment["spec"]["strategy"]>; surge: number }>([
    { name: "by default", surge: 2 },
    { name: "with maxSurge 50%", strategy: { rollingUpdate: { maxSurge: "50%" } }, surge: 3 },
    { name: "with maxSurge 0", strategy: { rollingUpdate: { maxSurge: 0 } }, surge: 0 },
    { name: "with Recreate", strategy: { type: "Recreate" }, surge: 0 },
  ])("D5: the surge of a Deployment with 6 replicas $name is $surge", ({ strategy, surge }) =>
    expect(deployment({ spec: { replicas: 6, template, ...(strategy && { strategy }) } }).surge).toBe(surge),
  );

  it("a StatefulSet replaces its pods unless its strategy is OnDelete; a partition holds rollouts back", () => {
    const spec = { replicas: 3, template };
    const set = (updateStrategy: object) =>
      statefulSetFacts(anObject(StatefulSet, { spec: { ...spec, updateStrategy }, status: done }));
    expect(set({})).toMatchObject({ replacesPods: true, rolledOut: true, maxUnavailable: 1 });
    expect(set({ type: "OnDelete" })).toMatchObject({ replacesPods: false });
    expect(set({ rollingUpdate: { partition: 2 } }).held).toContain("below 2");
  });

  it("a DaemonSet has as many replicas as nodes", () => {
    const counts = { currentNumberScheduled: 2, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 2 };
    const set = (updated: number) => {
      const status = { ...counts, observedGeneration: 1, updatedNumberScheduled: updated };
      return daemonSetFacts(anObject(DaemonSet, { spec: { template }, status }));
    };
    expect(set(2)).toMatchObject({ replicas: 2, readyReplicas: 2, rolledOut: true, replacesPods: true, maxUnavailable: 1 });
    expect(set(1).rolledOut).toBe(false);
  });

  it("a ReplicaSet does not replace its pods", () => {
    const status = { observedGeneration: 1, replicas: 1, readyReplicas: 1 };
    expect(replicaSetFacts(anObject(ReplicaSet, { spec: { template }, status }))).toMatchObject({
      replacesPods: false,
      rolledOut: true,
      maxUnavailable: 1,
    });
  });

  it("a CronJob is always rolled out, because its next run uses the template", () => {
    const spec = { schedule: "* * * * *", jobTemplate: { spec: { template, parallelism: 2 } } };
    expect(cronJobFacts(anObject(CronJob, { spec }))).toMatchObject({
      replicas: 2,
      rolledOut: true,
      maxUnavailable: 0,
      containers: [{}, { name: "main" }],
    });
  });
});
