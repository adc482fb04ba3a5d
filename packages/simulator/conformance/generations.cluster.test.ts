// Which writes increase metadata.generation.
import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment, deployment, Pod, PodDisruptionBudget, pod, Service } from "./kinds.ts";
import { at, merge, world } from "./world.ts";

const here = world();
const budget = { spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } } };

describe("the generation of a Deployment", () => {
  it.each([
    { change: "its spec", patch: { spec: { replicas: 1 } }, becomes: 2 },
    { change: "its template", patch: { spec: { template: { metadata: { labels: { app: "x", more: "y" } } } } }, becomes: 2 },
    { change: "its labels", patch: { metadata: { labels: { a: "b" } } }, becomes: 1 },
    { change: "its annotations", patch: { metadata: { annotations: { a: "b" } } }, becomes: 2 },
    { change: "nothing", patch: { spec: { replicas: 0 } }, becomes: 1 },
    { change: "its status in a write to the object", patch: { status: { replicas: 3 } }, becomes: 1 },
  ])("is $becomes after a change of $change", async ({ patch, becomes }) => {
    const made = await here.make(Deployment, deployment({ spec: { paused: true } }));
    expect((await here.client.patch(Deployment, at(made), merge(patch))).metadata.generation).toBe(becomes);
  });

  it("does not change with a write to status", async () => {
    const made = await here.make(Deployment, deployment());
    const patched = await here.client.patch(Deployment, at(made), merge({ status: { replicas: 3 } }), { subresource: "status" });
    expect(patched.metadata.generation).toBe(1);
  });

  it("cannot be set by the client", async () => {
    const made = await here.make(Deployment, deployment());
    const patched = await here.client.patch(Deployment, at(made), merge({ metadata: { generation: 9 } }));
    expect(patched.metadata.generation).toBe(1);
  });
});

describe("the generation of other kinds", () => {
  it("is 1 for a new Pod and changes with its spec", async () => {
    const made = await here.make(Pod, pod());
    expect(made.metadata.generation).toBe(1);
    const patched = await here.client.patch(Pod, at(made), merge({ spec: { activeDeadlineSeconds: 100 } }));
    expect(patched.metadata.generation).toBe(2);
  });

  it("changes with the spec of a PodDisruptionBudget", async () => {
    const made = await here.make(PodDisruptionBudget, budget);
    expect(made.metadata.generation).toBe(1);
    const patched = await here.client.patch(PodDisruptionBudget, at(made), merge({ spec: { minAvailable: 2 } }));
    expect(patched.metadata.generation).toBe(2);
  });

  it("does not exist for a ConfigMap", async () => {
    expect((await here.make(ConfigMap)).metadata.generation).toBeUndefined();
  });

  it("does not exist for a Service", async () => {
    expect((await here.make(Service, { spec: { ports: [{ port: 80 }] } })).metadata.generation).toBeUndefined();
  });
});
