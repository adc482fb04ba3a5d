import { beforeAll, describe, expect, it } from "vitest";
import { type Api, patches, podOf, startApi } from "./api.fixture.ts";

let api: Api;
let count = 0;
const pods = "/api/v1/namespaces/here/pods";
const create = (resources: object = {}, more: object = {}) => {
  count += 1;
  return api.ask("POST", pods, podOf(`p${count}`, resources as never, more as never));
};

beforeAll(async () => {
  api = await startApi();
  const container = { type: "Container", default: { memory: "256Mi" }, defaultRequest: { memory: "128Mi", cpu: "100m" } };
  const bounds = { min: { memory: "32Mi" }, max: { memory: "1Gi" }, maxLimitRequestRatio: { memory: "4" } };
  const limits = [
    { ...container, ...bounds },
    { type: "Pod", max: { memory: "1536Mi" } },
  ];
  await api.ask("POST", "/api/v1/namespaces/here/limitranges", { metadata: { name: "limits" }, spec: { limits } });
  return () => api[Symbol.asyncDispose]();
});

describe("a LimitRange", () => {
  it("sets default resources on a container and records it in an annotation", async () => {
    const { body } = await create();
    expect(body.spec.containers[0].resources).toEqual({
      limits: { memory: "256Mi" },
      requests: { cpu: "100m", memory: "128Mi" },
    });
    expect(body.metadata.annotations).toEqual({
      "kubernetes.io/limit-ranger":
        "LimitRanger plugin set: cpu, memory request for container main; memory limit for container main",
    });
  });

  it("keeps the resources that a container specifies", async () => {
    const { body } = await create({ requests: { memory: "64Mi" }, limits: { memory: "64Mi" } });
    expect(body.spec.containers[0].resources).toEqual({ limits: { memory: "64Mi" }, requests: { cpu: "100m", memory: "64Mi" } });
  });

  it.each([
    {
      what: "a request below the minimum",
      resources: { limits: { memory: "16Mi" } },
      says: "minimum memory usage per Container is 32Mi, but request is 16Mi",
    },
    {
      what: "a limit above the maximum",
      resources: { limits: { memory: "2Gi" } },
      says: "maximum memory usage per Container is 1Gi, but limit is 2Gi",
    },
    {
      what: "a limit-to-request ratio above the maximum",
      resources: { requests: { memory: "100Mi" }, limits: { memory: "1Gi" } },
      says: "memory max limit to request ratio per Container is 4, but provided ratio is 10.240000",
    },
  ])("rejects $what", async ({ resources, says }) => {
    const { status, body } = await create(resources);
    expect(status).toBe(403);
    expect(body.message).toContain(`is forbidden: ${says.includes("minimum") ? says : ""}`);
    expect(body.message).toContain(says);
  });

  it("adds up the containers of a pod", async () => {
    const one = { image: "x", resources: { limits: { memory: "1Gi" } } };
    const { body } = await create(
      {},
      {
        containers: [
          { name: "a", ...one },
          { name: "b", ...one },
        ],
      },
    );
    expect(body.message).toContain("maximum memory usage per Pod is 1536Mi, but limit is 2Gi");
  });

  it("also applies to a resize", async () => {
    const { body: made } = await create({ limits: { memory: "64Mi" }, requests: { memory: "32Mi" } });
    const resources = { limits: { memory: "2Gi" }, requests: { memory: "1Gi" } };
    const patch = { spec: { containers: [{ name: "main", resources }] } };
    const { status, body } = await api.ask("PATCH", `${pods}/${made.metadata.name}/resize`, patch, patches.strategic);
    expect(status).toBe(403);
    expect(body.message).toContain("maximum memory usage per Container is 1Gi, but limit is 2Gi");
  });
});
