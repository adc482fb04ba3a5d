import type { Node, Pod } from "@memhog/runtime";
import { DaemonSet } from "@memhog/runtime/kinds";
import { aNode, anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideDaemons, decideStatus } from "./daemon-sets.ts";

const set = (spec: object = {}) =>
  anObject(DaemonSet, { spec: { selector: {}, template: { spec: { containers: [] } }, ...spec } } as never);
const node = (name: string, more: DeepPartial<Node> = {}) => aNode({ metadata: { name }, ...more });
const pod = (nodeName: string, hash = "new", more: DeepPartial<Pod> = {}) =>
  aPod({ ...more, metadata: { name: `on-${nodeName}`, labels: { "controller-revision-hash": hash } }, spec: { nodeName } });
const broken = { status: { conditions: [{ type: "Ready", status: "False" }] } } as const;
const tainted = (effect: "NoSchedule" | "NoExecute") => ({ spec: { taints: [{ key: "a", effect }] } });
const steps = (of: ReturnType<typeof set>, nodes: ReturnType<typeof node>[], pods: ReturnType<typeof pod>[]) => {
  const { create, remove } = decideDaemons(of, { nodes, pods, hash: "new", now: 0 });
  return [...create.map((name) => `+${name}`), ...remove.map(({ spec }) => `-${spec.nodeName}`)].join(" ");
};

describe("a pod of a DaemonSet", () => {
  const [a, b] = [node("a"), node("b")];
  const wide = set({ updateStrategy: { rollingUpdate: { maxUnavailable: "100%" } } });
  const cases = [
    { name: "is created on each node", steps: steps(set(), [a, b], [pod("a")]), decision: "+b" },
    {
      name: "is not created on a node with a taint",
      steps: steps(set(), [a, node("b", tainted("NoSchedule"))], [pod("a")]),
      decision: "",
    },
    {
      name: "stays on a node with a NoSchedule taint",
      steps: steps(set(), [node("a", tainted("NoSchedule"))], [pod("a")]),
      decision: "",
    },
    {
      name: "is deleted from a node with a NoExecute taint",
      steps: steps(set(), [node("a", tainted("NoExecute"))], [pod("a")]),
      decision: "-a",
    },
    {
      name: "is created on a cordoned node",
      steps: steps(set(), [node("a", { spec: { unschedulable: true } })], []),
      decision: "+a",
    },
    {
      name: "is deleted from a node that is no longer selected",
      steps: steps(set({ template: { spec: { containers: [], nodeSelector: { disk: "ssd" } } } }), [a], [pod("a")]),
      decision: "-a",
    },
    { name: "is updated one at a time", steps: steps(set(), [a, b], [pod("a", "old"), pod("b", "old")]), decision: "-a" },
    {
      name: "is not updated while another is missing",
      steps: steps(set(), [a, b], [pod("a", "old"), pod("b", "new", broken)]),
      decision: "",
    },
    {
      name: "is updated first where it is not available",
      steps: steps(set(), [a, b], [pod("a", "old"), pod("b", "old", broken)]),
      decision: "-b",
    },
    {
      name: "is updated everywhere at once with maxUnavailable 100%",
      steps: steps(wide, [a, b], [pod("a", "old"), pod("b", "old")]),
      decision: "-a -b",
    },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toBe(decision));
});

it("the status of a DaemonSet counts nodes", () => {
  const nodes = [node("a"), node("b"), node("c")];
  expect(decideStatus(set(), { nodes, pods: [pod("a"), pod("b", "old", broken)], hash: "new", now: 0 })).toEqual({
    ...{ desiredNumberScheduled: 3, currentNumberScheduled: 2, numberMisscheduled: 0, numberReady: 1 },
    ...{ numberAvailable: 1, numberUnavailable: 2, updatedNumberScheduled: 1, observedGeneration: 1 },
  });
});
