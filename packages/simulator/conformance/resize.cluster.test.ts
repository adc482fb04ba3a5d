// pods/resize: which fields of a running pod can be changed.
import { describe, expect, it } from "vitest";
import { container, LimitRange, memory, Pod, pod, ResourceQuota } from "./kinds.ts";
import { at, type Loose, merge, refusal, strategic, world } from "./world.ts";

const here = world();
const resizeOptions = { subresource: "resize" } as const;
const burstable = () => here.make(Pod, pod({ spec: { containers: [container({ resources: memory("64Mi", "128Mi") })] } }));
const resize = (made: Loose, resources: object, more: object = {}) =>
  here.client.patch(Pod, at(made), strategic({ spec: { containers: [{ name: "main", resources }] }, ...more }), resizeOptions);

describe("resizing a Pod", () => {
  it("changes its resources and its generation", async () => {
    const made = await burstable();
    const resized = await resize(made, memory("96Mi", "256Mi"));
    expect(resized.spec.containers[0].resources).toEqual(memory("96Mi", "256Mi"));
    expect(resized.metadata.generation).toBe(2);
  });

  it("merges containers and resources by name", async () => {
    const made = await burstable();
    const resized = await resize(made, { limits: { memory: "256Mi" } });
    expect(resized.spec.containers[0].resources).toEqual(memory("64Mi", "256Mi"));
  });

  it("works with server-side apply", async () => {
    const made = await burstable();
    const { name, namespace = "" } = made.metadata;
    const object = {
      metadata: { name, namespace },
      spec: { containers: [{ name: "main", resources: { limits: { memory: "256Mi" } } }] },
    };
    const resized = await here.client.apply(Pod, object, { fieldManager: "autoscaler", force: true, ...resizeOptions });
    expect(resized.spec.containers[0].resources.limits).toEqual({ memory: "256Mi" });
  });

  it("with server-side apply conflicts with another manager and names it", async () => {
    const made = await here.client.create(
      Pod,
      {
        ...pod({ spec: { containers: [container({ resources: memory("64Mi", "128Mi") })] } }),
        metadata: { namespace: here.namespace, name: here.name() },
      },
      { fieldManager: "owner" },
    );
    const { name, namespace = "" } = made.metadata;
    const object = {
      metadata: { name, namespace },
      spec: { containers: [{ name: "main", resources: { limits: { memory: "256Mi" } } }] },
    };
    const refused = await refusal(here.client.apply(Pod, object, { fieldManager: "autoscaler", ...resizeOptions }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toContain('"owner"');
  });

  it("rejects an outdated resourceVersion in the patch with a conflict", async () => {
    const made = await burstable();
    const { resourceVersion } = made.metadata;
    await here.client.patch(Pod, at(made), merge({ metadata: { labels: { a: "b" } } }));
    const refused = await refusal(resize(made, memory("96Mi", "256Mi"), { metadata: { resourceVersion } }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("is rejected if the uid in the patch differs from the pod's", async () => {
    const uid = "00000000-0000-4000-8000-000000000000";
    const refused = await refusal(resize(await burstable(), memory("96Mi", "256Mi"), { metadata: { uid } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ field: "metadata.uid" }]);
  });

  it.each([
    {
      what: "makes the pod Guaranteed",
      from: memory("64Mi", "128Mi"),
      to: { requests: { cpu: "1", memory: "128Mi" }, limits: { cpu: "1", memory: "128Mi" } },
    },
    {
      what: "makes the pod no longer Guaranteed",
      from: { requests: { cpu: "1", memory: "128Mi" }, limits: { cpu: "1", memory: "128Mi" } },
      to: { limits: { memory: "256Mi" } },
    },
    { what: "makes the pod no longer BestEffort", from: {}, to: memory("64Mi", "128Mi") },
  ])("is rejected if it $what", async ({ from, to }) => {
    const made = await here.make(Pod, pod({ spec: { containers: [container({ resources: from })] } }));
    const refused = await refusal(resize(made, to));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.said).toContain("Pod QOS Class may not change as a result of resizing");
  });

  it("is rejected if it removes a limit", async () => {
    const refused = await refusal(resize(await burstable(), { limits: { memory: null } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.said).toContain("resource limits cannot be removed");
  });

  it("sets a removed request to the limit", async () => {
    const resized = await resize(await burstable(), { requests: { memory: null } });
    expect(resized.spec.containers[0].resources).toEqual(memory("128Mi", "128Mi"));
  });

  it("is rejected if a request exceeds its limit", async () => {
    const refused = await refusal(resize(await burstable(), memory("256Mi", "128Mi")));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "spec.containers[0].resources.requests" }]);
    expect(refused.said).toContain("must be less than or equal to memory limit of 128Mi");
  });

  it("does not change images", async () => {
    const made = await burstable();
    const patch = strategic({ spec: { containers: [{ name: "main", image: "example.com/other" }] } });
    const same = await here.client.patch(Pod, at(made), patch, resizeOptions);
    expect(same).toMatchObject({ spec: made.spec, metadata: { generation: 1 } });
  });

  it("does not add containers", async () => {
    const patch = strategic({ spec: { containers: [container({ name: "second" })] } });
    expect(await refusal(here.client.patch(Pod, at(await burstable()), patch, resizeOptions))).toMatchObject({ status: 422 });
  });

  it("does not change labels", async () => {
    const resized = await resize(await burstable(), memory("64Mi", "256Mi"), { metadata: { labels: { a: "b" } } });
    expect(resized.metadata.labels).toBeUndefined();
  });

  it("returns NotFound if the pod does not exist", async () => {
    const missing = { metadata: { namespace: here.namespace, name: "missing" } };
    expect(await refusal(resize(missing, memory("1Mi", "1Mi")))).toMatchObject({ status: 404, said: 'pods "missing" not found' });
  });

  it("is rejected if it violates a LimitRange", async () => {
    const namespace = await here.cluster.namespace();
    const made = await here.make(Pod, {
      ...pod({ metadata: { namespace }, spec: { containers: [container({ resources: memory("64Mi", "128Mi") })] } }),
    });
    await here.make(LimitRange, { metadata: { namespace }, spec: { limits: [{ type: "Container", max: { memory: "200Mi" } }] } });
    const refused = await here.cluster.eventually(
      () => refusal(resize(made, memory("64Mi", "256Mi"))),
      () => true,
    );
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toContain("maximum memory usage per Container is 200Mi, but limit is 256Mi");
  });

  it("is rejected if it exceeds a ResourceQuota", async () => {
    const namespace = await here.cluster.namespace();
    const quota = await here.make(ResourceQuota, {
      metadata: { namespace, name: "quota" },
      spec: { hard: { "requests.memory": "100Mi" } },
    });
    await here.cluster.eventually(
      () => here.client.get(ResourceQuota, at(quota)),
      ({ status }) => status?.hard !== undefined,
    );
    const made = await here.make(Pod, {
      ...pod({ metadata: { namespace }, spec: { containers: [container({ resources: memory("64Mi", "128Mi") })] } }),
    });
    const refused = await refusal(resize(made, memory("128Mi", "128Mi")));
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.said).toContain(
      "exceeded quota: quota, requested: requests.memory=64Mi, used: requests.memory=64Mi, limited: requests.memory=100Mi",
    );
  });
});
