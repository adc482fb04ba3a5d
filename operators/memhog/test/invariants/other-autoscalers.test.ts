// Other writers of memory. On the simulator: the tests write what an HPA or a VPA would write.
import { Deployment, Pod } from "@memhog/runtime";
import { HorizontalPodAutoscaler } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { effectsOf } from "./effects.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const sizes = async (w: World) => (await w.pods()).map(sizeOf);

describe("F1: another autoscaler", () => {
  const hpa = (w: World) =>
    w.client.create(HorizontalPodAutoscaler, {
      metadata: { namespace: home, name: "web" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [{ type: "Resource", resource: { name: "memory", target: { type: "Utilization", averageUtilization: 80 } } }],
      },
    });

  it("F1: only the limit is raised if an HPA scales on memory utilization", async () => {
    await using w = await world();
    await hpa(w);
    await w.monitor();
    await w.deployment("web");
    w.start();
    await w.pass(minutes(2));
    expect(await sizes(w)).toEqual(["256Mi/768Mi"]);
    const { actions, conditions } = (await w.memory("deployment-web"))?.status ?? {};
    expect(actions?.map(({ message }) => message)).toEqual(["limits are confirmed; requests stay as they are"]);
    expect(conditions?.[0]?.message).toContain("HorizontalPodAutoscaler/web");
  });

  it("F1: nothing is redeployed if an HPA scales on memory utilization, and the HPA is named", async () => {
    await using w = await world();
    await hpa(w);
    await w.monitor({ strategy: "Redeploy" });
    await w.deployment("web");
    const operator = w.start();
    await w.pass(minutes(2));
    expect(effectsOf([operator])).toEqual({});
    const { reason, conditions } = (await w.memory("deployment-web"))?.status ?? {};
    expect([reason, conditions?.[0]?.message]).toEqual([
      "ManagedByAutoscaler",
      expect.stringContaining("HorizontalPodAutoscaler/web"),
    ]);
    const events = operator.voice.said.filter(({ path }) => path.includes("/events.k8s.io/")).map(({ body }) => body);
    expect(events.join()).toContain("HorizontalPodAutoscaler/web");
  });

  it("F1: nothing is raised if a VPA manages the app", async () => {
    await using w = await world();
    await w.monitor();
    await w.pod("hungry", { annotations: { vpaUpdates: "Pod resources updated by web-vpa: container 0: memory request" } });
    const operator = w.start();
    await w.pass(minutes(2));
    expect(effectsOf([operator])).toEqual({});
    const { reason, conditions } = (await w.memory("pod-hungry"))?.status ?? {};
    expect([reason, conditions?.[0]?.message]).toEqual([
      "ManagedByAutoscaler",
      expect.stringContaining("VerticalPodAutoscaler/web-vpa"),
    ]);
  });
});

describe("F2: another writer", () => {
  it("F2: a raise that was reverted twice is not repeated", async () => {
    await using w = await world();
    await w.monitor({ cooldownSeconds: 0 });
    await w.pod("hungry");
    w.start();
    for (let round = 1; round <= 3; round += 1) {
      await w.pass(minutes(1));
      expect(await sizes(w)).toEqual([round < 3 ? "512Mi/768Mi" : "256Mi/384Mi"]);
      const resources = { requests: { memory: "256Mi" }, limits: { memory: "384Mi" } };
      const body = { spec: { containers: [{ name: "main", resources }] } };
      const subresource = "resize";
      await w.client.patch(Pod, { namespace: home, name: "hungry" }, { type: "strategic", body }, { subresource });
    }
    await w.pass(minutes(10));
    expect(await sizes(w)).toEqual(["256Mi/384Mi"]);
    expect((await w.memory("pod-hungry"))?.status).toMatchObject({ reason: "Contested", phase: "Stopped" });
  });

  it("F2: a template raise that was reverted twice is not repeated", async () => {
    await using w = await world();
    await w.monitor({ strategy: "Redeploy", cooldownSeconds: 0 });
    await w.deployment("web");
    w.start();
    for (let round = 1; round <= 3; round += 1) {
      await w.pass(minutes(2));
      const resources = { requests: { memory: "256Mi" }, limits: { memory: "384Mi" } };
      const body = { spec: { template: { spec: { containers: [{ name: "main", resources }] } } } };
      await w.client.patch(Deployment, { namespace: home, name: "web" }, { type: "strategic", body });
    }
    await w.pass(minutes(10));
    expect(await sizes(w)).toEqual(["256Mi/384Mi"]);
    expect((await w.memory("deployment-web"))?.status).toMatchObject({ reason: "Contested", phase: "Stopped" });
  });

  it("F2: an AppMonitor for one app overrides the default of the namespace", async () => {
    await using w = await world();
    await w.monitor();
    await w.monitor({ memMultiplier: 3, selector: { matchLabels: { app: "hungry" } } }, { name: "for-hungry" });
    await w.pod("hungry", { labels: { app: "hungry" } });
    w.start();
    await w.pass(minutes(2));
    expect(await sizes(w)).toEqual(["768Mi/1152Mi"]);
  });

  it("F2: two AppMonitors that select one pod both report it and do not act until one is deleted", async () => {
    await using w = await world();
    await w.monitor();
    await w.monitor({ memMultiplier: 3 }, { name: "another" });
    await w.pod("hungry");
    const operator = w.start();
    await w.pass(minutes(2));
    expect(effectsOf([operator])).toEqual({});
    const { items } = await w.client.list(AppMonitor, { namespace: home });
    const ready = items.map(({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.reason);
    expect(ready).toEqual(["AmbiguousMonitor", "AmbiguousMonitor"]);
    await w.client.delete(AppMonitor, { namespace: home, name: "johnny-cache" });
    await w.pass(minutes(1));
    expect(await sizes(w)).toEqual(["768Mi/1152Mi"]);
  });
});
