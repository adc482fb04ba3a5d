// Subresources: status, scale, binding, eviction.
import { evict } from "@memhog/runtime/client";
import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment, deployment, Pod, PodDisruptionBudget, pod, StatefulSet } from "./kinds.ts";
import { at, type Loose, merge, refusal, world } from "./world.ts";

const here = world();
const pods = (name = "") => `/api/v1/namespaces/${here.namespace}/pods${name && `/${name}`}`;
const running = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
const statusOf = { subresource: "status" } as const;

describe("the status subresource", () => {
  it("is ignored in a create", async () => {
    const made = await here.make(Deployment, { ...deployment(), status: { replicas: 3 } });
    expect(made.status).toEqual({});
  });

  it("of a new Pod is Pending, with its QoS class", async () => {
    const made = await here.make(Pod, { ...pod(), status: { phase: "Running" } });
    expect(made.status).toEqual({ phase: "Pending", qosClass: "BestEffort" });
  });

  it("does not change with a write to the object", async () => {
    const made = await here.make(Pod, pod());
    const changed = await here.client.update(Pod, { ...made, status: { phase: "Running" } });
    expect(changed).toEqual(made);
  });

  it("does not change the spec when it is written", async () => {
    const made = await here.make(Pod, pod());
    const both = { ...made, spec: { ...made.spec, activeDeadlineSeconds: 5 }, status: { ...made.status, message: "well" } };
    const changed = await here.client.update(Pod, both, statusOf);
    expect(changed).toMatchObject({ spec: made.spec, status: { phase: "Pending", message: "well" } });
  });

  it("does not change labels when it is written", async () => {
    const made = await here.make(Deployment, deployment());
    const changed = await here.client.patch(
      Deployment,
      at(made),
      merge({ metadata: { labels: { a: "b" } }, status: { replicas: 1 } }),
      statusOf,
    );
    expect(changed.metadata.labels).toBeUndefined();
  });

  it("supports server-side apply", async () => {
    const made = await here.make(Pod, pod());
    const { name, namespace } = made.metadata;
    const object = {
      metadata: { name, namespace: namespace ?? "" },
      status: { conditions: [{ type: "example.test/Fed", status: "True" }] },
    };
    const changed = await here.client.apply(Pod, object, { fieldManager: "mine", ...statusOf });
    expect(changed.status.conditions).toMatchObject([{ type: "example.test/Fed", status: "True" }]);
  });

  it("returns the whole object", async () => {
    const made = await here.make(Pod, pod());
    expect(await here.client.get(Pod, at(made), statusOf)).toEqual(made);
  });

  it("rejects an outdated resourceVersion with a conflict", async () => {
    const made = await here.make(Pod, pod());
    await here.client.patch(Pod, at(made), merge({ metadata: { labels: { a: "b" } } }));
    const refused = await refusal(here.client.update(Pod, { ...made, ...running }, statusOf));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("does not exist for a ConfigMap", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(here.client.get(ConfigMap, at(made), statusOf));
    expect(refused).toMatchObject({ status: 404, said: "the server could not find the requested resource" });
  });
});

describe("the scale subresource", () => {
  const scaleOf = { subresource: "scale" } as const;

  it("returns desired and current replicas and the selector as a string", async () => {
    const made = await here.make(Deployment, deployment({ spec: { paused: true } }));
    const scale = await here.client.get(Deployment, at(made), scaleOf);
    expect(scale).toMatchObject({
      ...{ apiVersion: "autoscaling/v1", kind: "Scale" },
      metadata: { name: made.metadata.name, uid: made.metadata.uid },
      status: { replicas: 0, selector: "app=x" },
    });
    expect(scale.spec).toEqual({});
  });

  it("changes the replicas and the generation", async () => {
    const made = await here.make(StatefulSet, deployment());
    const scaled = await here.client.patch(StatefulSet, at(made), merge({ spec: { replicas: 2 } }), scaleOf);
    expect(scaled).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });
    expect(await here.client.get(StatefulSet, at(made))).toMatchObject({ spec: { replicas: 2 }, metadata: { generation: 2 } });
    await here.client.delete(StatefulSet, at(made));
  });

  it("rejects an outdated resourceVersion with a conflict", async () => {
    const made = await here.make(Deployment, deployment({ spec: { paused: true } }));
    const scale = await here.client.get(Deployment, at(made), scaleOf);
    await here.client.patch(Deployment, at(made), merge({ metadata: { labels: { a: "b" } } }));
    const refused = await refusal(here.client.update(Deployment, { ...scale, spec: { replicas: 1 } }, scaleOf));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("rejects negative replicas", async () => {
    const made = await here.make(Deployment, deployment());
    const refused = await refusal(here.client.patch(Deployment, at(made), merge({ spec: { replicas: -1 } }), scaleOf));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ field: "spec.replicas" }]);
  });
});

