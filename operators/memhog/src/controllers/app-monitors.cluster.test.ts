import { type Client, crdOf, findCondition, Pod, type Stored } from "@memhog/runtime";
import { InvalidError } from "@memhog/runtime/client";
import { startOperator } from "@memhog/runtime/testing";
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { monitorAnnotation } from "../api/names.ts";
import type { ObservedMetrics } from "../model/observed-app.ts";
import type { Visibility } from "../observe/memory-poller.ts";
import { appMonitors } from "./app-monitors.ts";

async function stage() {
  const cluster = await testCluster();
  await cluster.apply(crdOf(AppMonitor), crdOf(AppMemory));
  const client = await cluster.client();
  const namespace = cluster.defaultNamespace;
  const prometheus = {
    metrics: { available: true, freshForMs: 60_000 } as ObservedMetrics,
    visibility: "seen" as Visibility,
    revision: 0,
  };
  const memory = {
    metrics: () => prometheus.metrics,
    visibility: () => prometheus.visibility,
    unseenRevision: () => prometheus.revision,
  };
  const controllers = [appMonitors({ memory, resyncMs: 200 })];
  const running = await startOperator({
    name: "memhog-operator",
    controllers,
    kubeconfig: cluster.kubeconfig,
    namespaces: [namespace],
  });
  const closing = new AsyncDisposableStack();
  closing.use(cluster);
  closing.use(running);
  return {
    ...{ cluster, client, namespace, prometheus, running },
    ...makers(client, namespace),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function makers(client: Client, namespace: string) {
  return {
    monitor: (name: string, spec: object = {}) =>
      client.create(AppMonitor, {
        metadata: { namespace, name },
        spec: { memThresholdPercent: 75, memMultiplier: 2, ...spec },
      } as never),
    pod: (name: string, labels: Record<string, string>, value = "true") =>
      client.create(Pod, {
        metadata: { namespace, name, labels, annotations: { [monitorAnnotation]: value } },
        spec: {
          schedulerName: "nobody",
          terminationGracePeriodSeconds: 0,
          containers: [{ name: "main", image: "example.com/none" }],
        },
      }),
    remember: async (app: string, status: object) => {
      const ref = { namespace, name: app.toLowerCase().replace("/", "-") };
      await client.create(AppMemory, { metadata: ref, spec: { app } });
      await client.patch(AppMemory, ref, { type: "merge", body: { status } }, { subresource: "status" });
    },
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;
const says = (at: Stage, name: string, holds: (monitor: Stored<AppMonitor>) => boolean) =>
  at.cluster.eventually(() => at.client.get(AppMonitor, { namespace: at.namespace, name }), holds);
const reason = ({ status }: AppMonitor, type: "Ready" | "Degraded") => findCondition(status?.conditions, type)?.reason;

describe("an AppMonitor", () => {
  it("counts its pods, their apps, raises and OOM kills", async () => {
    await using at = await stage();
    await at.pod("a", { app: "a" });
    await at.pod("b", { app: "b" });
    await at.pod("off", { app: "a" }, "false");
    await at.remember("Pod/a", { raises: 3, oomKills: 1, reason: "CapReached" });
    await at.monitor("johnny-cache");
    const counted = await says(
      at,
      "johnny-cache",
      ({ status }) => status?.pods === 2 && status.apps === 2 && status.raises === 3,
    );
    expect(counted.status).toMatchObject({ pods: 2, apps: 2, raises: 3, oomKills: 1 });
    expect([reason(counted, "Ready"), reason(counted, "Degraded")]).toEqual(["Watching", "CapReached"]);
    await at.client.delete(Pod, { namespace: at.namespace, name: "b" });
    await says(at, "johnny-cache", ({ status }) => status?.pods === 1);
  });

  it("leaves the pods of a more specific AppMonitor to it", async () => {
    await using at = await stage();
    await at.pod("a", { app: "a" });
    await at.pod("b", { app: "b" });
    await at.monitor("all");
    await at.monitor("some", { selector: { matchLabels: { app: "a" } } });
    const watching = ({ status }: AppMonitor) => findCondition(status?.conditions, "Ready")?.message;
    await says(at, "some", (found) => watching(found) === "1 pods of 1 apps");
    await says(at, "all", (found) => watching(found) === "1 pods of 1 apps; more specific AppMonitors act on 1 others");
    await at.client.delete(AppMonitor, { namespace: at.namespace, name: "some" });
    await says(at, "all", (found) => watching(found) === "2 pods of 2 apps");
  });

  it("F2: reports AmbiguousMonitor while an equally specific AppMonitor selects the same pods", async () => {
    await using at = await stage();
    await at.pod("a", { app: "a", tier: "front" });
    await at.monitor("all");
    await at.monitor("some", { selector: { matchLabels: { app: "a" } } });
    await at.monitor("front", { selector: { matchExpressions: [{ key: "tier", operator: "In", values: ["front"] }] } });
    await at.monitor("none", { selector: { matchLabels: { app: "z" } } });
    for (const name of ["front", "some"]) await says(at, name, (found) => reason(found, "Ready") === "AmbiguousMonitor");
    await says(at, "all", (found) => reason(found, "Ready") === "Watching");
    await says(at, "none", (found) => reason(found, "Ready") === "NoPods");
    await at.client.delete(AppMonitor, { namespace: at.namespace, name: "some" });
    await says(at, "front", (found) => reason(found, "Ready") === "Watching");
  });

  it("M1: reports MetricsUnavailable while Prometheus does not respond", async () => {
    await using at = await stage();
    await at.pod("a", { app: "a" });
    await at.monitor("johnny-cache");
    await says(at, "johnny-cache", (found) => reason(found, "Ready") === "Watching");
    at.prometheus.metrics = { available: false, unavailableForMs: 1, problem: "connection refused", freshForMs: 60_000 };
    const without = await says(at, "johnny-cache", (found) => reason(found, "Ready") === "MetricsUnavailable");
    expect(findCondition(without.status?.conditions, "Ready")?.message).toContain("connection refused");
    at.prometheus.metrics = { available: true, freshForMs: 60_000 };
    await says(at, "johnny-cache", (found) => reason(found, "Ready") === "Watching");
  });

  it("reports NoPods until a pod matches its selector", async () => {
    await using at = await stage();
    await at.pod("a", { app: "a" });
    await at.monitor("johnny-cache", { selector: { matchLabels: { app: "b" } } });
    await says(at, "johnny-cache", (found) => reason(found, "Ready") === "NoPods");
    await at.pod("b", { app: "b" });
    await says(at, "johnny-cache", (found) => reason(found, "Ready") === "Watching");
  });

  it.each([
    { name: "In without values", selector: { matchExpressions: [{ key: "app", operator: "In" }] } },
    { name: "Exists with values", selector: { matchExpressions: [{ key: "app", operator: "Exists", values: ["a"] }] } },
    { name: "an unknown operator", selector: { matchExpressions: [{ key: "app", operator: "Like", values: ["a"] }] } },
    { name: "a malformed key", selector: { matchExpressions: [{ key: "app!", operator: "Exists" }] } },
    { name: "a malformed value", selector: { matchLabels: { app: "a b" } } },
  ])("is rejected by the API server with a selector with $name", async ({ selector }) => {
    await using at = await stage();
    await expect(at.monitor("johnny-cache", { selector })).rejects.toBeInstanceOf(InvalidError);
  });

  it("reports a selector that the CRD cannot reject", async () => {
    await using at = await stage();
    await at.monitor("johnny-cache", { selector: { matchLabels: { "app!": "a" } } });
    const said = await says(at, "johnny-cache", (found) => reason(found, "Ready") === "NoPods");
    expect(findCondition(said.status?.conditions, "Ready")?.message).toMatch(/spec.selector is invalid.*app!/);
  });

  it("M6: reports NoSamples while Prometheus has no samples of its pods", async () => {
    await using at = await stage();
    await at.pod("a", { app: "a" });
    await at.monitor("johnny-cache");
    await says(at, "johnny-cache", (found) => reason(found, "Ready") === "Watching");
    Object.assign(at.prometheus, { visibility: "unseen", revision: 1 });
    await says(
      at,
      "johnny-cache",
      (found) => reason(found, "Degraded") === "NoSamples" && reason(found, "Ready") === "NoSamples",
    );
    Object.assign(at.prometheus, { visibility: "seen", revision: 2 });
    await says(
      at,
      "johnny-cache",
      (found) => reason(found, "Degraded") === "AsExpected" && reason(found, "Ready") === "Watching",
    );
  });

  it("E1: writes nothing in a steady state", async () => {
    await using at = await stage();
    await at.pod("a", { app: "a" });
    await at.monitor("johnny-cache");
    const said = await says(at, "johnny-cache", ({ status }) => status?.pods === 1);
    const before = await at.running.reconciles();
    await at.cluster.eventually(
      () => at.running.reconciles(),
      (count) => count >= before + 20,
    );
    const now = await at.client.get(AppMonitor, { namespace: at.namespace, name: "johnny-cache" });
    expect(now.metadata.resourceVersion).toBe(said.metadata.resourceVersion);
  });
});
