// What a kubelet of 1.37 was seen to do, step by step; what the API server itself refuses never gets here.
import { Pod, type Stored } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { type HollowWorld, hollowWorld, isReady, memory, mib, namespace, statusOf } from "./hollow-world.fixture.ts";

const second = 1_000;
const conditionOf = ({ status }: Stored<Pod>, type: string) => status?.conditions?.find((condition) => condition.type === type);
const limitOf = (pod: Stored<Pod>) => statusOf(pod)?.resources?.limits?.memory;

async function running(world: HollowWorld, name: string, container: object, more: object = {}) {
  await world.create(name, { container, ...more });
  return world.until(name, isReady);
}

const smallNode = [{ name: "node-1", capacity: { memory: "1Gi" }, allocatable: { memory: "1Gi" } }];

describe("a resize in place", () => {
  it("is admitted, is in progress, and is done, without a restart", async () => {
    await using world = await hollowWorld();
    const before = await running(world, "grows", memory("64Mi", "32Mi"));
    await world.resize("grows", { requests: { memory: "48Mi" }, limits: { memory: "96Mi" } });
    await world.clock.advance(50);
    const during = await world.pod("grows");
    expect(conditionOf(during, "PodResizeInProgress")).toMatchObject({ status: "True", observedGeneration: 2 });
    expect(statusOf(during)).toMatchObject({
      allocatedResources: { memory: "48Mi" },
      resources: { requests: { memory: "32Mi" }, limits: { memory: "64Mi" } },
    });
    expect(during.status?.resources).toEqual({ requests: { memory: "48Mi" }, limits: { memory: "64Mi" } });
    await world.clock.advance(second);
    const after = await world.pod("grows");
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
    const events = await world.events("grows");
    expect(events).toContain(`ResizeStarted 1 Pod resize started: ${details}`);
    expect(events).toContain(`ResizeCompleted 1 Pod resize completed: ${details}`);
  });

  it("saves a container that would have been killed", async () => {
    await using world = await hollowWorld();
    const annotations = { "simulator.memhog.dev/memory.main": "ramp 1Mi/s to 100Mi" };
    await running(world, "saved", memory("64Mi", "32Mi"), { annotations });
    await world.clock.advance(50 * second);
    await world.resize("saved", { limits: { memory: "128Mi" } });
    await world.clock.advance(600 * second);
    expect(statusOf(await world.pod("saved"))?.restartCount).toBe(0);
  });

  it("that comes too late does not", async () => {
    await using world = await hollowWorld();
    const annotations = { "simulator.memhog.dev/memory.main": "ramp 1Mi/s to 100Mi" };
    await running(world, "late", memory("64Mi", "32Mi"), { annotations });
    await world.clock.advance(66 * second);
    await world.resize("late", { limits: { memory: "128Mi" } });
    await world.clock.advance(600 * second);
    expect(statusOf(await world.pod("late"))).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { reason: "OOMKilled" } },
    });
  });

  it("below what is in use is an error; the old limit stays until there is less in use", async () => {
    await using world = await hollowWorld();
    const annotations = { "simulator.memhog.dev/memory.main": "step 20Mi, 5Mi at 60s" };
    await running(world, "shrinks", memory("128Mi", "48Mi"), { annotations });
    await world.resize("shrinks", { requests: { memory: "8Mi" }, limits: { memory: "16Mi" } });
    await world.clock.advance(16 * second);
    const refused = await world.pod("shrinks");
    expect(limitOf(refused)).toBe("128Mi");
    expect(conditionOf(refused, "PodResizeInProgress")).toMatchObject({
      reason: "Error",
      message:
        "cannot decrease memory limits: [attempting to set pod memory limit (16777216) below current usage (20971520), " +
        'attempting to set container "main" memory limit (16777216) below current usage (20971520)]',
    });
    expect((await world.events("shrinks")).some((line) => line.startsWith("ResizeError 1 Pod resize error: "))).toBe(true);
    await world.clock.advance(60 * second);
    expect(limitOf(await world.pod("shrinks"))).toBe("16Mi");
  });

  it("that the node has no room for now is deferred, and done when there is room", async () => {
    await using world = await hollowWorld({ specs: smallNode });
    await running(world, "big", memory("600Mi"));
    await running(world, "waits", memory("300Mi"));
    await world.resize("waits", { requests: { memory: "500Mi" }, limits: { memory: "500Mi" } });
    await world.clock.advance(second);
    const deferred = await world.pod("waits");
    expect(conditionOf(deferred, "PodResizePending")).toMatchObject({
      reason: "Deferred",
      message: "Node didn't have enough resource: memory, requested: 524288000, used: 629145600, capacity: 1073741824",
      observedGeneration: 2,
    });
    expect(deferred.status?.observedGeneration).toBe(2);
    expect(limitOf(deferred)).toBe("300Mi");
    await world.clock.advance(300 * second);
    expect((await world.pod("waits")).metadata.resourceVersion).toBe(deferred.metadata.resourceVersion);
    await world.client.delete(Pod, { namespace, name: "big" });
    await world.clock.advance(5 * second);
    const done = await world.pod("waits");
    expect([limitOf(done), conditionOf(done, "PodResizePending")]).toEqual(["500Mi", undefined]);
  });

  it("that waits is also done when another pod becomes smaller, and forgotten when it is taken back", async () => {
    await using world = await hollowWorld({ specs: smallNode });
    await running(world, "shrinks", memory("600Mi"));
    await running(world, "waits", memory("300Mi"));
    await world.resize("waits", { requests: { memory: "500Mi" }, limits: { memory: "500Mi" } });
    await world.clock.advance(second);
    await world.resize("waits", { requests: { memory: "300Mi" }, limits: { memory: "300Mi" } });
    await world.clock.advance(second);
    expect(conditionOf(await world.pod("waits"), "PodResizePending")).toBeUndefined();
    await world.resize("waits", { requests: { memory: "500Mi" }, limits: { memory: "500Mi" } });
    await world.clock.advance(second);
    await world.resize("shrinks", { requests: { memory: "400Mi" }, limits: { memory: "400Mi" } });
    await world.clock.advance(2 * second);
    expect(limitOf(await world.pod("waits"))).toBe("500Mi");
  });

  it("that the node will never have room for is infeasible", async () => {
    await using world = await hollowWorld({ specs: smallNode });
    await running(world, "dreams", memory("300Mi"));
    await world.resize("dreams", { requests: { memory: "2Gi" }, limits: { memory: "2Gi" } });
    await world.clock.advance(second);
    expect(conditionOf(await world.pod("dreams"), "PodResizePending")).toMatchObject({
      reason: "Infeasible",
      message: "Node didn't have enough capacity: memory, requested: 2147483648, capacity: 1073741824",
    });
  });

  it("of a limit alone needs no room", async () => {
    await using world = await hollowWorld({ specs: smallNode });
    await running(world, "limits", memory("600Mi", "100Mi"));
    await world.resize("limits", { limits: { memory: "900Gi" } });
    await world.clock.advance(second);
    expect(limitOf(await world.pod("limits"))).toBe("900Gi");
  });

  it("restarts the container if its policy says so, and no other", async () => {
    await using world = await hollowWorld();
    const main = {
      name: "main",
      image: "x",
      ...memory("64Mi", "32Mi"),
      resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }],
    };
    await world.create("restarts", {
      spec: { terminationGracePeriodSeconds: 2, containers: [main, { name: "side", image: "x" }] },
    });
    await world.until("restarts", isReady);
    await world.resize("restarts", { requests: { memory: "40Mi" }, limits: { memory: "80Mi" } });
    await world.clock.advance(5 * second);
    const after = await world.pod("restarts");
    expect(statusOf(after)).toMatchObject({ restartCount: 1, resources: { limits: { memory: "80Mi" } } });
    expect(statusOf(after, "side")?.restartCount).toBe(0);
    expect(conditionOf(after, "PodResizeInProgress")).toBeUndefined();
    expect(await world.events("restarts")).toContain("Killing 1 Container main resize requires restart");
  });

  it("lets a container that waits after an OOM kill start at once", async () => {
    await using world = await hollowWorld();
    await world.create("o2", { container: { ...memory("32Mi", "16Mi"), command: ["sh", "-c", "sleep 1; tail /dev/zero"] } });
    await world.until("o2", (pod) => statusOf(pod)?.restartCount === 2 && statusOf(pod)?.state?.terminated !== undefined);
    await world.resize("o2", { requests: { memory: "48Mi" }, limits: { memory: "96Mi" } });
    const { restartCount } = statusOf(await world.pod("o2")) ?? {};
    await world.clock.advance(second);
    expect(statusOf(await world.pod("o2"))).toMatchObject({
      restartCount: (restartCount ?? 0) + 1,
      resources: { limits: { memory: "96Mi" } },
    });
  });

  it("before the container runs is what it starts with", async () => {
    await using world = await hollowWorld();
    await world.create("early", { container: memory("64Mi", "32Mi") });
    await world.clock.advance(200);
    await world.resize("early", { limits: { memory: "96Mi" } });
    const pod = await world.until("early", isReady);
    expect([limitOf(pod), statusOf(pod)?.restartCount]).toEqual(["96Mi", 0]);
  });

  it("counts for who comes later", async () => {
    await using world = await hollowWorld({ specs: smallNode });
    await running(world, "first", memory("300Mi"));
    await world.resize("first", { requests: { memory: "900Mi" }, limits: { memory: "900Mi" } });
    await world.clock.advance(second);
    await world.create("second", { container: memory("200Mi") });
    await world.clock.advance(second);
    expect((await world.pod("second")).status?.reason).toBe("OutOfmemory");
    expect(mib(900)).toBe(943_718_400);
  });
});
