// Admission by LimitRange and ResourceQuota.
import { describe, expect, it } from "vitest";
import { ConfigMap, container, LimitRange, memory, Pod, pod, ResourceQuota } from "./kinds.ts";
import { at, refusal, world } from "./world.ts";

const here = world();

/** Creates a namespace with a LimitRange. */
async function ranged(limit: object): Promise<string> {
  const namespace = await here.cluster.namespace();
  await here.make(LimitRange, { metadata: { namespace }, spec: { limits: [{ type: "Container", ...limit }] } });
  return namespace;
}

/** Creates a namespace with a ResourceQuota and waits for its first status. */
async function rationed(hard: object): Promise<string> {
  const namespace = await here.cluster.namespace();
  const quota = await here.make(ResourceQuota, { metadata: { namespace, name: "quota" }, spec: { hard } });
  await here.cluster.eventually(
    () => here.client.get(ResourceQuota, at(quota)),
    ({ status }) => status?.used !== undefined,
  );
  return namespace;
}

const sized = (namespace: string, resources: object = {}) =>
  here.make(Pod, pod({ metadata: { namespace }, spec: { containers: [container({ resources })] } }));

describe("LimitRange", () => {
  it("sets defaults in containers and records them in an annotation", async () => {
    const namespace = await ranged({ default: { memory: "128Mi" }, defaultRequest: { memory: "64Mi" } });
    const made = await here.cluster.eventually(
      () => sized(namespace),
      (one) => one.spec.containers[0].resources.limits !== undefined,
    );
    expect(made.spec.containers[0].resources).toEqual(memory("64Mi", "128Mi"));
    expect(made.metadata.annotations).toEqual({
      "kubernetes.io/limit-ranger": "LimitRanger plugin set: memory request for container main; memory limit for container main",
    });
    expect(made.status.qosClass).toBe("Burstable");
  });

  it.each([
    {
      what: "more than its maximum",
      limit: { max: { memory: "100Mi" } },
      resources: memory("64Mi", "128Mi"),
      says: "maximum memory usage per Container is 100Mi, but limit is 128Mi",
    },
    {
      what: "less than its minimum",
      limit: { min: { memory: "100Mi" } },
      resources: memory("64Mi", "128Mi"),
      says: "minimum memory usage per Container is 100Mi, but request is 64Mi",
    },
    {
      what: "a limit too far above the request",
      limit: { maxLimitRequestRatio: { memory: "1" } },
      resources: memory("64Mi", "128Mi"),
      says: "memory max limit to request ratio per Container is 1, but provided ratio is 2.000000",
    },
  ])("rejects $what", async ({ limit, resources, says }) => {
    const namespace = await ranged(limit);
    const refused = await here.cluster.eventually(
      () => refusal(sized(namespace, resources)),
      () => true,
    );
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toContain(says);
  });

  it("uses its maximum as the default limit", async () => {
    const namespace = await here.cluster.namespace();
    const made = await here.make(LimitRange, {
      metadata: { namespace },
      spec: { limits: [{ type: "Container", max: { memory: "1Gi" } }] },
    });
    expect(made.spec.limits[0]).toMatchObject({ default: { memory: "1Gi" }, defaultRequest: { memory: "1Gi" } });
  });
});

describe("ResourceQuota", () => {
  it("rejects a pod that exceeds it and reports the usage", async () => {
    const namespace = await rationed({ pods: "1" });
    await sized(namespace);
    const refused = await refusal(here.make(Pod, pod({ metadata: { namespace, name: "second" } })));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toBe(
      'pods "second" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=1, limited: pods=1',
    );
  });

  it("for memory rejects a pod without a memory limit", async () => {
    const namespace = await rationed({ "limits.memory": "1Gi" });
    const refused = await refusal(here.make(Pod, pod({ metadata: { namespace, name: "vague" } })));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toBe('pods "vague" is forbidden: failed quota: quota: must specify limits.memory for: main');
  });

  it("reports the usage in its status", async () => {
    const namespace = await rationed({ "requests.memory": "1Gi", pods: "5" });
    await sized(namespace, memory("64Mi", "128Mi"));
    const quota = await here.client.get(ResourceQuota, { namespace, name: "quota" });
    expect(quota.status).toEqual({
      hard: { "requests.memory": "1Gi", pods: "5" },
      used: { "requests.memory": "64Mi", pods: "1" },
    });
  });

  it("releases the usage of deleted pods", async () => {
    const namespace = await rationed({ pods: "1" });
    const made = await sized(namespace);
    await here.client.delete(Pod, at(made));
    await here.cluster.eventually(
      () => here.client.get(ResourceQuota, { namespace, name: "quota" }),
      ({ status }) => status.used.pods === "0",
    );
    await sized(namespace);
  });

  it("counts objects of a kind", async () => {
    const namespace = await rationed({ "count/configmaps": "2" });
    await here.cluster.eventually(
      () => refusal(here.make(ConfigMap, { metadata: { namespace } })),
      ({ said }) =>
        said.includes(
          "exceeded quota: quota, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2",
        ),
    );
  });

  it("does not count a dry run", async () => {
    const namespace = await rationed({ pods: "1" });
    await here.client.create(Pod, { ...pod(), metadata: { namespace, name: "tried" } }, { dryRun: true });
    await sized(namespace);
  });
});
