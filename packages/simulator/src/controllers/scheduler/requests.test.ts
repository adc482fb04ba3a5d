import type { Pod, Stored } from "@memhog/runtime";
import type { Change } from "@memhog/runtime/cache";
import { aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { Taken } from "./requests.ts";

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

describe("the requests on a node", () => {
  const cases: readonly { name: string; changes: readonly Change<Pod>[]; on: object; leavesRoom: boolean }[] = [
    { name: "are those of its pods", changes: [added({ node: "n" })], on: one, leavesRoom: false },
    { name: "exclude a pod without a node", changes: [added({})], on: nothing, leavesRoom: false },
    { name: "exclude a pod on another node", changes: [added({ node: "m" })], on: nothing, leavesRoom: false },
    {
      name: "are the sum of several pods",
      changes: [added({ node: "n" }), added({ uid: "b", node: "n", cpu: "500m" })],
      on: { pods: 2, taken: { cpu: 1500, memory: 2048 } },
      leavesRoom: false,
    },
    {
      name: "stay the same after an unrelated change",
      changes: [added({ node: "n" }), changed({ node: "n", phase: "Running" })],
      on: one,
      leavesRoom: false,
    },
    {
      name: "follow a resize, which frees resources",
      changes: [added({ node: "n", cpu: "2" }), changed({ node: "n", cpu: "1" })],
      on: one,
      leavesRoom: true,
    },
    {
      name: "include a pod that is being deleted",
      changes: [added({ node: "n" }), changed({ node: "n", going: true })],
      on: one,
      leavesRoom: false,
    },
    {
      name: "exclude a terminated pod, which frees resources",
      changes: [added({ node: "n" }), changed({ node: "n", phase: "Succeeded" })],
      on: nothing,
      leavesRoom: true,
    },
    {
      name: "exclude a deleted pod, which frees resources",
      changes: [added({ node: "n" }), removed({ node: "n" })],
      on: nothing,
      leavesRoom: true,
    },
    {
      name: "are unchanged by the deletion of an unknown pod",
      changes: [removed({ node: "n" })],
      on: nothing,
      leavesRoom: false,
    },
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
    { name: "is counted only once after the cache shows it", change: changed({ node: "n" }), on: one },
    { name: "stays counted while the cache shows it without a node", change: changed({}), on: one },
    { name: "is not counted if it terminates first", change: changed({ going: true }), on: nothing },
    { name: "is not counted after its deletion", change: removed({}), on: nothing },
  ];
  it.each(cases)("$name", ({ change, on }) => {
    const taken = new Taken();
    taken.assume(pod(), "n");
    expect(taken.has(pod())).toBe(true);
    taken.follow(change);
    expect(taken.on("n")).toEqual(on);
  });
});
