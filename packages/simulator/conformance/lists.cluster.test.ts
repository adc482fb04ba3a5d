// Lists: order, pagination, selectors and resourceVersion.
import { beforeAll, describe, expect, it } from "vitest";
import { ConfigMap, Node, Pod, pod, Secret } from "./kinds.ts";
import { refusal, world } from "./world.ts";

const here = world();
const label = { suite: "lists" };
const mine = "suite=lists";
const path = () => `/api/v1/namespaces/${here.namespace}/configmaps`;
const tiers: Readonly<Record<string, Record<string, string>>> = {
  "l-a": { tier: "web", size: "1" },
  "l-b": { tier: "db" },
  "l-c": { tier: "web" },
  "l-d": {},
  "l-e": { tier: "" },
};

const names = async (options: object) =>
  (await here.client.list(ConfigMap, { namespace: here.namespace, ...options })).items.map(({ metadata }) => metadata.name);

beforeAll(async () => {
  for (const name of Object.keys(tiers).toReversed())
    await here.make(ConfigMap, { metadata: { name, labels: { ...label, ...tiers[name] } } });
});

describe("a list", () => {
  it("has the list kind and the current resourceVersion", async () => {
    const list = await here.ask("GET", path());
    expect(list).toMatchObject({ apiVersion: "v1", kind: "ConfigMapList" });
    expect(list.metadata?.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(list.items[0]).not.toHaveProperty("kind");
  });

  it("is sorted by name, not by creation time", async () => {
    expect(await names({ labelSelector: mine })).toEqual(["l-a", "l-b", "l-c", "l-d", "l-e"]);
  });

  it("is empty if there are no objects, and not an error", async () => {
    const list = await here.ask("GET", "/api/v1/namespaces/nowhere/configmaps");
    expect(list.items).toEqual([]);
  });

  it("covers all namespaces if the path has none", async () => {
    const list = await here.client.list(ConfigMap, { labelSelector: mine });
    expect(new Set(list.items.map(({ metadata }) => metadata.namespace))).toContain(here.namespace);
  });

  it("has the resourceVersion of the last write or a later one", async () => {
    const made = await here.make(Secret);
    const list = await here.client.list(ConfigMap, { namespace: here.namespace });
    expect(BigInt(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(BigInt(made.metadata.resourceVersion));
  });
});

describe("pagination", () => {
  it("limits the page and returns the number of remaining objects", async () => {
    const all = await here.client.list(ConfigMap, { namespace: here.namespace });
    const page = await here.client.list(ConfigMap, { namespace: here.namespace, limit: 2 });
    expect(page.items).toHaveLength(2);
    expect(page.metadata.continue).toBeTruthy();
    expect(page.metadata.remainingItemCount).toBe(all.items.length - 2);
  });

  it("returns the whole list over all pages", async () => {
    const all = await names({});
    const paged = await Array.fromAsync(
      here.client.listAll(ConfigMap, { namespace: here.namespace, limit: 2 }),
      (one) => one.metadata.name,
    );
    expect(paged).toEqual(all);
  });

  it("returns the state at the time of the first page", async () => {
    const first = await here.client.list(ConfigMap, { namespace: here.namespace, limit: 1 });
    const late = await here.make(ConfigMap, { metadata: { name: "zz-late" } });
    const next = await here.client.list(ConfigMap, { namespace: here.namespace, limit: 100, continue: first.metadata.continue });
    expect(next.items.map(({ metadata }) => metadata.name)).not.toContain(late.metadata.name);
    expect(next.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await here.client.delete(ConfigMap, { namespace: here.namespace, name: "zz-late" });
  });

  it("returns no remaining count with a selector", async () => {
    const page = await here.client.list(ConfigMap, { namespace: here.namespace, limit: 2, labelSelector: mine });
    expect(page.items).toHaveLength(2);
    expect(page.metadata.continue).toBeTruthy();
    expect(page.metadata.remainingItemCount).toBeUndefined();
  });

  it("returns no continue token on the last page", async () => {
    const page = await here.client.list(ConfigMap, { namespace: here.namespace, limit: 1000 });
    expect(page.metadata.continue).toBeUndefined();
  });

  it("rejects an invalid continue token", async () => {
    const refused = await refusal(here.client.list(ConfigMap, { namespace: here.namespace, continue: "nonsense" }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toMatch(/^invalid continue token: continue key is not valid/);
  });

  it("rejects a continue token together with a resourceVersion", async () => {
    const first = await here.client.list(ConfigMap, { namespace: here.namespace, limit: 1 });
    const query = { limit: 1, continue: first.metadata.continue ?? "", resourceVersion: "1" };
    const refused = await refusal(here.ask("GET", path(), { query }));
    expect(refused.status).toBe(400);
    expect(refused.said).toBe("specifying resource version is not allowed when using continue");
  });

  it("returns the whole list for a negative limit", async () => {
    const list = await here.ask("GET", path(), { query: { limit: -1 } });
    expect(list.items).toHaveLength((await names({})).length);
  });
});

describe("a label selector", () => {
  it.each([
    { selector: "tier=web", found: ["l-a", "l-c"] },
    { selector: "tier==web", found: ["l-a", "l-c"] },
    { selector: "tier!=web", found: ["l-b", "l-d", "l-e"] },
    { selector: "tier", found: ["l-a", "l-b", "l-c", "l-e"] },
    { selector: "!tier", found: ["l-d"] },
    { selector: "tier in (web, db)", found: ["l-a", "l-b", "l-c"] },
    { selector: "tier notin (web)", found: ["l-b", "l-d", "l-e"] },
    { selector: "tier=", found: ["l-e"] },
    { selector: "size>0", found: ["l-a"] },
    { selector: "size<1", found: [] },
    { selector: "tier=web,size=1", found: ["l-a"] },
    { selector: "tier in ()", found: ["l-e"] },
  ])("$selector finds $found", async ({ selector, found }) => {
    expect(await names({ labelSelector: `${mine},${selector}` })).toEqual(found);
  });

  // The rest of the message depends on the parser.
  it.each(["tier in web", "=web", "tier=a b", "a=b=c", "a/b/c=d"])("%s is rejected", async (selector) => {
    expect(await refusal(names({ labelSelector: selector }))).toMatchObject({ status: 400, reason: "BadRequest" });
  });
});

describe("a field selector", () => {
  it.each([
    { selector: "metadata.name=l-b", found: ["l-b"] },
    { selector: "metadata.name==l-b", found: ["l-b"] },
    { selector: "metadata.name!=l-b", found: ["l-a", "l-c", "l-d", "l-e"] },
    { selector: "metadata.name=l-b,metadata.name=l-c", found: [] },
  ])("$selector finds $found", async ({ selector, found }) => {
    expect(await names({ fieldSelector: selector, labelSelector: mine })).toEqual(found);
  });

  it("for metadata.namespace works across all namespaces", async () => {
    const selectors = { fieldSelector: `metadata.namespace=${here.namespace}`, labelSelector: mine };
    const list = await here.client.list(ConfigMap, selectors);
    expect(list.items).toHaveLength(5);
  });

  it("for a field that the kind does not support is rejected", async () => {
    const refused = await refusal(names({ fieldSelector: "data.a=1" }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toBe('"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"');
  });

  it("finds Pods by node, phase and restart policy", async () => {
    const made = await here.make(Pod, pod({ spec: { restartPolicy: "Never" } }));
    const found = async (fieldSelector: string) =>
      (await here.client.list(Pod, { namespace: here.namespace, fieldSelector })).items.map(({ metadata }) => metadata.name);
    expect(await found("spec.nodeName=")).toContain(made.metadata.name);
    expect(await found("spec.nodeName=somewhere")).toEqual([]);
    expect(await found("status.phase=Pending")).toContain(made.metadata.name);
    expect(await found("status.phase!=Pending")).toEqual([]);
    expect(await found("spec.restartPolicy=Never")).toEqual([made.metadata.name]);
  });

  it("finds schedulable Nodes", async () => {
    const name = `lists-${here.namespace}`;
    await here.make(Node, { metadata: { name }, spec: { unschedulable: true } });
    const list = await here.client.list(Node, { fieldSelector: "spec.unschedulable=true" });
    expect(list.items.map(({ metadata }) => metadata.name)).toContain(name);
    await here.client.delete(Node, { name });
  });
});

describe("the resourceVersion of a list request", () => {
  it("with match Exact returns the state at that version", async () => {
    const { metadata } = await here.client.list(ConfigMap, { namespace: here.namespace });
    const late = await here.make(ConfigMap);
    const query = { resourceVersion: metadata.resourceVersion, resourceVersionMatch: "Exact" };
    const list = await here.ask("GET", path(), { query });
    expect(list.metadata?.resourceVersion).toBe(metadata.resourceVersion);
    expect(list.items.map((one: typeof late) => one.metadata.name)).not.toContain(late.metadata.name);
  });

  it("with match NotOlderThan returns that state or a later one", async () => {
    const made = await here.make(ConfigMap);
    const query = { resourceVersion: made.metadata.resourceVersion, resourceVersionMatch: "NotOlderThan" };
    const list = await here.ask("GET", path(), { query });
    expect(list.items.map((one: typeof made) => one.metadata.name)).toContain(made.metadata.name);
  });

  it("is rejected if it is not a number", async () => {
    const refused = await refusal(here.ask("GET", path(), { query: { resourceVersion: "soon" } }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toContain("Invalid value");
  });

  it("is required if resourceVersionMatch is given", async () => {
    const refused = await refusal(here.ask("GET", path(), { query: { resourceVersionMatch: "Exact" } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "resourceVersionMatch" }]);
  });

  it("is rejected if it is 0 with match Exact", async () => {
    const query = { resourceVersion: "0", resourceVersionMatch: "Exact" };
    const refused = await refusal(here.ask("GET", path(), { query }));
    expect(refused.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "resourceVersionMatch" }]);
  });
});
