import { type Pod, StatefulSet } from "@memhog/runtime";
import { anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideSet, decideStatus } from "./decide.ts";

const set = (replicas: number, spec: DeepPartial<StatefulSet["spec"]> = {}, status = {}) =>
  anObject(StatefulSet, { metadata: { name: "db" }, spec: { replicas, ...spec }, status } as never);
const pod = (number: number, more: DeepPartial<Pod> = {}, revision = "new") =>
  aPod({ ...more, metadata: { name: `db-${number}`, labels: { "controller-revision-hash": revision }, ...more.metadata } });
const old = (number: number, more: DeepPartial<Pod> = {}) => pod(number, more, "old");
const notReady = { status: { conditions: [{ type: "Ready", status: "False" }] } } as const;
const going = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };

/** "+0" and "-2". */
const steps = (of: ReturnType<typeof set>, ...pods: ReturnType<typeof pod>[]) => {
  const { create, remove } = decideSet(of, pods, "new", 0);
  return [...create.map((number) => `+${number}`), ...remove.map(({ metadata }) => metadata.name.replace("db", ""))].join(" ");
};

describe("a StatefulSet with OrderedReady", () => {
  const partitioned = set(3, { updateStrategy: { rollingUpdate: { partition: 2 } } });
  const cases = [
    { name: "creates the first pod", steps: steps(set(3)), decision: "+0" },
    { name: "waits until a pod is ready before it creates the next", steps: steps(set(3), pod(0, notReady)), decision: "" },
    { name: "creates the next pod when the previous one is ready", steps: steps(set(3), pod(0)), decision: "+1" },
    { name: "fills a gap", steps: steps(set(3), pod(0), pod(2)), decision: "+1" },
    { name: "deletes the highest ordinal first", steps: steps(set(1), pod(0), pod(1), pod(2)), decision: "-2" },
    { name: "deletes one pod at a time", steps: steps(set(1), pod(0), pod(1), pod(2, going)), decision: "" },
    { name: "deletes no pod while a remaining one is not ready", steps: steps(set(1), pod(0, notReady), pod(1)), decision: "" },
    {
      name: "deletes a terminated pod to create it again",
      steps: steps(set(1), pod(0, { status: { phase: "Failed" } })),
      decision: "-0",
    },
    { name: "updates the highest ordinal first", steps: steps(set(3), old(0), old(1), old(2)), decision: "-2" },
    { name: "updates the next pod when the previous one is ready", steps: steps(set(3), old(0), old(1), pod(2)), decision: "-1" },
    { name: "waits for an updated pod that is not ready", steps: steps(set(3), old(0), old(1), pod(2, notReady)), decision: "" },
    { name: "an update stops at the partition", steps: steps(partitioned, old(0), old(1), pod(2)), decision: "" },
    {
      name: "updates nothing with OnDelete",
      steps: steps(set(1, { updateStrategy: { type: "OnDelete" } }), old(0)),
      decision: "",
    },
    { name: "starts at ordinals.start", steps: steps(set(2, { ordinals: { start: 5 } }), pod(5)), decision: "+6" },
    { name: "does nothing when complete", steps: steps(set(1), pod(0)), decision: "" },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toBe(decision));
});

describe("a StatefulSet with podManagementPolicy Parallel", () => {
  const parallel = (replicas: number) => set(replicas, { podManagementPolicy: "Parallel" });
  it("creates all missing pods at once", () => expect(steps(parallel(3), pod(1, notReady))).toBe("+0 +2"));
  it("deletes all surplus pods at once", () => expect(steps(parallel(1), pod(0, notReady), pod(1), pod(2))).toBe("-2 -1"));
  it("updates pods one by one", () => expect(steps(parallel(2), old(0), old(1))).toBe("-1"));
});

describe("the status of a StatefulSet", () => {
  it("counts current and updated pods during an update", () => {
    const status = decideStatus(set(2, {}, { currentRevision: "old" }), [old(0), pod(1)], "new", 0);
    expect(status).toMatchObject({ currentRevision: "old", updateRevision: "new", currentReplicas: 1, updatedReplicas: 1 });
  });
  it("makes the new revision current when all pods are updated", () => {
    const status = decideStatus(set(2, {}, { currentRevision: "old" }), [pod(0), pod(1)], "new", 0);
    expect(status).toMatchObject({ currentRevision: "new", currentReplicas: 2, updatedReplicas: 2, readyReplicas: 2 });
  });
});
