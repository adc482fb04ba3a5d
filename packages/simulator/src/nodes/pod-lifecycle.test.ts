// Each expected sequence was observed on a real node (1.37).
import { Pod } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { hollowCluster, isReady, memory, namespace, statusOf } from "./hollow-cluster.fixture.ts";
import { notFound } from "./pod-tools.ts";

const second = 1_000;

describe("a pod on a hollow node", () => {
  it("starts step by step", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("plain", { container: memory("64Mi", "32Mi") });
    await cluster.clock.advance(5 * second);
    expect(cluster.statuses("plain")).toEqual([
      "Pending",
      "Pending initialized | main ContainerCreating",
      "Pending sandbox,initialized | main ContainerCreating",
      "Running sandbox,initialized,ready | main running",
    ]);
  });

  it("has the status that a kubelet writes", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("plain", { container: memory("64Mi", "32Mi") });
    const { metadata, status } = await cluster.until("plain", isReady);
    const at = { create: "2026-01-01T00:00:00Z", now: "2026-01-01T00:00:00Z" };
    const condition = (type: string) => ({
      type,
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: at.now,
      observedGeneration: metadata.generation,
    });
    const resources = { requests: { memory: "32Mi" }, limits: { memory: "64Mi" } };
    expect(status).toEqual({
      observedGeneration: 1,
      phase: "Running",
      conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition),
      hostIP: "10.32.0.1",
      hostIPs: [{ ip: "10.32.0.1" }],
      podIP: "10.244.0.2",
      podIPs: [{ ip: "10.244.0.2" }],
      startTime: at.create,
      qosClass: "Burstable",
      allocatedResources: resources.requests,
      resources,
      containerStatuses: [
        {
          name: "main",
          state: { running: { startedAt: at.now } },
          lastState: {},
          ready: true,
          started: true,
          restartCount: 0,
          image: "example.com/main:1",
          imageID: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
          containerID: expect.stringMatching(/^containerd:\/\/[0-9a-f]{64}$/),
          allocatedResources: resources.requests,
          resources,
          volumeMounts: expect.anything(),
        },
      ],
    });
  });

  it("has the events that a kubelet records", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("plain");
    await cluster.until("plain", isReady);
    await cluster.clock.advance(second);
    expect((await cluster.events("plain")).toSorted()).toEqual([
      "Created 1 Container created",
      'Pulled 1 Container image "example.com/main:1" already present on machine and can be accessed by the pod',
      "Started 1 Container started",
    ]);
  });

  it("runs init containers in order, and sidecars from their turn on", async () => {
    await using cluster = await hollowCluster();
    const initContainers = [
      { name: "first", image: "x", command: ["sleep", "1"] },
      { name: "side", image: "x", restartPolicy: "Always" },
      { name: "second", image: "x", command: ["sleep", "1"] },
    ];
    await cluster.create("inits", { spec: { initContainers } });
    await cluster.until("inits", isReady);
    expect(cluster.statuses("inits")).toEqual([
      "Pending",
      "Pending | first PodInitializing, side PodInitializing, second PodInitializing, main PodInitializing",
      "Pending sandbox | first PodInitializing, side PodInitializing, second PodInitializing, main PodInitializing",
      "Pending sandbox | first running unready, side PodInitializing, second PodInitializing, main PodInitializing",
      "Pending sandbox | first Completed 0, side PodInitializing, second PodInitializing, main PodInitializing",
      "Pending sandbox | first Completed 0, side running, second PodInitializing, main PodInitializing",
      "Pending sandbox | first Completed 0, side running, second running unready, main PodInitializing",
      "Pending sandbox,initialized | first Completed 0, side running, second Completed 0, main PodInitializing",
      "Running sandbox,initialized,ready | first Completed 0, side running, second Completed 0, main running",
    ]);
  });

  it("waits until a sidecar has started before it starts the next container", async () => {
    await using cluster = await hollowCluster();
    const side = {
      name: "side",
      image: "x",
      restartPolicy: "Always",
      startupProbe: { exec: { command: ["x"] }, periodSeconds: 1, failureThreshold: 30 },
    };
    const annotations = { "simulator.memhog.dev/started.side": "after 5s" };
    await cluster.create("slow", { annotations, spec: { initContainers: [side] } });
    await cluster.clock.advance(4 * second);
    expect(statusOf(await cluster.pod("slow"))?.state).toEqual({ waiting: { reason: "PodInitializing" } });
    await cluster.until("slow", isReady);
    expect(cluster.clock.monotonic()).toBeGreaterThan(5 * second);
  });

  it("is not reported as finished before it is cleaned up", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("job", { container: { command: ["sh", "-c", "sleep 2; exit 0"] }, spec: { restartPolicy: "Never" } });
    await cluster.clock.advance(10 * second);
    expect(cluster.statuses("job").slice(-3)).toEqual([
      "Running sandbox,initialized,ready | main running",
      "Running sandbox,initialized | main Completed 0",
      "Succeeded initialized | main Completed 0",
    ]);
    const { status } = await cluster.pod("job");
    expect(status?.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ["PodReadyToStartContainers", "PodSandboxNotReady"],
      ["Initialized", "PodCompleted"],
      ["Ready", "PodCompleted"],
      ["ContainersReady", "PodCompleted"],
      ["PodScheduled", undefined],
    ]);
  });

  it("fails with its last container, and stops its sidecars", async () => {
    await using cluster = await hollowCluster();
    const containers = [
      { name: "main", image: "x", command: ["sh", "-c", "sleep 1; exit 3"] },
      { name: "other", image: "x", command: ["sh", "-c", "sleep 4"] },
    ];
    const initContainers = [{ name: "side", image: "x", restartPolicy: "Always" }];
    await cluster.create("fails", { spec: { restartPolicy: "Never", initContainers, containers } });
    await cluster.clock.advance(15 * second);
    expect(cluster.statuses("fails").slice(-4)).toEqual([
      "Running sandbox,initialized | side running, main Error 3, other running",
      "Running sandbox,initialized | side running, main Error 3, other Completed 0",
      "Running sandbox,initialized | side Completed 0, main Error 3, other Completed 0",
      "Failed initialized | side Completed 0, main Error 3, other Completed 0",
    ]);
  });

  it("fails with an init container that may not restart", async () => {
    await using cluster = await hollowCluster();
    const initContainers = [{ name: "first", image: "x", command: ["sh", "-c", "exit 5"] }];
    await cluster.create("initfails", { spec: { restartPolicy: "Never", initContainers } });
    await cluster.clock.advance(5 * second);
    expect(cluster.statuses("initfails").at(-1)).toBe("Failed | first Error 5, main PodInitializing");
  });

  it("fails when its activeDeadlineSeconds is over", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("late", { spec: { restartPolicy: "Never", activeDeadlineSeconds: 5 } });
    await cluster.clock.advance(10 * second);
    const { status } = await cluster.pod("late");
    expect([status?.phase, status?.reason, status?.message]).toEqual([
      "Failed",
      "DeadlineExceeded",
      "Pod was active on the node longer than the specified deadline",
    ]);
  });

  it("reports ErrImagePull, and ImagePullBackOff between attempts", async () => {
    await using cluster = await hollowCluster({ pull: (image) => (image.endsWith(":missing") ? notFound(image) : undefined) });
    const containers = [
      { name: "main", image: "example.com/main:missing" },
      { name: "good", image: "example.com/main:1" },
      { name: "never", image: "example.com/main:missing", imagePullPolicy: "Never" },
    ];
    await cluster.create("noimage", { spec: { containers } });
    await cluster.clock.advance(30 * second);
    expect(cluster.statuses("noimage").slice(3)).toEqual([
      "Pending sandbox,initialized | good running, main ErrImagePull, never ErrImageNeverPull",
      "Pending sandbox,initialized | good running, main ImagePullBackOff, never ErrImageNeverPull",
      "Pending sandbox,initialized | good running, main ErrImagePull, never ErrImageNeverPull",
      "Pending sandbox,initialized | good running, main ImagePullBackOff, never ErrImageNeverPull",
    ]);
    expect(statusOf(await cluster.pod("noimage"))?.state?.waiting?.message).toBe(
      'Back-off pulling image "example.com/main:missing": ErrImagePull: failed to pull and unpack image "example.com/main:missing": ' +
        'failed to resolve reference "example.com/main:missing": example.com/main:missing: not found',
    );
  });

  it("is rejected by a node without room for it, even if it sets nodeName", async () => {
    await using cluster = await hollowCluster({
      specs: [{ name: "node-1", capacity: { memory: "1Gi" }, allocatable: { memory: "1Gi" } }],
    });
    await cluster.create("first", { container: memory("600Mi") });
    await cluster.until("first", isReady);
    await cluster.create("second", { container: memory("600Mi") });
    await cluster.clock.advance(second);
    const { status } = await cluster.pod("second");
    expect([status?.phase, status?.reason, status?.message]).toEqual([
      "Failed",
      "OutOfmemory",
      "Pod was rejected: Node didn't have enough resource: memory, requested: 629145600, used: 629145600, capacity: 1073741824",
    ]);
  });

  it("is not written to while it runs unchanged", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("steady");
    await cluster.until("steady", isReady);
    await cluster.clock.advance(second);
    const { resourceVersion } = (await cluster.pod("steady")).metadata;
    await cluster.clock.advance(3_600 * second);
    expect((await cluster.pod("steady")).metadata.resourceVersion).toBe(resourceVersion);
  });

  it("is ignored on nodes of other kubelets", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("elsewhere", { spec: { nodeName: "not-ours" } });
    await cluster.client.create(Pod, {
      metadata: { namespace, name: "unscheduled" },
      spec: { containers: [{ name: "main", image: "x" }] },
    });
    await cluster.clock.advance(10 * second);
    expect([cluster.statuses("elsewhere"), cluster.statuses("unscheduled")]).toEqual([["Pending"], ["Pending"]]);
  });
});
