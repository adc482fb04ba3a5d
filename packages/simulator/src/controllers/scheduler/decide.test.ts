// The messages are those of the real scheduler 1.37.1 for the same nodes and pods.
import type { Node, Pod } from "@memhog/runtime";
import { aNode, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decidePlacement, type Room } from "./decide.ts";
import { requestsOf } from "./requests.ts";

const pod = (requests: Record<string, string>, spec: DeepPartial<Pod["spec"]> = {}) =>
  aPod({ spec: { containers: [{ name: "main", resources: { requests } }], ...spec }, status: { containerStatuses: [] } });
/** 2 cpu, 2Gi, two pods. */
const room = (name: string, taken: Partial<Room["taken"]> & { pods?: number } = {}, given: DeepPartial<Node> = {}): Room => ({
  node: aNode({
    metadata: { name, labels: { zone: name } },
    status: { allocatable: { cpu: "2", memory: "2Gi", pods: "2" } },
    ...given,
  }),
  taken: { cpu: taken.cpu ?? 0, memory: taken.memory ?? 0 },
  pods: taken.pods ?? 0,
});
const place = (of: ReturnType<typeof pod>, ...rooms: Room[]) => {
  const placement = decidePlacement(of, requestsOf(of), rooms);
  return placement.kind === "bind" ? placement.node.metadata.name : placement.message;
};
const tainted = { spec: { taints: [{ key: "a", value: "b", effect: "NoSchedule" }] } } as const;
const gib = 1024 ** 3;

describe("the scheduler places a pod", () => {
  const cases = [
    {
      name: "on the node with the most free resources",
      placed: place(pod({ cpu: "1" }), room("a", { cpu: 500 }), room("b", { cpu: 100 })),
      decision: "b",
    },
    {
      name: "on the node with fewer pods, of two that are equally free",
      placed: place(pod({}), room("a", { pods: 1 }), room("b")),
      decision: "b",
    },
    { name: "by name if all else is equal", placed: place(pod({}), room("b"), room("a")), decision: "a" },
    {
      name: "on the node that its nodeSelector matches",
      placed: place(pod({}, { nodeSelector: { zone: "b" } }), room("a"), room("b", { pods: 1 })),
      decision: "b",
    },
    {
      name: "on a node with a tolerated taint",
      placed: place(pod({}, { tolerations: [{ key: "a", operator: "Exists" }] }), room("a", {}, tainted)),
      decision: "a",
    },
    {
      name: "on a node that it fills completely",
      placed: place(pod({ memory: "1Gi" }), room("a", { memory: gib, pods: 1 })),
      decision: "a",
    },
  ];
  it.each(cases)("$name", ({ placed, decision }) => expect(placed).toBe(decision));
});

describe("the scheduler reports an unschedulable pod", () => {
  it("without nodes", () => {
    expect(place(pod({}))).toBe("no nodes available to schedule pods");
  });
  it("without enough memory, if preemption could help", () => {
    const cordoned = room("c", {}, { spec: { unschedulable: true } });
    const message = place(pod({ memory: "1500Mi" }), room("a", { memory: gib }), room("b", {}, tainted), cordoned);
    expect(message).toBe(
      "0/3 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
    );
  });
  it("that requests more than any node has", () => {
    expect(place(pod({ cpu: "10", memory: "100Gi" }), room("a"))).toBe(
      "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    );
  });
  it("with one node full and the other not selected", () => {
    const message = place(pod({}, { nodeSelector: { zone: "a" } }), room("a", { pods: 2 }), room("b"));
    expect(message).toBe(
      "0/2 nodes are available: 1 Too many pods, 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
    );
  });
  it("that uses an unsupported feature", () => {
    const term = { topologyKey: "kubernetes.io/hostname" };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    expect(place(pod({}, { affinity }), room("a"))).toBe("the simulator's scheduler does not implement required podAntiAffinity");
  });
});

describe("the resource requests of a pod", () => {
  const container = (name: string, memory: string, more = {}) => ({ name, resources: { requests: { memory } }, ...more });
  const mib = (spec: DeepPartial<Pod["spec"]>, status = {}) =>
    requestsOf(aPod({ spec, status: { containerStatuses: [], ...status } })).memory / 1024 ** 2;
  const containers = [container("a", "100Mi"), container("b", "50Mi")];
  const cases = [
    { name: "is the sum of its containers", mib: mib({ containers }), sum: 150 },
    {
      name: "is the largest init container if that is more",
      mib: mib({ containers, initContainers: [container("i", "400Mi"), container("j", "20Mi")] }),
      sum: 400,
    },
    {
      name: "counts sidecars with the containers",
      mib: mib({ containers, initContainers: [container("s", "10Mi", { restartPolicy: "Always" })] }),
      sum: 160,
    },
    {
      name: "counts sidecars with the init containers after them",
      mib: mib({ containers, initContainers: [container("s", "10Mi", { restartPolicy: "Always" }), container("i", "300Mi")] }),
      sum: 310,
    },
    { name: "is the pod-level request", mib: mib({ containers, resources: { requests: { memory: "1Gi" } } }), sum: 1024 },
    {
      name: "is the allocated amount while a container shrinks",
      mib: mib({ containers }, { containerStatuses: [{ name: "a", allocatedResources: { memory: "300Mi" } }] }),
      sum: 350,
    },
  ];
  it.each(cases)("$name", ({ mib, sum }) => expect(mib).toBe(sum));
});
