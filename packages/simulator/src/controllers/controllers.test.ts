// All controllers together, with the simulator's API server, hollow nodes and a manual clock.
import {
  type Client,
  ConfigMap,
  Deployment,
  hasCondition,
  Job,
  ownerReferenceTo,
  Pod,
  Service,
  StatefulSet,
} from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import { EndpointSlice, Namespace, PersistentVolumeClaim, PodDisruptionBudget, ServiceAccount } from "@memhog/runtime/kinds";
import { eventually, manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { startHollowNodes } from "../nodes/hollow-nodes.ts";
import { startSimulator } from "../simulator.ts";
import { startControllers } from "./controllers.ts";
import { PersistentVolume, StorageClass } from "./storage.ts";

const namespace = "default";
const labels = { app: "web" };
const template = (image = "web:1") => ({ metadata: { labels }, spec: { containers: [{ name: "main", image }] } });
const selector = { matchLabels: labels };

async function cluster({ nodes: count = 2 } = {}) {
  const environment = manualEnvironment();
  const { clock } = environment;
  const simulator = await startSimulator({ environment });
  const client: Client = simulator.client();
  const controllers = await startControllers({ client, environment, log: silentLogger });
  const nodes = await startHollowNodes({ client, environment, log: silentLogger, count });
  const until = <T>(read: () => Promise<T>, holds: (value: T) => boolean) =>
    eventually(read, holds, { clock, timeoutMs: 900_000, everyMs: 250 });
  const close = async () => {
    const stopped = Promise.all([nodes.stop(), controllers.stop()]);
    await clock.advance(3_000); // the last events are written on the manual clock
    await stopped;
    await simulator.stop();
  };
  return { client, clock, nodes, until, [Symbol.asyncDispose]: close };
}

const podsOf = async (client: Client) => (await client.list(Pod, { namespace })).items;

describe("a cluster with all controllers", () => {
  it("rolls out a Deployment twice and garbage-collects it", async () => {
    await using on = await cluster();
    const { client, until } = on;
    const web = { namespace, name: "web" };
    await client.create(Deployment, { metadata: web, spec: { replicas: 3, selector, template: template() } });
    const rolledOut = (image: string) =>
      until(
        () => podsOf(client),
        (pods) =>
          pods.length === 3 &&
          pods.every(({ spec, status }) => spec.containers[0]?.image === image && status?.phase === "Running"),
      );
    await rolledOut("web:1");
    await client.patch(Deployment, web, { type: "merge", body: { spec: { template: template("web:2") } } });
    await rolledOut("web:2");
    const done = await until(
      () => client.get(Deployment, web),
      ({ status }) => status?.availableReplicas === 3 && status.replicas === 3,
    );
    expect(done.metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "2" });
    await client.delete(Deployment, web);
    await until(
      () => podsOf(client),
      (pods) => pods.length === 0,
    );
  });

  it("creates the pods of a StatefulSet in order", async () => {
    await using on = await cluster();
    await on.client.create(StatefulSet, {
      metadata: { namespace, name: "db" },
      spec: { replicas: 2, serviceName: "db", selector, template: template() },
    });
    const pods = await on.until(
      () => podsOf(on.client),
      (all) => all.length === 2 && all.every(({ status }) => status?.phase === "Running"),
    );
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(["db-0", "db-1"]);
  });

  it("provisions the claims of a StatefulSet before its pods run, expands them, and deletes the volumes with them", async () => {
    await using on = await cluster();
    const { client, until } = on;
    await client.create(StorageClass, { metadata: { name: "fast" }, provisioner: "example.com/any", allowVolumeExpansion: true });
    const request = {
      accessModes: ["ReadWriteOnce" as const],
      resources: { requests: { storage: "1Gi" } },
      storageClassName: "fast",
    };
    const containers = [{ name: "main", image: "db:1", volumeMounts: [{ name: "data", mountPath: "/data" }] }];
    await client.create(StatefulSet, {
      metadata: { namespace, name: "db" },
      spec: {
        ...{ replicas: 1, serviceName: "db", selector, template: { metadata: { labels }, spec: { containers } } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: request }],
      },
    });
    await until(
      () => podsOf(client),
      ([pod]) => pod?.status?.phase === "Running",
    );
    const claim = { namespace, name: "data-db-0" };
    expect((await client.get(PersistentVolumeClaim, claim)).status).toMatchObject({
      phase: "Bound",
      capacity: { storage: "1Gi" },
    });
    const larger = { spec: { resources: { requests: { storage: "3Gi" } } } };
    await client.patch(PersistentVolumeClaim, claim, { type: "merge", body: larger });
    await until(
      () => client.get(PersistentVolumeClaim, claim),
      ({ status }) => status?.capacity?.storage === "3Gi",
    );
    await client.delete(StatefulSet, { namespace, name: "db" });
    await until(
      () => client.list(PersistentVolume),
      ({ items }) => items.length === 0,
    );
  });

  it("does not schedule a pod with an unbound claim, and reports why", async () => {
    await using on = await cluster();
    const { client, until } = on;
    const data = { namespace, name: "data" };
    const spec = {
      accessModes: ["ReadWriteOnce" as const],
      resources: { requests: { storage: "1Gi" } },
      storageClassName: "none",
    };
    await client.create(PersistentVolumeClaim, { metadata: data, spec });
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    await client.create(Pod, {
      metadata: { namespace, name: "waits" },
      spec: { volumes, containers: [{ name: "main", image: "web:1" }] },
    });
    const waiting = await until(
      () => client.get(Pod, { namespace, name: "waits" }),
      ({ status }) => hasCondition(status?.conditions, "PodScheduled", "False"),
    );
    expect(waiting.status?.conditions?.[0]?.message).toContain("pod has unbound immediate PersistentVolumeClaims");
    await client.create(StorageClass, { metadata: { name: "none" }, provisioner: "example.com/any" });
    await until(
      () => client.get(Pod, { namespace, name: "waits" }),
      ({ status }) => status?.phase === "Running",
    );
  });

  it("taints a node without power, and evicts its pods after five minutes", async () => {
    await using on = await cluster();
    const web = { namespace, name: "web" };
    await on.client.create(Deployment, { metadata: web, spec: { replicas: 2, selector, template: template() } });
    const ready = () =>
      on.until(
        () => on.client.get(Deployment, web),
        ({ status }) => status?.availableReplicas === 2,
      );
    await ready();
    const [lost] = on.nodes.all;
    lost?.losePower();
    await on.until(
      () => on.client.get(Deployment, web),
      ({ status }) => status?.availableReplicas === 1,
    );
    await ready();
    const alive = (await podsOf(on.client)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(new Set(alive.map(({ spec }) => spec.nodeName))).not.toContain(lost?.name);
  });

  it("maintains disruption budgets and endpoints", async () => {
    await using on = await cluster();
    await on.client.create(Service, { metadata: { namespace, name: "web" }, spec: { selector: labels, ports: [{ port: 80 }] } });
    await on.client.create(PodDisruptionBudget, { metadata: { namespace, name: "web" }, spec: { maxUnavailable: 1, selector } });
    await on.client.create(Deployment, {
      metadata: { namespace, name: "web" },
      spec: { replicas: 2, selector, template: template() },
    });
    await on.until(
      () => on.client.get(PodDisruptionBudget, { namespace, name: "web" }),
      ({ status }) => status?.disruptionsAllowed === 1,
    );
    await on.until(
      () => on.client.list(EndpointSlice, { namespace, labelSelector: "kubernetes.io/service-name=web" }),
      ({ items }) => items.flatMap(({ endpoints }) => endpoints).filter(({ conditions }) => conditions?.ready).length === 2,
    );
  });

  it("fails a Job with unschedulable pods at its deadline", async () => {
    await using on = await cluster({ nodes: 1 });
    const huge = {
      containers: [{ name: "main", image: "web:1", resources: { requests: { memory: "900Gi" } } }],
      restartPolicy: "Never" as const,
    };
    await on.client.create(Job, {
      metadata: { namespace, name: "huge" },
      spec: { activeDeadlineSeconds: 60, template: { spec: huge } },
    });
    const [pod] = await on.until(
      () => podsOf(on.client),
      ([one]) => one?.status?.conditions?.some(({ reason }) => reason === "Unschedulable") === true,
    );
    expect(pod?.status?.conditions?.[0]?.message).toMatch(/^0\/1 nodes are available: 1 Insufficient memory\. preemption: /);
    await on.until(
      () => on.client.get(Job, { namespace, name: "huge" }),
      ({ status }) => status?.conditions?.some(({ type }) => type === "Failed") === true,
    );
  });
});

