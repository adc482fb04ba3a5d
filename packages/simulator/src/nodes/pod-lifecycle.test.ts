// Each story was seen on a real node (1.37) and is told here in the same words.
import { Pod } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { hollowWorld, isReady, memory, namespace, statusOf } from "./hollow-world.fixture.ts";
import { notFound } from "./images.ts";

const second = 1_000;

describe("a pod on a hollow node", () => {
  it("comes up step by step", async () => {
    await using world = await hollowWorld();
    await world.create("plain", { container: memory("64Mi", "32Mi") });
    await world.clock.advance(5 * second);
    expect(world.story("plain")).toEqual([
      "Pending",
      "Pending initialized | main ContainerCreating",
      "Pending sandbox,initialized | main ContainerCreating",
      "Running sandbox,initialized,ready | main running",
    ]);
  });

  it("has the status that a kubelet gives it", async () => {
    await using world = await hollowWorld();
    await world.create("plain", { container: memory("64Mi", "32Mi") });
    const { metadata, status } = await world.until("plain", isReady);
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

  it("tells what happened to it", async () => {
    await using world = await hollowWorld();
    await world.create("plain");
    await world.until("plain", isReady);
    await world.clock.advance(second);
    expect((await world.events("plain")).toSorted()).toEqual([
      "Created 1 Container created",
      'Pulled 1 Container image "example.com/main:1" already present on machine and can be accessed by the pod',
      "Started 1 Container started",
    ]);
  });

  it("runs init containers one after the other, and sidecars from their turn on", async () => {
    await using world = await hollowWorld();
    const initContainers = [
      { name: "first", image: "x", command: ["sleep", "1"] },
      { name: "side", image: "x", restartPolicy: "Always" },
      { name: "second", image: "x", command: ["sleep", "1"] },
    ];
    await world.create("inits", { spec: { initContainers } });
    await world.until("inits", isReady);
    expect(world.story("inits")).toEqual([
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

  it("waits for a sidecar to have started before it goes on", async () => {
    await using world = await hollowWorld();
    const side = {
      name: "side",
      image: "x",
      restartPolicy: "Always",
      startupProbe: { exec: { command: ["x"] }, periodSeconds: 1, failureThreshold: 30 },
    };
    const annotations = { "simulator.memhog.dev/started.side": "after 5s" };
    await world.create("slow", { annotations, spec: { initContainers: [side] } });
    await world.clock.advance(4 * second);
    expect(statusOf(await world.pod("slow"))?.state).toEqual({ waiting: { reason: "PodInitializing" } });
    await world.until("slow", isReady);
    expect(world.clock.monotonic()).toBeGreaterThan(5 * second);
  });

  it("is not called finished before everything of it is gone", async () => {
    await using world = await hollowWorld();
    await world.create("job", { container: { command: ["sh", "-c", "sleep 2; exit 0"] }, spec: { restartPolicy: "Never" } });
    await world.clock.advance(10 * second);
    expect(world.story("job").slice(-3)).toEqual([
      "Running sandbox,initialized,ready | main running",
      "Running sandbox,initialized | main Completed 0",
      "Succeeded initialized | main Completed 0",
    ]);
    const { status } = await world.pod("job");
    expect(status?.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ["PodReadyToStartContainers", "PodSandboxNotReady"],
      ["Initialized", "PodCompleted"],
      ["Ready", "PodCompleted"],
      ["ContainersReady", "PodCompleted"],
      ["PodScheduled", undefined],
    ]);
  });

  it("fails with its last container, and stops its sidecars", async () => {
    await using world = await hollowWorld();
    const containers = [
      { name: "main", image: "x", command: ["sh", "-c", "sleep 1; exit 3"] },
      { name: "other", image: "x", command: ["sh", "-c", "sleep 4"] },
    ];
    const initContainers = [{ name: "side", image: "x", restartPolicy: "Always" }];
    await world.create("fails", { spec: { restartPolicy: "Never", initContainers, containers } });
    await world.clock.advance(15 * second);
    expect(world.story("fails").slice(-4)).toEqual([
      "Running sandbox,initialized | side running, main Error 3, other running",
      "Running sandbox,initialized | side running, main Error 3, other Completed 0",
      "Running sandbox,initialized | side Completed 0, main Error 3, other Completed 0",
      "Failed initialized | side Completed 0, main Error 3, other Completed 0",
    ]);
  });

  it("fails with an init container that may not be tried again", async () => {
    await using world = await hollowWorld();
    const initContainers = [{ name: "first", image: "x", command: ["sh", "-c", "exit 5"] }];
    await world.create("initfails", { spec: { restartPolicy: "Never", initContainers } });
    await world.clock.advance(5 * second);
    expect(world.story("initfails").at(-1)).toBe("Failed | first Error 5, main PodInitializing");
  });

  it("ends when its deadline is over", async () => {
    await using world = await hollowWorld();
    await world.create("late", { spec: { restartPolicy: "Never", activeDeadlineSeconds: 5 } });
    await world.clock.advance(10 * second);
    const { status } = await world.pod("late");
    expect([status?.phase, status?.reason, status?.message]).toEqual([
      "Failed",
      "DeadlineExceeded",
      "Pod was active on the node longer than the specified deadline",
    ]);
  });

  it("says that its image cannot be had, and that it waits before it tries again", async () => {
    await using world = await hollowWorld({ pull: (image) => (image.endsWith(":missing") ? notFound(image) : undefined) });
    const containers = [
      { name: "main", image: "example.com/main:missing" },
      { name: "good", image: "example.com/main:1" },
      { name: "never", image: "example.com/main:missing", imagePullPolicy: "Never" },
    ];
    await world.create("noimage", { spec: { containers } });
    await world.clock.advance(30 * second);
    expect(world.story("noimage").slice(3)).toEqual([
      "Pending sandbox,initialized | good running, main ErrImagePull, never ErrImageNeverPull",
      "Pending sandbox,initialized | good running, main ImagePullBackOff, never ErrImageNeverPull",
      "Pending sandbox,initialized | good running, main ErrImagePull, never ErrImageNeverPull",
      "Pending sandbox,initialized | good running, main ImagePullBackOff, never ErrImageNeverPull",
    ]);
    expect(statusOf(await world.pod("noimage"))?.state?.waiting?.message).toBe(
      'Back-off pulling image "example.com/main:missing": ErrImagePull: failed to pull and unpack image "example.com/main:missing": ' +
        'failed to resolve reference "example.com/main:missing": example.com/main:missing: not found',
    );
  });

  it("is refused by a node that has no room for it, whoever sent it there", async () => {
    await using world = await hollowWorld({
      specs: [{ name: "node-1", capacity: { memory: "1Gi" }, allocatable: { memory: "1Gi" } }],
    });
    await world.create("first", { container: memory("600Mi") });
    await world.until("first", isReady);
    await world.create("second", { container: memory("600Mi") });
    await world.clock.advance(second);
    const { status } = await world.pod("second");
    expect([status?.phase, status?.reason, status?.message]).toEqual([
      "Failed",
      "OutOfmemory",
      "Pod was rejected: Node didn't have enough resource: memory, requested: 629145600, used: 629145600, capacity: 1073741824",
    ]);
  });

  it("costs nothing once it runs", async () => {
    await using world = await hollowWorld();
    await world.create("steady");
    await world.until("steady", isReady);
    await world.clock.advance(second);
    const { resourceVersion } = (await world.pod("steady")).metadata;
    await world.clock.advance(3_600 * second);
    expect((await world.pod("steady")).metadata.resourceVersion).toBe(resourceVersion);
  });

  it("of somebody else's node is left alone", async () => {
    await using world = await hollowWorld();
    await world.create("elsewhere", { spec: { nodeName: "not-ours" } });
    await world.client.create(Pod, {
      metadata: { namespace, name: "unscheduled" },
      spec: { containers: [{ name: "main", image: "x" }] },
    });
    await world.clock.advance(10 * second);
    expect([world.story("elsewhere"), world.story("unscheduled")]).toEqual([["Pending"], ["Pending"]]);
  });
});
