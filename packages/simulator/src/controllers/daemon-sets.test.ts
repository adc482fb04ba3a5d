import { DaemonSet, type Node, type Pod } from "@memhog/runtime";
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

describe("a daemon", () => {
  const [a, b] = [node("a"), node("b")];
  const wide = set({ updateStrategy: { rollingUpdate: { maxUnavailable: "100%" } } });
  const cases = [
    { name: "comes to each node", steps: steps(set(), [a, b], [pod("a")]), decision: "+b" },
    { name: "does not come to a taint", steps: steps(set(), [a, node("b", tainted("NoSchedule"))], [pod("a")]), decision: "" },
    {
      name: "stays on a node that only takes no more",
      steps: steps(set(), [node("a", tainted("NoSchedule"))], [pod("a")]),
      decision: "",
    },
    {
      name: "leaves a node that it may not stay on",
      steps: steps(set(), [node("a", tainted("NoExecute"))], [pod("a")]),
      decision: "-a",
    },
    {
      name: "comes to a cordoned node all the same",
      steps: steps(set(), [node("a", { spec: { unschedulable: true } })], []),
      decision: "+a",
    },
    {
      name: "goes where it is not selected any more",
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
      name: "is updated first where it does not work anyway",
      steps: steps(set(), [a, b], [pod("a", "old"), pod("b", "old", broken)]),
      decision: "-b",
    },
    {
      name: "is updated everywhere if all may be missing",
      steps: steps(wide, [a, b], [pod("a", "old"), pod("b", "old")]),
      decision: "-a -b",
    },
  ];
  it.each(cases)("$name", ({ steps, decision }) => expect(steps).toBe(decision));
});

it("the status counts nodes", () => {
  const nodes = [node("a"), node("b"), node("c")];
  expect(decideStatus(set(), { nodes, pods: [pod("a"), pod("b", "old", broken)], hash: "new", now: 0 })).toEqual({
    ...{ desiredNumberScheduled: 3, currentNumberScheduled: 2, numberMisscheduled: 0, numberReady: 1 },
    ...{ numberAvailable: 1, numberUnavailable: 2, updatedNumberScheduled: 1, observedGeneration: 1 },
  });
});
