import { beforeEach, describe, expect, it } from "vitest";
import { type Api, patches, podOf, startApi } from "./api.fixture.ts";

let api: Api;
const place = "/api/v1/namespaces/here";
const memory = (request: string, limit: string) => ({ requests: { memory: request }, limits: { memory: limit } });
const hard = { pods: "3", "requests.memory": "1Gi", "limits.memory": "2Gi", configmaps: "1" };
const used = { pods: "0", "requests.memory": "512Mi", "limits.memory": "1Gi", configmaps: "0" };

beforeEach(async () => {
  api = await startApi();
  await api.ask("POST", `${place}/resourcequotas`, { metadata: { name: "quota" }, spec: { hard } });
  await api.ask("PATCH", `${place}/resourcequotas/quota/status`, { status: { hard, used } }, patches.merge);
  return () => api[Symbol.asyncDispose]();
});

const create = (name: string, resources: object) => api.ask("POST", `${place}/pods`, podOf(name, resources as never));
const usage = async () => (await api.ask("GET", `${place}/resourcequotas/quota`)).body.status.used;

describe("a ResourceQuota", () => {
  it("adds an admitted request to its usage at once", async () => {
    expect((await create("a", memory("256Mi", "512Mi"))).status).toBe(201);
    expect(await usage()).toEqual({ pods: "1", "requests.memory": "768Mi", "limits.memory": "1536Mi", configmaps: "0" });
  });

  it("rejects a request that exceeds it, and reports requested, used, and limit", async () => {
    const { status, body } = await create("a", memory("768Mi", "2Gi"));
    expect(status).toBe(403);
    expect(body.message).toBe(
      'pods "a" is forbidden: exceeded quota: quota, requested: limits.memory=2Gi,requests.memory=768Mi, used: limits.memory=1Gi,requests.memory=512Mi, limited: limits.memory=2Gi,requests.memory=1Gi',
    );
  });

  it("does not admit two requests that both need the remainder", async () => {
    expect((await create("a", memory("256Mi", "1Gi"))).status).toBe(201);
    expect((await create("b", memory("256Mi", "1Mi"))).status).toBe(422);
    expect((await create("b", memory("1Mi", "1Mi"))).body.message).toContain("exceeded quota");
  });

  it("on memory requires every container to specify memory", async () => {
    const { body } = await create("a", {});
    expect(body.message).toBe(
      'pods "a" is forbidden: failed quota: quota: must specify limits.memory for: main; requests.memory for: main',
    );
  });

  it("counts objects", async () => {
    const make = (name: string) => api.ask("POST", `${place}/configmaps`, { metadata: { name } });
    expect((await make("a")).status).toBe(201);
    expect((await make("b")).body.message).toContain(
      "exceeded quota: quota, requested: configmaps=1, used: configmaps=1, limited: configmaps=1",
    );
  });

  it("counts only the increase of a resize", async () => {
    await create("a", memory("256Mi", "512Mi"));
    const resize = (resources: object) =>
      api.ask("PATCH", `${place}/pods/a/resize`, { spec: { containers: [{ name: "main", resources }] } }, patches.strategic);
    expect((await resize(memory("256Mi", "1Gi"))).status).toBe(200);
    expect((await usage())["limits.memory"]).toBe("2Gi");
    expect((await resize(memory("256Mi", "1025Mi"))).body.message).toContain(
      "requested: limits.memory=1Mi, used: limits.memory=2Gi",
    );
  });

  it("does not change its usage for a dry run", async () => {
    await api.ask("POST", `${place}/pods?dryRun=All`, podOf("a", memory("256Mi", "512Mi")));
    expect(await usage()).toEqual(used);
  });

  it("without a usage status limits nothing", async () => {
    await api.ask("PATCH", `${place}/resourcequotas/quota/status`, { status: { hard: null, used: null } }, patches.merge);
    expect((await create("a", memory("8Gi", "8Gi"))).status).toBe(201);
  });
});
