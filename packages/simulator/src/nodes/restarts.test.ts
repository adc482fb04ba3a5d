import { parseTime } from "@memhog/runtime/objects";
import { describe, expect, it } from "vitest";
import { hollowCluster, isReady, memory, mib, statusOf } from "./hollow-cluster.fixture.ts";

const second = 1_000;
const crash = (script: string) => ({ command: ["sh", "-c", script] });

describe("a container that terminates", () => {
  it("restarts immediately, then after 10 s, then after 20 s, and reports the reason", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("crashloop", { container: crash("sleep 1; exit 7") });
    await cluster.clock.advance(70 * second);
    expect(cluster.statuses("crashloop").slice(3, 13)).toEqual([
      "Running sandbox,initialized,ready | main running",
      "Running sandbox,initialized | main Error 7",
      "Running sandbox,initialized,ready | main running ×1",
      "Running sandbox,initialized | main Error 7 ×1",
      "Running sandbox,initialized | main CrashLoopBackOff ×1",
      "Running sandbox,initialized,ready | main running ×2",
      "Running sandbox,initialized | main Error 7 ×2",
      "Running sandbox,initialized | main CrashLoopBackOff ×2",
      "Running sandbox,initialized,ready | main running ×3",
      "Running sandbox,initialized | main Error 7 ×3",
    ]);
    const events = await cluster.events("crashloop");
    expect(events.find((line) => line.startsWith("BackOff"))).toMatch(
      /^BackOff 3 Back-off restarting failed container main in pod crashloop_default\(/,
    );
  });

  it.each([
    { policy: "Always", script: "sleep 1; exit 0", starts: true },
    { policy: "OnFailure", script: "sleep 1; exit 1", starts: true },
    { policy: "OnFailure", script: "sleep 1; exit 0", starts: false },
    { policy: "Never", script: "sleep 1; exit 1", starts: false },
  ])("with restartPolicy $policy after $script: restarts: $starts", async ({ policy, script, starts }) => {
    await using cluster = await hollowCluster();
    await cluster.create("ends", { container: crash(script), spec: { restartPolicy: policy } });
    await cluster.clock.advance(4 * second);
    expect(statusOf(await cluster.pod("ends"))?.restartCount).toBe(starts ? 1 : 0);
  });

  it("is retried forever if it is an init container, with the same back-off", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("initcrash", { spec: { initContainers: [{ name: "first", image: "x", ...crash("sleep 1; exit 5") }] } });
    await cluster.clock.advance(20 * second);
    expect(cluster.statuses("initcrash").slice(3, 8)).toEqual([
      "Pending sandbox | first running unready, main PodInitializing",
      "Pending sandbox | first Error 5, main PodInitializing",
      "Pending sandbox | first running unready ×1, main PodInitializing",
      "Pending sandbox | first Error 5 ×1, main PodInitializing",
      "Pending sandbox | first CrashLoopBackOff ×1, main PodInitializing",
    ]);
  });

  it("restarts if it is a sidecar, even with restartPolicy Never", async () => {
    await using cluster = await hollowCluster();
    const side = { name: "side", image: "x", restartPolicy: "Always", ...crash("sleep 2; exit 1") };
    await cluster.create("sidecar", { spec: { restartPolicy: "Never", initContainers: [side] } });
    await cluster.clock.advance(5 * second);
    expect((await cluster.pod("sidecar")).status?.initContainerStatuses?.[0]?.restartCount).toBe(1);
  });

  it("is reported as waiting as soon as another part of the pod changes", async () => {
    await using cluster = await hollowCluster();
    const containers = [
      { name: "main", image: "x", ...crash("sleep 1; exit 1") },
      { name: "other", image: "x", ...crash("sleep 5; exit 0") },
    ];
    await cluster.create("two", { spec: { containers } });
    await cluster.until("two", (pod) => statusOf(pod, "other")?.state?.terminated !== undefined);
    expect(statusOf(await cluster.pod("two"))?.state?.waiting?.reason).toBe("CrashLoopBackOff");
  });
});

describe("a container whose memory exceeds its limit", () => {
  it("is OOM-killed when it crosses the limit", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("oom", {
      container: memory("32Mi", "16Mi"),
      annotations: { "simulator.memhog.dev/memory.main": "ramp 1Mi/s to 500Mi" },
    });
    const before = await cluster.until("oom", isReady);
    const startedAt = parseTime(statusOf(before)?.state?.running?.startedAt) ?? 0;
    const after = await cluster.until("oom", (pod) => statusOf(pod)?.restartCount === 1);
    expect(statusOf(after)?.lastState?.terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
    const finishedAt = parseTime(statusOf(after)?.lastState?.terminated?.finishedAt) ?? 0;
    expect(Math.abs(finishedAt - startedAt - 32 * second)).toBeLessThanOrEqual(second);
    expect(statusOf(after)?.lastState?.terminated?.containerID).toBe(statusOf(before)?.containerID);
  });

  it("starts again with its initial memory", async () => {
    await using cluster = await hollowCluster({ memoryOf: () => "leak 10Mi/s" });
    await cluster.create("leaks", { container: memory("100Mi") });
    await cluster.clock.advance(5 * second);
    const first = cluster.node.usageOf({ namespace: "default", name: "leaks" }, "main") ?? 0;
    expect(first).toBeGreaterThan(mib(40));
    await cluster.until("leaks", (pod) => statusOf(pod)?.restartCount === 1);
    expect(cluster.node.usageOf({ namespace: "default", name: "leaks" }, "main")).toBeLessThan(mib(5));
  });

  it("fails its pod with restartPolicy Never", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("never", {
      container: { ...memory("32Mi"), ...crash("sleep 1; tail /dev/zero") },
      spec: { restartPolicy: "Never" },
    });
    await cluster.clock.advance(5 * second);
    expect(cluster.statuses("never").slice(-2)).toEqual([
      "Running sandbox,initialized | main OOMKilled 137",
      "Failed initialized | main OOMKilled 137",
    ]);
  });

  it("is not killed if it never reaches its limit", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("saws", {
      container: memory("300Mi"),
      annotations: { "simulator.memhog.dev/memory.main": "sawtooth 50Mi to 299Mi every 1m" },
    });
    await cluster.clock.advance(12 * 3_600 * second);
    expect(statusOf(await cluster.pod("saws"))?.restartCount).toBe(0);
  });

  it("is OOM-killed at the right time beyond the lookahead", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("slow", {
      container: memory("100Mi"),
      annotations: { "simulator.memhog.dev/memory.main": "leak 10Ki/s" },
    });
    await cluster.clock.advance(3 * 3_600 * second);
    expect(statusOf(await cluster.pod("slow"))?.lastState?.terminated?.reason).toBe("OOMKilled");
  });
});
