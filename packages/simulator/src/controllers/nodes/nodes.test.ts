import { Lease, type Node, type Toleration } from "@memhog/runtime";
import { aNode, anObject, aPod, type DeepPartial } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideLost, decideSilence, decideTaints } from "./node-lifecycle.ts";
import { decideEviction } from "./taint-eviction.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const at = "2026-01-01T01:00:00Z";
const saying = (status: "True" | "False" | "Unknown", more: DeepPartial<Node> = {}) =>
  aNode({ ...more, status: { conditions: [{ type: "Ready", status }] } });
const notReady = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" } as const;

describe("a node that renews its lease", () => {
  it("has fifty seconds from then", () => {
    const lease = anObject(Lease, { spec: { renewTime: "2026-01-01T00:59:50.000000Z" } });
    expect(decideSilence(saying("True"), lease, now)).toBe(40_000);
  });
  it("and has none, from when it came", () => {
    expect(decideSilence(saying("True"), undefined, now)).toBeLessThan(0);
  });
  it("and stops, is not known to be anything any more", () => {
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

describe("taints", () => {
  const taints = (node: ReturnType<typeof saying>) => decideTaints(node, now);
  it("say that a node is not ready", () => {
    const timeAdded = at;
    expect(taints(saying("False"))).toEqual([
      { ...notReady, timeAdded },
      { ...notReady, effect: "NoExecute", timeAdded },
    ]);
  });
  it("say that a node is unreachable instead", () => {
    expect(taints(saying("Unknown", { spec: { taints: [notReady] } }))?.map(({ key }) => key)).toEqual([
      "node.kubernetes.io/unreachable",
      "node.kubernetes.io/unreachable",
    ]);
  });
  it("are taken away when it is well, and those of others stay", () => {
    const mine = { key: "mine", effect: "NoSchedule" } as const;
    expect(taints(saying("True", { spec: { taints: [notReady, mine] } }))).toEqual([mine]);
    expect(taints(saying("True", { spec: { taints: [mine] } }))).toBeUndefined();
  });
  it("stay until a new node has spoken", () => {
    expect(taints(aNode({ spec: { taints: [notReady] }, status: { conditions: [] } }))).toBeUndefined();
  });
  it("say that a node is cordoned", () => {
    expect(taints(saying("True", { spec: { unschedulable: true } }))).toMatchObject([
      { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
    ]);
  });
});

describe("a pod on a tainted node", () => {
  const node = aNode({ spec: { taints: [{ key: "a", effect: "NoExecute", timeAdded: "2026-01-01T00:59:00Z" }] } });
  const stays = (...tolerations: Toleration[]) => decideEviction(aPod({ spec: { tolerations } }), node, now);
  it("goes at once if it does not bear it", () => expect(stays()).toBe(0));
  it("stays for ever if it does", () => expect(stays({ key: "a", operator: "Exists" })).toBeUndefined());
  it("stays for as long as it bears it", () =>
    expect(stays({ key: "a", operator: "Exists", tolerationSeconds: 300 })).toBe(240_000));
  it("goes by the shortest of its tolerations", () => {
    expect(stays({ key: "a", operator: "Exists", tolerationSeconds: 300 }, { operator: "Exists", tolerationSeconds: 90 })).toBe(
      30_000,
    );
  });
  it("stays on a node without such a taint", () => expect(decideEviction(aPod(), aNode(), now)).toBeUndefined());
});
