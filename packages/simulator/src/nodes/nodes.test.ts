import { Node, Pod } from "@memhog/runtime";
import { createClient } from "@memhog/runtime/client";
import { Lease, ServiceAccount } from "@memhog/runtime/kinds";
import { formatMicroTime, parseTime } from "@memhog/runtime/objects";
import { Journal, manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { startSimulator } from "../simulator.ts";
import { hollowCluster, isReady, memory, namespace, statusOf } from "./hollow-cluster.fixture.ts";
import { NodeDownError } from "./hollow-node.ts";
import { startHollowNodes } from "./hollow-nodes.ts";

const second = 1_000;

describe("a hollow node", () => {
  it("registers with its capacity and allocatable resources", async () => {
    await using cluster = await hollowCluster({
      specs: [{ name: "node-1", capacity: { memory: "8Gi", cpu: "2" }, labels: { zone: "a" } }],
    });
    const node = await cluster.client.get(Node, { name: "node-1" });
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

  it("renews its Lease every ten seconds, and the Lease has the Node as owner", async () => {
    await using cluster = await hollowCluster({ leaseRenewMs: 10_000 });
    const lease = () => cluster.client.get(Lease, { namespace: "kube-node-lease", name: "node-1" });
    const first = await lease();
    expect(first.spec).toMatchObject({ holderIdentity: "node-1", leaseDurationSeconds: 40 });
    expect(first.metadata.ownerReferences).toMatchObject([{ apiVersion: "v1", kind: "Node", name: "node-1" }]);
    await cluster.clock.advance(35 * second);
    expect((await lease()).spec?.renewTime).toBe(formatMicroTime(Date.UTC(2026, 0, 1, 0, 0, 30)));
  });

  it("repeats its status every five minutes and keeps the times of its conditions", async () => {
    await using cluster = await hollowCluster({ leaseRenewMs: 10_000 });
    await cluster.clock.advance(310 * second);
    const ready = (await cluster.client.get(Node, { name: "node-1" })).status?.conditions?.find(({ type }) => type === "Ready");
    expect([ready?.lastHeartbeatTime, ready?.lastTransitionTime]).toEqual(["2026-01-01T00:05:00Z", "2026-01-01T00:00:00Z"]);
  });

  it("reuses its existing Node object and creates another if that was deleted", async () => {
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

  it("without power sends no heartbeats, runs no containers and serves no metrics", async () => {
    await using cluster = await hollowCluster({ leaseRenewMs: 10_000 });
    await cluster.create("plain", { container: { command: ["sh", "-c", "sleep 60; exit 1"] } });
    await cluster.until("plain", isReady);
    await cluster.node.losePower();
    const before = cluster.simulator.core.storage.version;
    await cluster.clock.advance(300 * second);
    expect(cluster.simulator.core.storage.version).toBe(before);
    expect(() => cluster.node.samples()).toThrow(NodeDownError);
  });

  it("restarts its containers when power returns, with an unknown exit status", async () => {
    await using cluster = await hollowCluster({ leaseRenewMs: 10_000 });
    await cluster.create("plain");
    await cluster.until("plain", isReady);
    await cluster.node.losePower();
    await cluster.clock.advance(300 * second);
    await cluster.node.regainPower();
    const pod = await cluster.until("plain", (found) => statusOf(found)?.restartCount === 1 && isReady(found));
    expect(statusOf(pod)?.lastState?.terminated).toMatchObject({ exitCode: 255, reason: "Unknown" });
    const lease = await cluster.client.get(Lease, { namespace: "kube-node-lease", name: "node-1" });
    expect(cluster.clock.now() - (parseTime(lease.spec?.renewTime) ?? 0)).toBeLessThan(10 * second);
  });

  it("keeps running without the API server and reports everything afterwards", async () => {
    const environment = manualEnvironment();
    await using simulator = await startSimulator({ environment });
    const journal = new Journal(simulator.transport, { clock: environment.clock });
    const client = createClient({ transport: journal, environment, rateLimit: { qps: 1e6, burst: 1e6 } });
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

describe("two runs of hollow nodes", () => {
  async function run(seed: number): Promise<string> {
    await using cluster = await hollowCluster({ seed, count: 3, leaseRenewMs: 10_000 });
    await cluster.create("crashes", { container: { command: ["sh", "-c", "sleep 1; exit 1"] } });
    await cluster.create("hog", { container: { image: "hog", ...memory("120Mi") } });
    await cluster.create("leaks", {
      container: memory("64Mi"),
      spec: { nodeName: "node-2" },
      annotations: { "simulator.memhog.dev/memory.main": "leak 1Mi/s" },
    });
    await cluster.clock.advance(60 * second);
    await cluster.resize("leaks", { requests: { memory: "80Mi" }, limits: { memory: "80Mi" } });
    await cluster.clock.advance(600 * second);
    const texts = cluster.nodes.all.map((node) => node.metricsText());
    const kinds = ["pods", "events", "nodes", "leases"].map((plural) => ({
      group: plural === "leases" ? "coordination.k8s.io" : "",
      plural,
    }));
    return JSON.stringify([texts, kinds.map((kind) => cluster.simulator.core.storage.list(kind))]);
  }

  it("are byte-identical for the same seed and differ for another", async () => {
    const first = await run(7);
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
  });
});
