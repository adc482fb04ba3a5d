// Each expected sequence was observed on a kubelet 1.37. Resizes that the API server rejects are not tested here.
import { Node, Pod, type Stored } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { type HollowCluster, hollowCluster, isReady, memory, mib, namespace, statusOf } from "./hollow-cluster.fixture.ts";

const second = 1_000;
const conditionOf = ({ status }: Stored<Pod>, type: string) => status?.conditions?.find((condition) => condition.type === type);
const limitOf = (pod: Stored<Pod>) => statusOf(pod)?.resources?.limits?.memory;

async function running(cluster: HollowCluster, name: string, container: object, more: object = {}) {
  await cluster.create(name, { container, ...more });
  return cluster.until(name, isReady);
}

const smallNode = [{ name: "node-1", capacity: { memory: "1Gi" }, allocatable: { memory: "1Gi" } }];

describe("an in-place resize", () => {
  it("is admitted, in progress and complete, without a restart", async () => {
    await using cluster = await hollowCluster();
    const before = await running(cluster, "grows", memory("64Mi", "32Mi"));
    await cluster.resize("grows", { requests: { memory: "48Mi" }, limits: { memory: "96Mi" } });
    await cluster.clock.advance(50);
    const during = await cluster.pod("grows");
    expect(conditionOf(during, "PodResizeInProgress")).toMatchObject({ status: "True", observedGeneration: 2 });
    expect(statusOf(during)).toMatchObject({
      allocatedResources: { memory: "48Mi" },
      resources: { requests: { memory: "32Mi" }, limits: { memory: "64Mi" } },
    });
    expect(during.status?.resources).toEqual({ requests: { memory: "48Mi" }, limits: { memory: "64Mi" } });
    await cluster.clock.advance(second);
    const after = await cluster.pod("grows");
    expect(conditionOf(after, "PodResizeInProgress")).toBeUndefined();
    expect(after.status?.observedGeneration).toBe(2);
    expect(statusOf(after)).toMatchObject({
      restartCount: 0,
      containerID: statusOf(before)?.containerID,
      allocatedResources: { memory: "48Mi" },
      resources: { requests: { memory: "48Mi" }, limits: { memory: "96Mi" } },
    });
    const details =
      '{"containers":[{"name":"main","resources":{"limits":{"memory":"96Mi"},"requests":{"memory":"48Mi"}}}],"generation":2}';
    const events = await cluster.events("grows");
    expect(events).toContain(`ResizeStarted 1 Pod resize started: ${details}`);
    expect(events).toContain(`ResizeCompleted 1 Pod resize completed: ${details}`);
  });

  it("prevents an OOM kill", async () => {
    await using cluster = await hollowCluster();
    const annotations = { "simulator.memhog.dev/memory.main": "ramp 1Mi/s to 100Mi" };
    await running(cluster, "saved", memory("64Mi", "32Mi"), { annotations });
    await cluster.clock.advance(50 * second);
    await cluster.resize("saved", { limits: { memory: "128Mi" } });
    await cluster.clock.advance(600 * second);
    expect(statusOf(await cluster.pod("saved"))?.restartCount).toBe(0);
  });

  it("that comes too late does not prevent an OOM kill", async () => {
    await using cluster = await hollowCluster();
    const annotations = { "simulator.memhog.dev/memory.main": "ramp 1Mi/s to 100Mi" };
    await running(cluster, "late", memory("64Mi", "32Mi"), { annotations });
    await cluster.clock.advance(66 * second);
    await cluster.resize("late", { limits: { memory: "128Mi" } });
    await cluster.clock.advance(600 * second);
    expect(statusOf(await cluster.pod("late"))).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { reason: "OOMKilled" } },
    });
  });

  it("below the current usage is an error; the old limit stays until usage drops", async () => {
    await using cluster = await hollowCluster();
    const annotations = { "simulator.memhog.dev/memory.main": "step 20Mi, 5Mi at 60s" };
    await running(cluster, "shrinks", memory("128Mi", "48Mi"), { annotations });
    await cluster.resize("shrinks", { requests: { memory: "8Mi" }, limits: { memory: "16Mi" } });
    await cluster.clock.advance(16 * second);
    const refused = await cluster.pod("shrinks");
    expect(limitOf(refused)).toBe("128Mi");
    expect(conditionOf(refused, "PodResizeInProgress")).toMatchObject({
      reason: "Error",
      message:
        "cannot decrease memory limits: [attempting to set pod memory limit (16777216) below current usage (20971520), " +
        'attempting to set container "main" memory limit (16777216) below current usage (20971520)]',
    });
    expect((await cluster.events("shrinks")).some((line) => line.startsWith("ResizeError 1 Pod resize error: "))).toBe(true);
    await cluster.clock.advance(60 * second);
    expect(limitOf(await cluster.pod("shrinks"))).toBe("16Mi");
  });

  it("without room on the node is deferred until there is room", async () => {
    await using cluster = await hollowCluster({ specs: smallNode });
    await running(cluster, "big", memory("600Mi"));
    await running(cluster, "waits", memory("300Mi"));
    await cluster.resize("waits", { requests: { memory: "500Mi" }, limits: { memory: "500Mi" } });
    await cluster.clock.advance(second);
    const deferred = await cluster.pod("waits");
    expect(conditionOf(deferred, "PodResizePending")).toMatchObject({
      reason: "Deferred",
      message: "Node didn't have enough resource: memory, requested: 524288000, used: 629145600, capacity: 1073741824",
      observedGeneration: 2,
    });
    expect(deferred.status?.observedGeneration).toBe(2);
    expect(limitOf(deferred)).toBe("300Mi");
    await cluster.clock.advance(300 * second);
    expect((await cluster.pod("waits")).metadata.resourceVersion).toBe(deferred.metadata.resourceVersion);
    await cluster.client.delete(Pod, { namespace, name: "big" });
    await cluster.clock.advance(5 * second);
    const done = await cluster.pod("waits");
    expect([limitOf(done), conditionOf(done, "PodResizePending")]).toEqual(["500Mi", undefined]);
  });

  it("that is deferred proceeds when another pod shrinks, and ends when it is reverted", async () => {
    await using cluster = await hollowCluster({ specs: smallNode });
    await running(cluster, "shrinks", memory("600Mi"));
    await running(cluster, "waits", memory("300Mi"));
    await cluster.resize("waits", { requests: { memory: "500Mi" }, limits: { memory: "500Mi" } });
    await cluster.clock.advance(second);
    await cluster.resize("waits", { requests: { memory: "300Mi" }, limits: { memory: "300Mi" } });
    await cluster.clock.advance(second);
    expect(conditionOf(await cluster.pod("waits"), "PodResizePending")).toBeUndefined();
    await cluster.resize("waits", { requests: { memory: "500Mi" }, limits: { memory: "500Mi" } });
    await cluster.clock.advance(second);
    await cluster.resize("shrinks", { requests: { memory: "400Mi" }, limits: { memory: "400Mi" } });
    await cluster.clock.advance(2 * second);
    expect(limitOf(await cluster.pod("waits"))).toBe("500Mi");
  });

  it("larger than the node is infeasible", async () => {
    await using cluster = await hollowCluster({ specs: smallNode });
    await running(cluster, "dreams", memory("300Mi"));
    // The API server rejects what exceeds the Node's status; only an outdated status lets such a resize reach the kubelet.
    const body = { status: { allocatable: { memory: "4Gi" } } };
    await cluster.client.patch(Node, { name: cluster.node.name }, { type: "merge", body }, { subresource: "status" });
    await cluster.resize("dreams", { requests: { memory: "2Gi" }, limits: { memory: "2Gi" } });
    await cluster.clock.advance(second);
    expect(conditionOf(await cluster.pod("dreams"), "PodResizePending")).toMatchObject({
      reason: "Infeasible",
      message: "Node didn't have enough capacity: memory, requested: 2147483648, capacity: 1073741824",
    });
  });

  it("of only the limit needs no room", async () => {
    await using cluster = await hollowCluster({ specs: smallNode });
    await running(cluster, "limits", memory("600Mi", "100Mi"));
    await cluster.resize("limits", { limits: { memory: "900Gi" } });
    await cluster.clock.advance(second);
    expect(limitOf(await cluster.pod("limits"))).toBe("900Gi");
  });

  it("restarts only the container whose resizePolicy requires it", async () => {
    await using cluster = await hollowCluster();
    const main = {
      name: "main",
      image: "x",
      ...memory("64Mi", "32Mi"),
      resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }],
    };
    await cluster.create("restarts", {
      spec: { terminationGracePeriodSeconds: 2, containers: [main, { name: "side", image: "x" }] },
    });
    await cluster.until("restarts", isReady);
    await cluster.resize("restarts", { requests: { memory: "40Mi" }, limits: { memory: "80Mi" } });
    await cluster.clock.advance(5 * second);
    const after = await cluster.pod("restarts");
    expect(statusOf(after)).toMatchObject({ restartCount: 1, resources: { limits: { memory: "80Mi" } } });
    expect(statusOf(after, "side")?.restartCount).toBe(0);
    expect(conditionOf(after, "PodResizeInProgress")).toBeUndefined();
    expect(await cluster.events("restarts")).toContain("Killing 1 Container main resize requires restart");
  });

  it("lets a container restart immediately after an OOM kill", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("o2", { container: { ...memory("32Mi", "16Mi"), command: ["sh", "-c", "sleep 1; tail /dev/zero"] } });
    await cluster.until("o2", (pod) => statusOf(pod)?.restartCount === 2 && statusOf(pod)?.state?.terminated !== undefined);
    await cluster.resize("o2", { requests: { memory: "48Mi" }, limits: { memory: "96Mi" } });
    const { restartCount } = statusOf(await cluster.pod("o2")) ?? {};
    await cluster.clock.advance(second);
    expect(statusOf(await cluster.pod("o2"))).toMatchObject({
      restartCount: (restartCount ?? 0) + 1,
      resources: { limits: { memory: "96Mi" } },
    });
  });

  it("before the container runs determines its initial resources", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("early", { container: memory("64Mi", "32Mi") });
    await cluster.clock.advance(200);
    await cluster.resize("early", { limits: { memory: "96Mi" } });
    const pod = await cluster.until("early", isReady);
    expect([limitOf(pod), statusOf(pod)?.restartCount]).toEqual(["96Mi", 0]);
  });

  it("counts as used for later pods", async () => {
    await using cluster = await hollowCluster({ specs: smallNode });
    await running(cluster, "first", memory("300Mi"));
    await cluster.resize("first", { requests: { memory: "900Mi" }, limits: { memory: "900Mi" } });
    await cluster.clock.advance(second);
    await cluster.create("second", { container: memory("200Mi") });
    await cluster.clock.advance(second);
    expect((await cluster.pod("second")).status?.reason).toBe("OutOfmemory");
    expect(mib(900)).toBe(943_718_400);
  });
});
