// pods/resize: what may be changed of a pod that is there, and what not.
import { describe, expect, it } from "vitest";
import { container, LimitRange, memory, Pod, pod, ResourceQuota } from "./kinds.ts";
import { at, type Loose, merge, refusal, strategic, world } from "./world.ts";

const here = world();
const door = { subresource: "resize" } as const;
const burstable = () => here.make(Pod, pod({ spec: { containers: [container({ resources: memory("64Mi", "128Mi") })] } }));
const resize = (made: Loose, resources: object, more: object = {}) =>
  here.client.patch(Pod, at(made), strategic({ spec: { containers: [{ name: "main", resources }] }, ...more }), door);

describe("resizing a pod", () => {
  it("changes its resources and its generation", async () => {
    const made = await burstable();
    const resized = await resize(made, memory("96Mi", "256Mi"));
    expect(resized.spec.containers[0].resources).toEqual(memory("96Mi", "256Mi"));
    expect(resized.metadata.generation).toBe(2);
  });

  it("merges containers by name and resources by their kind", async () => {
    const made = await burstable();
    const resized = await resize(made, { limits: { memory: "256Mi" } });
    expect(resized.spec.containers[0].resources).toEqual(memory("64Mi", "256Mi"));
  });

  it("works by server-side apply", async () => {
    const made = await burstable();
    const { name, namespace = "" } = made.metadata;
    const object = {
      metadata: { name, namespace },
      spec: { containers: [{ name: "main", resources: { limits: { memory: "256Mi" } } }] },
    };
    const resized = await here.client.apply(Pod, object, { fieldManager: "autoscaler", force: true, ...door });
    expect(resized.spec.containers[0].resources.limits).toEqual({ memory: "256Mi" });
  });

  it("by server-side apply against another manager is a conflict that names it", async () => {
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
    const refused = await refusal(here.client.apply(Pod, object, { fieldManager: "autoscaler", ...door }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toContain('"owner"');
  });

  it("with an old version in the patch is a conflict", async () => {
    const made = await burstable();
    const { resourceVersion } = made.metadata;
    await here.client.patch(Pod, at(made), merge({ metadata: { labels: { a: "b" } } }));
    const refused = await refusal(resize(made, memory("96Mi", "256Mi"), { metadata: { resourceVersion } }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("with the uid of another pod in the patch is refused", async () => {
    const uid = "00000000-0000-4000-8000-000000000000";
    const refused = await refusal(resize(await burstable(), memory("96Mi", "256Mi"), { metadata: { uid } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ field: "metadata.uid" }]);
  });

  it.each([
    {
      what: "becomes Guaranteed",
      from: memory("64Mi", "128Mi"),
      to: { requests: { cpu: "1", memory: "128Mi" }, limits: { cpu: "1", memory: "128Mi" } },
    },
    {
      what: "stops being Guaranteed",
      from: { requests: { cpu: "1", memory: "128Mi" }, limits: { cpu: "1", memory: "128Mi" } },
      to: { limits: { memory: "256Mi" } },
    },
    { what: "stops being BestEffort", from: {}, to: memory("64Mi", "128Mi") },
  ])("that $what is refused", async ({ from, to }) => {
    const made = await here.make(Pod, pod({ spec: { containers: [container({ resources: from })] } }));
    const refused = await refusal(resize(made, to));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.said).toContain("Pod QOS Class may not change as a result of resizing");
  });

  it("that removes a limit is refused", async () => {
    const refused = await refusal(resize(await burstable(), { limits: { memory: null } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.said).toContain("resource limits cannot be removed");
  });

  it("that removes a request makes it that of the limit", async () => {
    const resized = await resize(await burstable(), { requests: { memory: null } });
    expect(resized.spec.containers[0].resources).toEqual(memory("128Mi", "128Mi"));
  });

  it("with a request above the limit is refused", async () => {
    const refused = await refusal(resize(await burstable(), memory("256Mi", "128Mi")));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "spec.containers[0].resources.requests" }]);
    expect(refused.said).toContain("must be less than or equal to memory limit of 128Mi");
  });

  it("leaves images alone", async () => {
    const made = await burstable();
    const patch = strategic({ spec: { containers: [{ name: "main", image: "example.com/other" }] } });
    const same = await here.client.patch(Pod, at(made), patch, door);
    expect(same).toMatchObject({ spec: made.spec, metadata: { generation: 1 } });
  });

  it("adds no container", async () => {
    const patch = strategic({ spec: { containers: [container({ name: "second" })] } });
    expect(await refusal(here.client.patch(Pod, at(await burstable()), patch, door))).toMatchObject({ status: 422 });
  });

  it("leaves labels alone", async () => {
    const resized = await resize(await burstable(), memory("64Mi", "256Mi"), { metadata: { labels: { a: "b" } } });
    expect(resized.metadata.labels).toBeUndefined();
  });

  it("of what is not there is refused", async () => {
    const missing = { metadata: { namespace: here.namespace, name: "missing" } };
    expect(await refusal(resize(missing, memory("1Mi", "1Mi")))).toMatchObject({ status: 404, said: 'pods "missing" not found' });
  });

  it("beyond a LimitRange is refused", async () => {
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

  it("beyond a ResourceQuota is refused", async () => {
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
