import { crdOf, Pod } from "@memhog/runtime";
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { monitorAnnotation } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { answering, matrix } from "./prometheus/answers.fixture.ts";
import { looking } from "./read-only-operator.fixture.ts";

const annotations = { [monitorAnnotation]: "true" };
const labels = { app: "web" };
const spec = {
  schedulerName: "nobody",
  terminationGracePeriodSeconds: 0,
  containers: [
    { name: "main", image: "example.com/none", resources: { requests: { memory: "256Mi" }, limits: { memory: "384Mi" } } },
  ],
};
const monitor = (namespace: string, name: string) => ({
  ...{ apiVersion: "kubedemo.com/v1", kind: "AppMonitor", metadata: { namespace, name } },
  spec: { memThresholdPercent: 75, memMultiplier: 2 },
});
const web = (namespace: string) => ({
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace, name: "web" } },
  spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } },
});
const bare = (namespace: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { namespace, name: "bare", annotations }, spec });

async function stage() {
  const cluster = await testCluster();
  await cluster.apply(crdOf(AppMonitor), crdOf(AppMemory));
  const client = await cluster.client();
  const home = cluster.defaultNamespace;
  const elsewhere = await cluster.namespace();
  const { transport } = answering(matrix());
  const operator = await looking({ kubeconfig: cluster.kubeconfig, namespaces: [home, elsewhere], prometheus: transport });
  const stop = async () => {
    await operator.stop();
    await cluster[Symbol.asyncDispose]();
  };
  const say = (name: string, status: object) =>
    client.patch(Pod, { namespace: home, name }, { type: "merge", body: { status } }, { subresource: "status" });
  return { cluster, client, home, elsewhere, operator, say, [Symbol.asyncDispose]: stop };
}

describe("observing a cluster", () => {
  it("observes the pods of a Deployment as one app with its template and AppMonitor", async () => {
    await using world = await stage();
    const { cluster, home, operator } = world;
    await cluster.apply(web(home), monitor(home, "johnny-cache"));
    const seen = await cluster.eventually(
      () => operator.seen("deployment-web"),
      (found) => found?.pods.length === 2 && found.policies.length === 1 && found.template !== undefined,
    );
    expect(seen).toMatchObject({
      app: { kind: "Deployment", namespace: home, name: "web" },
      policies: [{ name: "johnny-cache", thresholdPercent: 75, multiplier: 2, strategy: "Auto", metric: "WorkingSet" }],
      template: { containers: [{ name: "main", limit: mib(384), request: mib(256) }], replicas: 2, rolledOut: false },
      pods: [{ monitored: true, qos: "Burstable" }, { containers: [{ limit: mib(384), request: mib(256), samples: [] }] }],
    });
  });

  it("observes that a bare pod runs, was OOM-killed, and has a deferred resize", async () => {
    await using world = await stage();
    const { cluster, home, operator, say } = world;
    await cluster.apply(bare(home));
    const at = "2026-01-01T00:00:00Z";
    const common = { name: "main", image: "", imageID: "", ready: true };
    await say("bare", {
      phase: "Running",
      containerStatuses: [{ ...common, restartCount: 0, state: { running: { startedAt: at } } }],
    });
    const pod = () => operator.seen("pod-bare")?.pods[0];
    await cluster.eventually(pod, (found) => found?.containers[0]?.running === true);
    const terminated = { exitCode: 137, reason: "OOMKilled", startedAt: at, finishedAt: at };
    const waiting = { type: "PodResizePending", status: "True", reason: "Deferred", message: "no room", lastTransitionTime: at };
    await say("bare", {
      conditions: [waiting],
      containerStatuses: [{ ...common, restartCount: 1, state: { running: { startedAt: at } }, lastState: { terminated } }],
    });
    const seen = await cluster.eventually(pod, (found) => found?.containers[0]?.oomKill !== undefined);
    expect(seen).toMatchObject({
      resize: { state: "deferred", message: "no room" },
      containers: [{ restarts: 1, oomKill: { restart: 0, stillDown: false } }],
    });
  });

  it("T1: ignores an app of the same name in another namespace and its AppMonitor", async () => {
    await using world = await stage();
    const { cluster, home, elsewhere, operator } = world;
    await cluster.apply(bare(home), bare(elsewhere), monitor(elsewhere, "theirs"), monitor(home, "ours"));
    const seen = await cluster.eventually(
      () => operator.seen("pod-bare"),
      (found) => (found?.policies.length ?? 0) > 0,
    );
    expect(seen?.policies.map(({ name }) => name)).toEqual(["ours"]);
    expect(seen?.pods).toHaveLength(1);
  });

  it("E4: observes a removed annotation and a paused AppMonitor immediately", async () => {
    await using world = await stage();
    const { cluster, client, home, operator } = world;
    await cluster.apply(bare(home), monitor(home, "johnny-cache"));
    await cluster.eventually(
      () => operator.seen("pod-bare"),
      (found) => found?.policies.length === 1,
    );
    await client.patch(
      AppMonitor,
      { namespace: home, name: "johnny-cache" },
      { type: "merge", body: { spec: { paused: true } } },
    );
    await cluster.eventually(
      () => operator.seen("pod-bare")?.policies[0],
      (policy) => policy?.paused === true,
    );
    const body = { metadata: { annotations: { [monitorAnnotation]: "false" } } };
    await client.patch(Pod, { namespace: home, name: "bare" }, { type: "merge", body });
    await cluster.eventually(
      () => operator.seen("pod-bare")?.pods[0],
      (pod) => pod?.monitored === false,
    );
  });
});
