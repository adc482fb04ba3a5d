// The doors beside the main one: status, scale, binding, eviction.
import { evict } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment, deployment, Pod, PodDisruptionBudget, pod, StatefulSet } from "./kinds.ts";
import { at, type Loose, merge, refusal, world } from "./world.ts";

const here = world();
const pods = (name = "") => `/api/v1/namespaces/${here.namespace}/pods${name && `/${name}`}`;
const running = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
const statusOf = { subresource: "status" } as const;

describe("status", () => {
  it("is left out of a creation", async () => {
    const made = await here.make(Deployment, { ...deployment(), status: { replicas: 3 } });
    expect(made.status).toEqual({});
  });

  it("of a new pod is Pending, with its class", async () => {
    const made = await here.make(Pod, { ...pod(), status: { phase: "Running" } });
    expect(made.status).toEqual({ phase: "Pending", qosClass: "BestEffort" });
  });

  it("is left alone by the main door", async () => {
    const made = await here.make(Pod, pod());
    const changed = await here.client.update(Pod, { ...made, status: { phase: "Running" } });
    expect(changed).toEqual(made);
  });

  it("leaves the spec alone at its own door", async () => {
    const made = await here.make(Pod, pod());
    const both = { ...made, spec: { ...made.spec, activeDeadlineSeconds: 5 }, status: { ...made.status, message: "well" } };
    const changed = await here.client.update(Pod, both, statusOf);
    expect(changed).toMatchObject({ spec: made.spec, status: { phase: "Pending", message: "well" } });
  });

  it("leaves labels alone at its own door", async () => {
    const made = await here.make(Deployment, deployment());
    const changed = await here.client.patch(
      Deployment,
      at(made),
      merge({ metadata: { labels: { a: "b" } }, status: { replicas: 1 } }),
      statusOf,
    );
    expect(changed.metadata.labels).toBeUndefined();
  });

  it("can be applied", async () => {
    const made = await here.make(Pod, pod());
    const { name, namespace } = made.metadata;
    const object = {
      metadata: { name, namespace: namespace ?? "" },
      status: { conditions: [{ type: "example.test/Fed", status: "True" }] },
    };
    const changed = await here.client.apply(Pod, object, { fieldManager: "mine", ...statusOf });
    expect(changed.status.conditions).toMatchObject([{ type: "example.test/Fed", status: "True" }]);
  });

  it("is read at its own door as the whole object", async () => {
    const made = await here.make(Pod, pod());
    expect(await here.client.get(Pod, at(made), statusOf)).toEqual(made);
  });

  it("with an old version is a conflict", async () => {
    const made = await here.make(Pod, pod());
    await here.client.patch(Pod, at(made), merge({ metadata: { labels: { a: "b" } } }));
    const refused = await refusal(here.client.update(Pod, { ...made, ...running }, statusOf));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("does not exist for a config map", async () => {
    const made = await here.make(ConfigMap);
    const refused = await refusal(here.client.get(ConfigMap, at(made), statusOf));
    expect(refused).toMatchObject({ status: 404, said: "the server could not find the requested resource" });
  });
});

describe("scale", () => {
  const scaleOf = { subresource: "scale" } as const;

  it("shows how many are wanted, how many there are, and the selector as text", async () => {
    const made = await here.make(Deployment, deployment({ spec: { paused: true } }));
    const scale = await here.client.get(Deployment, at(made), scaleOf);
    expect(scale).toMatchObject({
      ...{ apiVersion: "autoscaling/v1", kind: "Scale" },
      metadata: { name: made.metadata.name, uid: made.metadata.uid },
      status: { replicas: 0, selector: "app=x" },
    });
    expect(scale.spec).toEqual({});
  });

  it("changes the number, and the generation with it", async () => {
    const made = await here.make(StatefulSet, deployment());
    const scaled = await here.client.patch(StatefulSet, at(made), merge({ spec: { replicas: 2 } }), scaleOf);
    expect(scaled).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });
    expect(await here.client.get(StatefulSet, at(made))).toMatchObject({ spec: { replicas: 2 }, metadata: { generation: 2 } });
    await here.client.delete(StatefulSet, at(made));
  });

  it("with an old version is a conflict", async () => {
    const made = await here.make(Deployment, deployment({ spec: { paused: true } }));
    const scale = await here.client.get(Deployment, at(made), scaleOf);
    await here.client.patch(Deployment, at(made), merge({ metadata: { labels: { a: "b" } } }));
    const refused = await refusal(here.client.update(Deployment, { ...scale, spec: { replicas: 1 } }, scaleOf));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("cannot be negative", async () => {
    const made = await here.make(Deployment, deployment());
    const refused = await refusal(here.client.patch(Deployment, at(made), merge({ spec: { replicas: -1 } }), scaleOf));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ field: "spec.replicas" }]);
  });
});

