import type { Node } from "@memhog/runtime";
import { Lease, type Toleration } from "@memhog/runtime/kinds";
import { aNode, anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideEviction, decideLost, decideSilence, decideTaints } from "./node-lifecycle.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const at = "2026-01-01T01:00:00Z";
const saying = (status: "True" | "False" | "Unknown", more: DeepPartial<Node> = {}) =>
  aNode({ ...more, status: { conditions: [{ type: "Ready", status }] } });
const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" } as const;

describe("the heartbeat of a node", () => {
  it("is overdue after fifty seconds", () => {
    const lease = anObject(Lease, { spec: { renewTime: "2026-01-01T00:59:50.000000Z" } });
    expect(decideSilence(saying("True"), lease, now)).toBe(40_000);
  });
  it("is overdue after fifty seconds from its creation if it has no Lease", () => {
    expect(decideSilence(saying("True"), undefined, now)).toBeLessThan(0);
  });
  it("sets the conditions of a node to Unknown when it is overdue", () => {
    const lost = decideLost(saying("True"), now);
    expect(lost.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "Ready Unknown",
      "MemoryPressure Unknown",
      "DiskPressure Unknown",
      "PIDPressure Unknown",
    ]);
    expect(lost[0]).toMatchObject({ reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." });
    expect(decideLost(aNode({ status: { conditions: lost } }), now)).toEqual([]);
  });
});

describe("taints of a node", () => {
  const taints = (node: ReturnType<typeof saying>) => decideTaints(node, now);
  it("show that the node is not ready", () => {
    const timeAdded = at;
    expect(taints(saying("False"))).toEqual([
      { ...notReady, timeAdded },
      { ...notReady, effect: "NoExecute", timeAdded },
    ]);
  });
  it("show that the node is unreachable", () => {
    expect(taints(saying("Unknown", { spec: { taints: [notReady] } }))?.map(({ key }) => key)).toEqual([
      "node.kubernetes.io/unreachable",
      "node.kubernetes.io/unreachable",
    ]);
  });
  it("are removed when the node recovers, except those of others", () => {
    const mine = { key: "mine", effect: "NoSchedule" } as const;
    expect(taints(saying("True", { spec: { taints: [notReady, mine] } }))).toEqual([mine]);
    expect(taints(saying("True", { spec: { taints: [mine] } }))).toBeUndefined();
  });
  it("stay until a new node reports its status", () => {
    expect(taints(aNode({ spec: { taints: [notReady] }, status: { conditions: [] } }))).toBeUndefined();
  });
  it("show that the node is cordoned", () => {
    expect(taints(saying("True", { spec: { unschedulable: true } }))).toMatchObject([
      { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
    ]);
  });
});

describe("a pod on a node with a NoExecute taint", () => {
  const node = aNode({ spec: { taints: [{ key: "a", effect: "NoExecute", timeAdded: "2026-01-01T00:59:00Z" }] } });
  const stays = (...tolerations: Toleration[]) => decideEviction(aPod({ spec: { tolerations } }), node, now);
  it("is evicted immediately without a toleration", () => expect(stays()).toBe(0));
  it("stays forever with a toleration", () => expect(stays({ key: "a", operator: "Exists" })).toBeUndefined());
  it("stays for its tolerationSeconds", () =>
    expect(stays({ key: "a", operator: "Exists", tolerationSeconds: 300 })).toBe(240_000));
  it("is evicted after the shortest of its tolerations", () => {
    expect(stays({ key: "a", operator: "Exists", tolerationSeconds: 300 }, { operator: "Exists", tolerationSeconds: 90 })).toBe(
      30_000,
    );
  });
  it("stays on a node without a NoExecute taint", () => expect(decideEviction(aPod(), aNode(), now)).toBeUndefined());
});
