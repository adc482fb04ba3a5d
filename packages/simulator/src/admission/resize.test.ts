import { beforeAll, describe, expect, it } from "vitest";
import { type Api, patches, podOf, startApi } from "./api.fixture.ts";

let api: Api;
let count = 0;
const pods = "/api/v1/namespaces/here/pods";
const memory = (request: string, limit: string) => ({ requests: { memory: request }, limits: { memory: limit } });

beforeAll(async () => {
  api = await startApi();
  await api.ask("POST", "/api/v1/nodes", { metadata: { name: "small" } });
  const status = { capacity: { cpu: "2", memory: "4Gi" }, allocatable: { cpu: "2", memory: "4Gi" } };
  await api.ask("PATCH", "/api/v1/nodes/small/status", { status }, patches.merge);
  return () => api[Symbol.asyncDispose]();
});

async function made(resources: object = memory("64Mi", "128Mi"), more: object = {}): Promise<string> {
  count += 1;
  const { body } = await api.ask("POST", pods, podOf(`p${count}`, resources as never, more as never));
  return body.metadata.name;
}

const resize = (name: string, resources: object | null, more: object = {}) =>
  api.ask("PATCH", `${pods}/${name}/resize`, { spec: { containers: [{ name: "main", resources }] }, ...more }, patches.strategic);

describe("a resize", () => {
  it("changes only resources", async () => {
    const { status, body } = await resize(await made(), memory("96Mi", "256Mi"), { metadata: { labels: { a: "b" } } });
    expect(status).toBe(200);
    expect(body.spec.containers[0].resources).toEqual(memory("96Mi", "256Mi"));
    expect(body.metadata).toMatchObject({ generation: 2 });
    expect(body.metadata).not.toHaveProperty("labels");
  });

  it.each([
    {
      what: "changes the QoS class of the pod",
      to: { requests: { memory: "128Mi", cpu: "1" }, limits: { memory: "128Mi", cpu: "1" } },
      says: 'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    },
    {
      what: "removes a limit",
      to: { limits: { memory: null } },
      says: "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
    },
    {
      what: "changes a resource other than CPU or memory",
      to: { requests: { "ephemeral-storage": "1Gi" } },
      says: "spec: Forbidden: only cpu and memory resources are mutable",
    },
  ])("that $what is rejected", async ({ to, says }) => {
    const { status, body } = await resize(await made(), to);
    expect(status).toBe(422);
    expect(body.message).toContain(says);
  });

  it("cannot add a container", async () => {
    const patch = { spec: { containers: [{ name: "other", image: "x" }] } };
    const { body } = await api.ask("PATCH", `${pods}/${await made()}/resize`, patch, patches.strategic);
    expect(body.message).toContain("spec.containers: Forbidden: containers may not be added or removed on resize");
  });

  it("with a different UID or an outdated resourceVersion is rejected", async () => {
    const name = await made();
    expect((await resize(name, memory("64Mi", "256Mi"), { metadata: { uid: "x" } })).status).toBe(422);
    expect((await resize(name, memory("64Mi", "256Mi"), { metadata: { resourceVersion: "1" } })).status).toBe(409);
  });

  it("above the capacity of the node is rejected with a machine-readable cause", async () => {
    const name = await made({ ...memory("64Mi", "128Mi") }, { nodeName: "small" });
    const { status, body } = await resize(name, memory("5Gi", "6Gi"));
    expect(status).toBe(403);
    expect(body.message).toContain(
      "node didn't have enough allocatable resources: memory, requested: 5368709120, allocatable: 4294967296",
    );
    expect(body.details.causes).toEqual([{ reason: "NodeCapacity" }]);
  });

  it("of only a limit is not compared with the node", async () => {
    const name = await made({ ...memory("64Mi", "128Mi") }, { nodeName: "small" });
    expect((await resize(name, { limits: { memory: "900Gi" } })).status).toBe(200);
  });
});