describe("the binding subresource", () => {
  const bind = (name: string, node: string) =>
    here.ask("POST", `${pods(name)}/binding`, {
      body: { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { apiVersion: "v1", kind: "Node", name: node } },
    });

  it("sets the node of a pod and its PodScheduled condition", async () => {
    const { name } = (await here.make(Pod, pod())).metadata;
    expect(await bind(name, "somewhere")).toMatchObject({ kind: "Status", status: "Success", code: 201 });
    const bound = await here.client.get(Pod, { namespace: here.namespace, name });
    expect(bound.spec.nodeName).toBe("somewhere");
    expect(bound.status.conditions).toMatchObject([{ type: "PodScheduled", status: "True" }]);
    await here.client.delete(Pod, at(bound), { gracePeriodSeconds: 0 });
  });

  it("rejects a pod that has a node with a conflict", async () => {
    const { name } = (await here.make(Pod, pod())).metadata;
    await bind(name, "somewhere");
    const refused = await refusal(bind(name, "elsewhere"));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toBe(
      `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} is already assigned to node "somewhere"`,
    );
    await here.client.delete(Pod, { namespace: here.namespace, name }, { gracePeriodSeconds: 0 });
  });

  it("is the only way to set the node: a write to the pod is rejected", async () => {
    const made = await here.make(Pod, pod());
    const refused = await refusal(here.client.patch(Pod, at(made), merge({ spec: { nodeName: "somewhere" } })));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
  });
});

describe("the eviction subresource", () => {
  const healthy = async (app: string) => {
    const made = await here.make(Pod, pod({ metadata: { labels: { app } }, spec: { nodeName: "nowhere" } }));
    await here.client.patch(Pod, at(made), merge(running), statusOf);
    return made;
  };
  const budget = (app: string, spec: object) =>
    here.make(PodDisruptionBudget, { spec: { selector: { matchLabels: { app } }, ...spec } });
  const seen = (made: Loose, allowed: number, currentHealthy = 1) =>
    here.cluster.eventually(
      () => here.client.get(PodDisruptionBudget, at(made)),
      ({ status }) => status?.disruptionsAllowed === allowed && status.currentHealthy === currentHealthy,
    );

  it("deletes a pod without a PodDisruptionBudget", async () => {
    const made = await here.make(Pod, pod());
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect(here.status).toBe(201);
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("gives a scheduled pod its grace period", async () => {
    const made = await healthy(here.name());
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect((await here.client.get(Pod, at(made))).metadata.deletionGracePeriodSeconds).toBe(30);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("returns 429 while a PodDisruptionBudget does not allow it", async () => {
    const app = here.name();
    const made = await healthy(app);
    const protector = await budget(app, { minAvailable: 1 });
    await seen(protector, 0);
    const refused = await refusal(evict(here.client, { namespace: here.namespace, name: made.metadata.name }));
    expect(refused).toMatchObject({ status: 429, reason: "TooManyRequests" });
    expect(refused.said).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
    expect(refused.causes).toEqual([
      {
        reason: "DisruptionBudget",
        message: `The disruption budget ${protector.metadata.name} needs 1 healthy pods and has 1 currently`,
      },
    ]);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("deletes a pod if its PodDisruptionBudget allows it", async () => {
    const app = here.name();
    const made = await healthy(app);
    const protector = await budget(app, { maxUnavailable: "100%" });
    // A percentage needs a controller that owns the pods; without one no disruption is allowed.
    await here.client.patch(PodDisruptionBudget, at(protector), merge({ spec: { maxUnavailable: null, minAvailable: 0 } }));
    await here.cluster.eventually(
      () => here.client.get(PodDisruptionBudget, at(protector)),
      ({ status }) => status?.disruptionsAllowed === 1,
    );
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect((await here.client.get(Pod, at(made))).metadata.deletionTimestamp).toBeTruthy();
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("ignores the PodDisruptionBudget of a pod that never ran", async () => {
    const app = here.name();
    const made = await here.make(Pod, pod({ metadata: { labels: { app } } }));
    await seen(await budget(app, { minAvailable: 1 }), 0, 0);
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("returns an error if two PodDisruptionBudgets match", async () => {
    const app = here.name();
    const made = await healthy(app);
    await budget(app, { minAvailable: 0 });
    await seen(await budget(app, { minAvailable: 0 }), 1);
    const refused = await refusal(evict(here.client, { namespace: here.namespace, name: made.metadata.name }));
    expect(refused).toMatchObject({ status: 500, reason: "" });
    expect(refused.said).toContain("This pod has more than one PodDisruptionBudget");
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("rejects a uid that differs from the pod's with a conflict", async () => {
    const made = await here.make(Pod, pod());
    const uid = "00000000-0000-4000-8000-000000000000";
    const refused = await refusal(evict(here.client, { namespace: here.namespace, name: made.metadata.name }, { uid }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("returns NotFound if the pod does not exist", async () => {
    const refused = await refusal(evict(here.client, { namespace: here.namespace, name: "missing" }));
    expect(refused).toMatchObject({ status: 404, said: 'pods "missing" not found' });
  });
});
