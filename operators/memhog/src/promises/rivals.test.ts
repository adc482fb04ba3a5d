// Others who have a say about memory. On the simulator: nobody here is a real HPA, but everybody writes as one would.
import { Deployment, HorizontalPodAutoscaler, Pod } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { AppMonitor } from "../api/app-monitor.ts";
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

  it("an HPA that goes by the request: only the limit grows", async () => {
    await using w = await world();
    await hpa(w);
    await w.monitor();
    await w.deployment("web");
    w.start();
    await w.pass(minutes(2));
    expect(await sizes(w)).toEqual(["256Mi/768Mi"]);
    const { actions, conditions } = (await w.memory("deployment-web"))?.status ?? {};
    expect(actions?.map(({ detail }) => detail)).toEqual(["limits are confirmed; requests stay as they are"]);
    expect(conditions?.[0]?.message).toContain("HorizontalPodAutoscaler/web");
  });

  it("an HPA that goes by the request: nothing is redeployed, and it is named", async () => {
    await using w = await world();
    await hpa(w);
    await w.monitor({ strategy: "Redeploy" });
    await w.deployment("web");
    const operator = w.start();
    await w.pass(minutes(2));
    expect(effectsOf([operator])).toEqual({});
    const { reason, conditions } = (await w.memory("deployment-web"))?.status ?? {};
    expect([reason, conditions?.[0]?.message]).toEqual([
      "AnotherAutoscaler",
      expect.stringContaining("HorizontalPodAutoscaler/web"),
    ]);
    const events = operator.voice.said.filter(({ path }) => path.includes("/events.k8s.io/")).map(({ body }) => body);
    expect(events.join()).toContain("HorizontalPodAutoscaler/web");
  });

  it("a VPA: hands off", async () => {
    await using w = await world();
    await w.monitor();
    await w.pod("hungry", { annotations: { vpaUpdates: "Pod resources updated by web-vpa: container 0: memory request" } });
    const operator = w.start();
    await w.pass(minutes(2));
    expect(effectsOf([operator])).toEqual({});
    const { reason, conditions } = (await w.memory("pod-hungry"))?.status ?? {};
    expect([reason, conditions?.[0]?.message]).toEqual([
      "AnotherAutoscaler",
      expect.stringContaining("VerticalPodAutoscaler/web-vpa"),
    ]);
  });
});

describe("F2: another writer", () => {
  it("what is taken back twice is not given a third time", async () => {
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

  it("the same for a template", async () => {
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

  it("two AppMonitors on one pod: neither acts, both say so; when one goes, the other does", async () => {
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
