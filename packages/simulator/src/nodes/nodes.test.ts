import { clientOver, formatMicroTime, Lease, Node, Pod, parseTime, ServiceAccount } from "@memhog/runtime";
import { Journal, manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { startSimulator } from "../simulator.ts";
import { NodeDownError } from "./hollow-node.ts";
import { startHollowNodes } from "./hollow-nodes.ts";
import { hollowWorld, isReady, memory, namespace, statusOf } from "./hollow-world.fixture.ts";

const second = 1_000;

describe("a hollow node", () => {
  it("registers with what it has and what it may give away", async () => {
    await using world = await hollowWorld({
      specs: [{ name: "node-1", capacity: { memory: "8Gi", cpu: "2" }, labels: { zone: "a" } }],
    });
    const node = await world.client.get(Node, { name: "node-1" });
    expect(node.metadata.labels).toMatchObject({ "kubernetes.io/hostname": "node-1", "kubernetes.io/os": "linux", zone: "a" });
    expect([node.status?.capacity?.memory, node.status?.allocatable?.memory, node.status?.allocatable?.cpu]).toEqual([
      "8Gi",
      "8092Mi",
      "2",
    ]);
    expect(node.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ["MemoryPressure", "False", "KubeletHasSufficientMemory"],
      ["DiskPressure", "False", "KubeletHasNoDiskPressure"],
      ["PIDPressure", "False", "KubeletHasSufficientPID"],
      ["Ready", "True", "KubeletReady"],
    ]);
    expect(node.status?.addresses).toEqual([
      { type: "InternalIP", address: "10.32.0.1" },
      { type: "Hostname", address: "node-1" },
    ]);
  });

  it("renews its Lease every ten seconds, and belongs to its node", async () => {
    await using world = await hollowWorld({ leaseRenewMs: 10_000 });
    const lease = () => world.client.get(Lease, { namespace: "kube-node-lease", name: "node-1" });
    const first = await lease();
    expect(first.spec).toMatchObject({ holderIdentity: "node-1", leaseDurationSeconds: 40 });
    expect(first.metadata.ownerReferences).toMatchObject([{ apiVersion: "v1", kind: "Node", name: "node-1" }]);
    await world.clock.advance(35 * second);
    expect((await lease()).spec?.renewTime).toBe(formatMicroTime(Date.UTC(2026, 0, 1, 0, 0, 30)));
  });

  it("repeats its status every five minutes, with the times of its conditions as they were", async () => {
    await using world = await hollowWorld({ leaseRenewMs: 10_000 });
    await world.clock.advance(310 * second);
    const ready = (await world.client.get(Node, { name: "node-1" })).status?.conditions?.find(({ type }) => type === "Ready");
    expect([ready?.lastHeartbeatTime, ready?.lastTransitionTime]).toEqual(["2026-01-01T00:05:00Z", "2026-01-01T00:00:00Z"]);
  });

  it("comes back to the object it left, and makes another if that is gone", async () => {
    const environment = manualEnvironment();
    await using simulator = await startSimulator({ environment });
    const client = simulator.client();
    const start = () => startHollowNodes({ client, environment });
    const first = await start();
    const { uid } = (await client.get(Node, { name: "node-1" })).metadata;
    await first.stop();
    await using _second = await start();
    expect((await client.get(Node, { name: "node-1" })).metadata.uid).toBe(uid);
    await client.delete(Node, { name: "node-1" });
    await environment.clock.advance(320 * second);
    expect((await client.get(Node, { name: "node-1" })).metadata.uid).not.toBe(uid);
  });

  it("without power says nothing, does nothing, and shows nothing", async () => {
    await using world = await hollowWorld({ leaseRenewMs: 10_000 });
    await world.create("plain", { container: { command: ["sh", "-c", "sleep 60; exit 1"] } });
    await world.until("plain", isReady);
    await world.node.losePower();
    const before = world.simulator.core.storage.version;
    await world.clock.advance(300 * second);
    expect(world.simulator.core.storage.version).toBe(before);
    expect(() => world.node.samples()).toThrow(NodeDownError);
  });

  it("with power again starts its containers again, which nobody saw end", async () => {
    await using world = await hollowWorld({ leaseRenewMs: 10_000 });
    await world.create("plain");
    await world.until("plain", isReady);
    await world.node.losePower();
    await world.clock.advance(300 * second);
    await world.node.regainPower();
    const pod = await world.until("plain", (found) => statusOf(found)?.restartCount === 1 && isReady(found));
    expect(statusOf(pod)?.lastState?.terminated).toMatchObject({ exitCode: 255, reason: "Unknown" });
    const lease = await world.client.get(Lease, { namespace: "kube-node-lease", name: "node-1" });
    expect(world.clock.now() - (parseTime(lease.spec?.renewTime) ?? 0)).toBeLessThan(10 * second);
  });

  it("that cannot reach the API server goes on, and tells everything later", async () => {
    const environment = manualEnvironment();
    await using simulator = await startSimulator({ environment });
    const journal = new Journal(simulator.transport, { clock: environment.clock });
    const client = clientOver(journal, { environment, rateLimit: { qps: 1e6, burst: 1e6 } });
    await simulator.client().create(ServiceAccount, { metadata: { namespace, name: "default" } });
    await using nodes = await startHollowNodes({ client, environment });
    const admin = simulator.client();
    const container = { name: "main", image: "x", command: ["sh", "-c", "sleep 30; exit 9"], ...memory("64Mi") };
    await admin.create(Pod, {
      metadata: { namespace, name: "alone" },
      spec: { nodeName: "node-1", restartPolicy: "Never", containers: [container] },
    });
    await environment.clock.advance(5 * second);
    journal.fault = () => ({ kind: "refuse" });
    await environment.clock.advance(60 * second);
    expect((await admin.get(Pod, { namespace, name: "alone" })).status?.phase).toBe("Running");
    expect(nodes.node("node-1").usageOf({ namespace, name: "alone" }, "main")).toBeUndefined();
    journal.fault = undefined;
    await environment.clock.advance(120 * second);
    const { status } = await admin.get(Pod, { namespace, name: "alone" });
    expect(status?.phase).toBe("Failed");
    expect(status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 9, finishedAt: "2026-01-01T00:00:30Z" });
  });
});

describe("two runs with the same seed", () => {
  async function run(seed: number): Promise<string> {
    await using world = await hollowWorld({ seed, count: 3, leaseRenewMs: 10_000 });
    await world.create("crashes", { container: { command: ["sh", "-c", "sleep 1; exit 1"] } });
    await world.create("hog", { container: { image: "memhog", ...memory("120Mi") } });
    await world.create("leaks", {
      container: memory("64Mi"),
      spec: { nodeName: "node-2" },
      annotations: { "simulator.memhog.dev/memory.main": "leak 1Mi/s" },
    });
    await world.clock.advance(60 * second);
    await world.resize("leaks", { requests: { memory: "80Mi" }, limits: { memory: "80Mi" } });
    await world.clock.advance(600 * second);
    const texts = world.nodes.all.map((node) => node.metricsText());
    const kinds = ["pods", "events", "nodes", "leases"].map((plural) => ({
      group: plural === "leases" ? "coordination.k8s.io" : "",
      plural,
    }));
    return JSON.stringify([texts, kinds.map((kind) => world.simulator.core.storage.list(kind))]);
  }

  it("are the same to the last byte, and with another seed they are not", async () => {
    const first = await run(7);
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
  });
});
