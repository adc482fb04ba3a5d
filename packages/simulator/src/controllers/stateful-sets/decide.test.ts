import { type Pod, StatefulSet } from "@memhog/runtime";
import { anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideSet } from "./decide.ts";
import { decideStatus } from "./status.ts";

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

describe("in order", () => {
  const partitioned = set(3, { updateStrategy: { rollingUpdate: { partition: 2 } } });
  const cases = [
    { name: "the first comes first", steps: steps(set(3)), decision: "+0" },
    { name: "the next waits for it", steps: steps(set(3), pod(0, notReady)), decision: "" },
    { name: "the next comes when it is ready", steps: steps(set(3), pod(0)), decision: "+1" },
    { name: "a gap is filled", steps: steps(set(3), pod(0), pod(2)), decision: "+1" },
    { name: "the highest goes first", steps: steps(set(1), pod(0), pod(1), pod(2)), decision: "-2" },
    { name: "one goes at a time", steps: steps(set(1), pod(0), pod(1), pod(2, going)), decision: "" },
    { name: "none goes while one that stays is not ready", steps: steps(set(1), pod(0, notReady), pod(1)), decision: "" },
    {
      name: "one that ended is removed, to be made again",
      steps: steps(set(1), pod(0, { status: { phase: "Failed" } })),
      decision: "-0",
    },
    { name: "an update begins at the top", steps: steps(set(3), old(0), old(1), old(2)), decision: "-2" },
    { name: "an update goes on when that one is back", steps: steps(set(3), old(0), old(1), pod(2)), decision: "-1" },
    { name: "an update waits until it is ready", steps: steps(set(3), old(0), old(1), pod(2, notReady)), decision: "" },
    { name: "an update stops at the partition", steps: steps(partitioned, old(0), old(1), pod(2)), decision: "" },
    {
      name: "OnDelete leaves updates to others",
      steps: steps(set(1, { updateStrategy: { type: "OnDelete" } }), old(0)),
      decision: "",
    },
    { name: "numbers may begin elsewhere", steps: steps(set(2, { ordinals: { start: 5 } }), pod(5)), decision: "+6" },
    { name: "at rest nothing happens", steps: steps(set(1), pod(0)), decision: "" },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toBe(decision));
});

describe("in parallel", () => {
  const parallel = (replicas: number) => set(replicas, { podManagementPolicy: "Parallel" });
  it("all come at once", () => expect(steps(parallel(3), pod(1, notReady))).toBe("+0 +2"));
  it("all go at once", () => expect(steps(parallel(1), pod(0, notReady), pod(1), pod(2))).toBe("-2 -1"));
  it("updates go one by one", () => expect(steps(parallel(2), old(0), old(1))).toBe("-1"));
});

describe("the status", () => {
  it("tells old from new during an update", () => {
    const status = decideStatus(set(2, {}, { currentRevision: "old" }), [old(0), pod(1)], "new", 0);
    expect(status).toMatchObject({ currentRevision: "old", updateRevision: "new", currentReplicas: 1, updatedReplicas: 1 });
  });
  it("calls the new one current when everyone is there", () => {
    const status = decideStatus(set(2, {}, { currentRevision: "old" }), [pod(0), pod(1)], "new", 0);
    expect(status).toMatchObject({ currentRevision: "new", currentReplicas: 2, updatedReplicas: 2, readyReplicas: 2 });
  });
});
