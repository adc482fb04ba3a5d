import type { Change, Pod, Stored } from "@memhog/runtime";
import { aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { Taken } from "./taken.ts";

interface Shown {
  readonly uid?: string;
  readonly node?: string;
  readonly cpu?: string;
  readonly phase?: string;
  readonly going?: boolean;
}

function pod({ uid = "a", node, cpu = "1", phase = "Pending", going = false }: Shown = {}): Stored<Pod> {
  const spec: DeepPartial<Pod["spec"]> = { containers: [{ name: "main", resources: { requests: { cpu, memory: "1Ki" } } }] };
  const made = aPod({
    metadata: { uid, name: uid, ...(going && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    spec,
    status: { phase, containerStatuses: [] },
  } as DeepPartial<Pod>);
  const { nodeName: _, ...rest } = made.spec;
  return { ...made, spec: node === undefined ? rest : { ...rest, nodeName: node } };
}

const added = (shown: Shown): Change<Pod> => ({ type: "added", object: pod(shown), initial: false });
const changed = (shown: Shown): Change<Pod> => ({ type: "changed", object: pod(shown), previous: pod(), initial: false });
const removed = (shown: Shown): Change<Pod> => ({ type: "removed", object: pod(shown), initial: false });
const nothing = { pods: 0, taken: { cpu: 0, memory: 0 } };
const one = { pods: 1, taken: { cpu: 1000, memory: 1024 } };

describe("on a node is taken", () => {
  const cases: readonly { name: string; changes: readonly Change<Pod>[]; on: object; leavesRoom: boolean }[] = [
    { name: "what its pods request", changes: [added({ node: "n" })], on: one, leavesRoom: false },
    { name: "nothing by a pod that waits", changes: [added({})], on: nothing, leavesRoom: false },
    { name: "nothing by a pod on another", changes: [added({ node: "m" })], on: nothing, leavesRoom: false },
    {
      name: "the sum of several",
      changes: [added({ node: "n" }), added({ uid: "b", node: "n", cpu: "500m" })],
      on: { pods: 2, taken: { cpu: 1500, memory: 2048 } },
      leavesRoom: false,
    },
    {
      name: "the same by a pod of which something else changed",
      changes: [added({ node: "n" }), changed({ node: "n", phase: "Running" })],
      on: one,
      leavesRoom: false,
    },
    {
      name: "what a pod requests after its resize, and whoever waits may try",
      changes: [added({ node: "n", cpu: "2" }), changed({ node: "n", cpu: "1" })],
      on: one,
      leavesRoom: true,
    },
    {
      name: "something by a pod that is going",
      changes: [added({ node: "n" }), changed({ node: "n", going: true })],
      on: one,
      leavesRoom: false,
    },
    {
      name: "nothing by a pod that has ended, and whoever waits may try",
      changes: [added({ node: "n" }), changed({ node: "n", phase: "Succeeded" })],
      on: nothing,
      leavesRoom: true,
    },
    {
      name: "nothing by a pod that is gone, and whoever waits may try",
      changes: [added({ node: "n" }), removed({ node: "n" })],
      on: nothing,
      leavesRoom: true,
    },
    { name: "nothing by a pod that went unseen", changes: [removed({ node: "n" })], on: nothing, leavesRoom: false },
  ];
  it.each(cases)("$name", ({ changes, on, leavesRoom }) => {
    const taken = new Taken();
    const told = changes.map((change) => taken.follow(change));
    expect(taken.on("n")).toEqual(on);
    expect(told.at(-1)).toBe(leavesRoom);
  });
});

describe("a pod that was just bound", () => {
  const cases: readonly { name: string; change: Change<Pod>; on: object }[] = [
    { name: "is counted once it is seen, and once only", change: changed({ node: "n" }), on: one },
    { name: "stays counted while it is seen without a node", change: changed({}), on: one },
    { name: "is let go if it goes before", change: changed({ going: true }), on: nothing },
    { name: "is let go when it is gone", change: removed({}), on: nothing },
  ];
  it.each(cases)("$name", ({ change, on }) => {
    const taken = new Taken();
    taken.assume(pod(), "n");
    expect(taken.has(pod())).toBe(true);
    taken.follow(change);
    expect(taken.on("n")).toEqual(on);
  });
});