describe("binding", () => {
  const bind = (name: string, node: string) =>
    here.ask("POST", `${pods(name)}/binding`, {
      body: { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { apiVersion: "v1", kind: "Node", name: node } },
    });

  it("gives a pod its node, and says that it is scheduled", async () => {
    const { name } = (await here.make(Pod, pod())).metadata;
    expect(await bind(name, "somewhere")).toMatchObject({ kind: "Status", status: "Success", code: 201 });
    const bound = await here.client.get(Pod, { namespace: here.namespace, name });
    expect(bound.spec.nodeName).toBe("somewhere");
    expect(bound.status.conditions).toMatchObject([{ type: "PodScheduled", status: "True" }]);
    await here.client.delete(Pod, at(bound), { gracePeriodSeconds: 0 });
  });

  it("of a pod that has a node is a conflict", async () => {
    const { name } = (await here.make(Pod, pod())).metadata;
    await bind(name, "somewhere");
    const refused = await refusal(bind(name, "elsewhere"));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
    expect(refused.said).toBe(
      `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} is already assigned to node "somewhere"`,
    );
    await here.client.delete(Pod, { namespace: here.namespace, name }, { gracePeriodSeconds: 0 });
  });

  it("is the only way to a node: the main door refuses", async () => {
    const made = await here.make(Pod, pod());
    const refused = await refusal(here.client.patch(Pod, at(made), merge({ spec: { nodeName: "somewhere" } })));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
  });
});

describe("eviction", () => {
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

  it("of a pod that nobody protects deletes it", async () => {
    const made = await here.make(Pod, pod());
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect(here.status).toBe(201);
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("of a pod with a node gives it its grace", async () => {
    const made = await healthy(here.name());
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect((await here.client.get(Pod, at(made))).metadata.deletionGracePeriodSeconds).toBe(30);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("that would break a budget is refused, later perhaps not", async () => {
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

  it("within a budget is granted, and counted", async () => {
    const app = here.name();
    const made = await healthy(app);
    const protector = await budget(app, { maxUnavailable: "100%" });
    // A percentage needs a controller of the pods to count by; without one nothing may go.
    await here.client.patch(PodDisruptionBudget, at(protector), merge({ spec: { maxUnavailable: null, minAvailable: 0 } }));
    await here.cluster.eventually(
      () => here.client.get(PodDisruptionBudget, at(protector)),
      ({ status }) => status?.disruptionsAllowed === 1,
    );
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect((await here.client.get(Pod, at(made))).metadata.deletionTimestamp).toBeTruthy();
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("of a pod that never ran needs nobody's leave", async () => {
    const app = here.name();
    const made = await here.make(Pod, pod({ metadata: { labels: { app } } }));
    await seen(await budget(app, { minAvailable: 1 }), 0, 0);
    await evict(here.client, { namespace: here.namespace, name: made.metadata.name });
    expect(await here.client.find(Pod, at(made))).toBeUndefined();
  });

  it("under two budgets is an error", async () => {
    const app = here.name();
    const made = await healthy(app);
    await budget(app, { minAvailable: 0 });
    await seen(await budget(app, { minAvailable: 0 }), 1);
    const refused = await refusal(evict(here.client, { namespace: here.namespace, name: made.metadata.name }));
    expect(refused).toMatchObject({ status: 500 });
    expect(refused.said).toContain("This pod has more than one PodDisruptionBudget");
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("of another pod of the name is a conflict", async () => {
    const made = await here.make(Pod, pod());
    const uid = "00000000-0000-4000-8000-000000000000";
    const refused = await refusal(evict(here.client, { namespace: here.namespace, name: made.metadata.name }, { uid }));
    expect(refused).toMatchObject({ status: 409, reason: "Conflict" });
  });

  it("of what is not there is refused", async () => {
    const refused = await refusal(evict(here.client, { namespace: here.namespace, name: "missing" }));
    expect(refused).toMatchObject({ status: 404, said: 'pods "missing" not found' });
  });
});
