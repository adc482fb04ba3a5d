import { describe, expect, it } from "vitest";
import { Deployment } from "../objects/kinds/apps.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import { PodDisruptionBudget } from "../objects/kinds/policy.ts";
import { clusterWorld, failure } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import * as errors from "./errors.ts";
import { evict } from "./evict.ts";

const pod = (namespace: string, name: string): Pod => ({
  metadata: { namespace, name, labels: { app: "x" } },
  spec: {
    containers: [{ name: "main", image: "none", resources: { requests: { memory: "64Mi" }, limits: { memory: "128Mi" } } }],
  },
});
const deployment = (namespace: string, name: string): Deployment => ({
  metadata: { namespace, name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "none" }] } },
  },
});

describe("subresources", () => {
  it("status changes only the status", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    const created = await client.create(Deployment, deployment(namespace, "web"));
    // Without a version: its controller writes the status too, and may come first.
    const { resourceVersion: _, ...metadata } = created.metadata;
    const status = {
      ...created,
      metadata,
      spec: { ...created.spec, replicas: 5 },
      status: { observedGeneration: 1, replicas: 3 },
    };
    const updated = await client.update(Deployment, status as typeof created, { subresource: "status" });
    expect(updated).toMatchObject({ spec: { replicas: 0 }, status: { replicas: 3 } });
  });

  it("scale is read and written as a Scale", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    const ref = { namespace, name: "web" };
    await client.create(Deployment, deployment(namespace, "web"));
    const scale = await client.get(Deployment, ref, { subresource: "scale" });
    expect(scale).toMatchObject({ kind: "Scale", spec: {} });
    await client.update(Deployment, { ...scale, metadata: ref, spec: { replicas: 2 } }, { subresource: "scale" });
    expect((await client.get(Deployment, ref)).spec.replicas).toBe(2);
  });

  it("eviction removes a pod that nobody protects, and not one that somebody does", async () => {
    await using it = await clusterWorld();
    const { client, namespace } = it;
    const protectedPod = await client.create(Pod, {
      ...pod(namespace, "protected"),
      metadata: { namespace, name: "protected", labels: { app: "y" } },
    });
    const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await client.patch(
      Pod,
      { namespace, name: "protected" },
      { type: "merge", body: { status: running } },
      { subresource: "status" },
    );
    await client.create(PodDisruptionBudget, {
      metadata: { namespace, name: "all" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "y" } } },
    });
    await client.create(Pod, pod(namespace, "free"));
    const namesake = { uid: "00000000-0000-0000-0000-000000000000" };
    expect(await failure(evict(client, { namespace, name: "free" }, namesake))).toBeInstanceOf(errors.ConflictError);
    await evict(client, { namespace, name: "free" });
    await eventually(
      () => client.find(Pod, { namespace, name: "free" }),
      (found) => found === undefined || found.metadata.deletionTimestamp !== undefined,
    );
    const refused = await failure(evict(client, { namespace, name: "protected" }, { uid: protectedPod.metadata.uid }));
    expect(refused).toBeInstanceOf(errors.TooManyRequestsError);
    expect(refused).toMatchObject({ causes: [{ reason: "DisruptionBudget" }] });
  });

  it("discovery says which there are", async () => {
    await using it = await clusterWorld();
    const { discovery } = it.client;
    expect(await discovery.hasSubresource(Pod, "eviction")).toBe(true);
    expect(await discovery.hasSubresource(ConfigMap, "scale")).toBe(false);
    expect(await discovery.serves(Deployment)).toBe(true);
    expect(
      await discovery.serves(
        dynamicKind({ group: "apps", version: "v9", kind: "Deployment", plural: "deployments", namespaced: true }),
      ),
    ).toBe(false);
    expect(await discovery.kindOf({ apiVersion: "apps/v1", kind: "Deployment" })).toMatchObject({
      plural: "deployments",
      namespaced: true,
    });
    expect((await discovery.version()).minor).toBeGreaterThan(30);
  });
});
