import { Pod } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { hollowWorld, isReady, namespace, statusOf } from "./hollow-world.fixture.ts";

const second = 1_000;
const probe = (more: object = {}) => ({ exec: { command: ["check"] }, periodSeconds: 1, ...more });
const told = (what: string) => ({ [`simulator.memhog.dev/${what.split(" ")[0]}.main`]: what.slice(what.indexOf(" ") + 1) });

describe("a container with probes", () => {
  it("is ready when its readiness probe says so, and no longer when it does not", async () => {
    await using world = await hollowWorld();
    await world.create("unready", { container: { readinessProbe: probe() }, annotations: told("ready after 3s until 10s") });
    await world.clock.advance(20 * second);
    expect(world.story("unready").slice(3)).toEqual([
      "Running sandbox,initialized | main running unready",
      "Running sandbox,initialized,ready | main running",
      "Running sandbox,initialized | main running unready",
    ]);
    expect(await world.events("unready")).toContain("Unhealthy 1 Readiness probe failed: ");
  });

  it("is ready at once if it has no readiness probe, whatever was told", async () => {
    await using world = await hollowWorld();
    await world.create("noprobe", { annotations: told("ready never") });
    await world.until("noprobe", isReady);
  });

  it("has not started before its startup probe says so", async () => {
    await using world = await hollowWorld();
    await world.create("starts", {
      container: { startupProbe: probe({ failureThreshold: 60 }) },
      annotations: told("started after 5s"),
    });
    await world.until("starts", (pod) => statusOf(pod)?.state?.running !== undefined);
    expect(statusOf(await world.pod("starts"))).toMatchObject({ started: false, ready: false });
    expect(statusOf(await world.until("starts", isReady))).toMatchObject({ started: true, ready: true });
  });

  it("is killed and started again if it does not start in time", async () => {
    await using world = await hollowWorld();
    const container = { startupProbe: probe({ failureThreshold: 3 }) };
    await world.create("stuck", { container, annotations: told("started never") });
    await world.until("stuck", (pod) => statusOf(pod)?.restartCount === 1);
    expect(await world.events("stuck")).toContain("Killing 1 Container main failed startup probe, will be restarted");
  });

  it("is killed and started again if it is no longer alive: twice at once, then with patience", async () => {
    await using world = await hollowWorld();
    const container = { livenessProbe: probe({ failureThreshold: 2 }) };
    await world.create("dies", { container, annotations: told("live until 3s"), spec: { terminationGracePeriodSeconds: 2 } });
    await world.clock.advance(25 * second);
    const story = world.story("dies").slice(3);
    expect(story.slice(0, 5)).toEqual([
      "Running sandbox,initialized,ready | main running",
      "Running sandbox,initialized | main Completed 0",
      "Running sandbox,initialized,ready | main running ×1",
      "Running sandbox,initialized | main Completed 0 ×1",
      "Running sandbox,initialized,ready | main running ×2",
    ]);
    expect(story[5]).toBe("Running sandbox,initialized | main CrashLoopBackOff ×2");
  });

  it("is not ready before every gate of its pod is open", async () => {
    await using world = await hollowWorld();
    await world.create("gated", { spec: { readinessGates: [{ conditionType: "example.com/in-rotation" }] } });
    await world.clock.advance(3 * second);
    const ready = async () => (await world.pod("gated")).status?.conditions?.find(({ type }) => type === "Ready");
    expect(await ready()).toMatchObject({
      status: "False",
      reason: "ReadinessGatesNotReady",
      message: 'corresponding condition of pod readiness gate "example.com/in-rotation" does not exist.',
    });
    const body = { status: { conditions: [{ type: "example.com/in-rotation", status: "True" }] } };
    await world.client.patch(Pod, { namespace, name: "gated" }, { type: "strategic", body }, { subresource: "status" });
    await world.clock.advance(second);
    expect(await ready()).toMatchObject({ status: "True" });
  });
});
