import { parseTime } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { hollowWorld, isReady, memory, mib, statusOf } from "./hollow-world.fixture.ts";

const second = 1_000;
const crash = (script: string) => ({ command: ["sh", "-c", script] });

describe("a container that ends", () => {
  it("starts again at once, then after 10 s, then after 20 s, and says why it waits", async () => {
    await using world = await hollowWorld();
    await world.create("crashloop", { container: crash("sleep 1; exit 7") });
    await world.clock.advance(70 * second);
    expect(world.story("crashloop").slice(3, 13)).toEqual([
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
    const events = await world.events("crashloop");
    expect(events.find((line) => line.startsWith("BackOff"))).toMatch(
      /^BackOff 3 Back-off restarting failed container main in pod crashloop_default\(/,
    );
  });

  it.each([
    { policy: "Always", script: "sleep 1; exit 0", starts: true },
    { policy: "OnFailure", script: "sleep 1; exit 1", starts: true },
    { policy: "OnFailure", script: "sleep 1; exit 0", starts: false },
    { policy: "Never", script: "sleep 1; exit 1", starts: false },
  ])("with policy $policy after $script: starts again? $starts", async ({ policy, script, starts }) => {
    await using world = await hollowWorld();
    await world.create("ends", { container: crash(script), spec: { restartPolicy: policy } });
    await world.clock.advance(4 * second);
    expect(statusOf(await world.pod("ends"))?.restartCount).toBe(starts ? 1 : 0);
  });

  it("is tried again without end if it is an init container, with the same patience", async () => {
    await using world = await hollowWorld();
    await world.create("initcrash", { spec: { initContainers: [{ name: "first", image: "x", ...crash("sleep 1; exit 5") }] } });
    await world.clock.advance(20 * second);
    expect(world.story("initcrash").slice(3, 8)).toEqual([
      "Pending sandbox | first running unready, main PodInitializing",
      "Pending sandbox | first Error 5, main PodInitializing",
      "Pending sandbox | first running unready ×1, main PodInitializing",
      "Pending sandbox | first Error 5 ×1, main PodInitializing",
      "Pending sandbox | first CrashLoopBackOff ×1, main PodInitializing",
    ]);
  });

  it("starts again if it is a sidecar, even where nothing else does", async () => {
    await using world = await hollowWorld();
    const side = { name: "side", image: "x", restartPolicy: "Always", ...crash("sleep 2; exit 1") };
    await world.create("sidecar", { spec: { restartPolicy: "Never", initContainers: [side] } });
    await world.clock.advance(5 * second);
    expect((await world.pod("sidecar")).status?.initContainerStatuses?.[0]?.restartCount).toBe(1);
  });

  it("of a pod is seen to wait as soon as something else happens to the pod", async () => {
    await using world = await hollowWorld();
    const containers = [
      { name: "main", image: "x", ...crash("sleep 1; exit 1") },
      { name: "other", image: "x", ...crash("sleep 5; exit 0") },
    ];
    await world.create("two", { spec: { containers } });
    await world.until("two", (pod) => statusOf(pod, "other")?.state?.terminated !== undefined);
    expect(statusOf(await world.pod("two"))?.state?.waiting?.reason).toBe("CrashLoopBackOff");
  });
});

describe("a container that wants more memory than it may have", () => {
  it("is killed the moment it crosses its limit, and says so", async () => {
    await using world = await hollowWorld();
    await world.create("oom", {
      container: memory("32Mi", "16Mi"),
      annotations: { "simulator.memhog.dev/memory.main": "ramp 1Mi/s to 500Mi" },
    });
    const before = await world.until("oom", isReady);
    const startedAt = parseTime(statusOf(before)?.state?.running?.startedAt) ?? 0;
    const after = await world.until("oom", (pod) => statusOf(pod)?.restartCount === 1);
    expect(statusOf(after)?.lastState?.terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
    const finishedAt = parseTime(statusOf(after)?.lastState?.terminated?.finishedAt) ?? 0;
    expect(Math.abs(finishedAt - startedAt - 32 * second)).toBeLessThanOrEqual(second);
    expect(statusOf(after)?.lastState?.terminated?.containerID).toBe(statusOf(before)?.containerID);
  });

  it("begins anew when it starts again", async () => {
    await using world = await hollowWorld({ memoryOf: () => "leak 10Mi/s" });
    await world.create("leaks", { container: memory("100Mi") });
    await world.clock.advance(5 * second);
    const first = world.node.usageOf({ namespace: "default", name: "leaks" }, "main") ?? 0;
    expect(first).toBeGreaterThan(mib(40));
    await world.until("leaks", (pod) => statusOf(pod)?.restartCount === 1);
    expect(world.node.usageOf({ namespace: "default", name: "leaks" }, "main")).toBeLessThan(mib(5));
  });

  it("fails its pod if it may not start again", async () => {
    await using world = await hollowWorld();
    await world.create("never", {
      container: { ...memory("32Mi"), ...crash("sleep 1; tail /dev/zero") },
      spec: { restartPolicy: "Never" },
    });
    await world.clock.advance(5 * second);
    expect(world.story("never").slice(-2)).toEqual([
      "Running sandbox,initialized | main OOMKilled 137",
      "Failed initialized | main OOMKilled 137",
    ]);
  });

  it("lives for ever if its limit is never reached, at no cost", async () => {
    await using world = await hollowWorld();
    await world.create("saws", {
      container: memory("300Mi"),
      annotations: { "simulator.memhog.dev/memory.main": "sawtooth 50Mi to 299Mi every 1m" },
    });
    await world.clock.advance(12 * 3_600 * second);
    expect(statusOf(await world.pod("saws"))?.restartCount).toBe(0);
  });

  it("is found by looking further ahead, if it takes its time", async () => {
    await using world = await hollowWorld();
    await world.create("slow", {
      container: memory("100Mi"),
      annotations: { "simulator.memhog.dev/memory.main": "leak 10Ki/s" },
    });
    await world.clock.advance(3 * 3_600 * second);
    expect(statusOf(await world.pod("slow"))?.lastState?.terminated?.reason).toBe("OOMKilled");
  });
});