describe("deletion", () => {
  it("deletes dependents in the foreground or background, or orphans them", async () => {
    await using on = await cluster({ nodes: 0 });
    const { client, until } = on;
    const family = async (name: string, propagationPolicy: "Foreground" | "Background" | "Orphan") => {
      const owner = await client.create(ConfigMap, { metadata: { namespace, name } });
      const child = { namespace, name: `${name}-child` };
      await client.create(ConfigMap, { metadata: { ...child, ownerReferences: [ownerReferenceTo(owner, ConfigMap)] } });
      await client.delete(ConfigMap, { namespace, name }, { propagationPolicy });
      await until(
        () => client.find(ConfigMap, { namespace, name }),
        (found) => found === undefined,
      );
      return child;
    };
    const gone = (ref: { namespace: string; name: string }) =>
      until(
        () => client.find(ConfigMap, ref),
        (found) => found === undefined,
      );
    await gone(await family("first", "Foreground"));
    await gone(await family("after", "Background"));
    const orphan = await client.get(ConfigMap, await family("behind", "Orphan"));
    expect(orphan.metadata.ownerReferences).toBeUndefined();
  });

  it("empties a namespace before it removes it", async () => {
    await using on = await cluster({ nodes: 0 });
    const { client, until } = on;
    const name = "short-lived";
    await client.create(Namespace, { metadata: { name } });
    await until(
      () => client.find(ServiceAccount, { namespace: name, name: "default" }),
      (found) => found !== undefined,
    );
    const held = { namespace: name, name: "held" };
    await client.create(ConfigMap, { metadata: { ...held, finalizers: ["example.com/mine"] } });
    await client.delete(Namespace, { name });
    const stuck = (namespace: Namespace | undefined) =>
      namespace?.status?.conditions?.some(({ reason }) => reason === "SomeFinalizersRemain") === true;
    await until(() => client.find(Namespace, { name }), stuck);
    await client.patch(ConfigMap, held, { type: "merge", body: { metadata: { finalizers: null } } });
    await until(
      () => client.find(Namespace, { name }),
      (found) => found === undefined,
    );
  });
});
