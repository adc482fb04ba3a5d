// Tables, selectable fields and discovery, as kubectl uses them.
import { beforeAll, describe, expect, it } from "vitest";
import { define, definition } from "./definitions.ts";
import { ConfigMap, Deployment, deployment, Pod, pod } from "./kinds.ts";
import { at, type Loose, merge, world } from "./world.ts";

const here = world();
const accept = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const table = (path: string, query: Record<string, string> = {}) => here.ask("GET", path, { headers: accept, query });
const columns = ({ columnDefinitions }: Loose) => columnDefinitions.map(({ name }: { name: string }) => name);
const home = () => `/namespaces/${here.namespace}`;

const spec = { type: "object", properties: { size: { type: "integer" }, when: { type: "string", format: "date-time" } } };
const additionalPrinterColumns = [
  { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How large" },
  { name: "Label", type: "string", jsonPath: ".metadata.labels.a", priority: 1 },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];
const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const selectableFields = [{ jsonPath: ".spec.size" }];
const widgets = definition(
  "tables.memhog.test",
  { spec, status },
  { additionalPrinterColumns, selectableFields },
  { shortNames: ["tw"] },
);
const properties = {
  whole: { type: "integer" },
  part: { type: "number" },
  flag: { type: "boolean" },
  when: { type: "string", format: "date-time" },
  text: { type: "string" },
  list: { type: "array", items: { type: "string" } },
  map: { type: "object", additionalProperties: { type: "string" } },
};
const column = (type: string, path: string) => ({ name: `${type} ${path}`, type, jsonPath: `.spec.${path}` });
const columnsOfAllTypes = definition(
  "columns.memhog.test",
  { spec: { type: "object", properties } },
  {
    additionalPrinterColumns: [
      column("integer", "whole"),
      column("number", "part"),
      column("boolean", "flag"),
      column("date", "when"),
      column("string", "text"),
      column("string", "list[0]"),
      column("string", "list"),
      column("string", "map"),
      // Values that do not have the type of the column are not shown.
      column("integer", "text"),
      column("boolean", "whole"),
      column("date", "flag"),
    ],
  },
);
const custom = () => `/apis/tables.memhog.test/v1${home()}/widgets`;

beforeAll(async () => {
  await define(here, widgets);
  await define(here, columnsOfAllTypes);
});

describe("a Table", () => {
  it("of ConfigMaps shows the number of entries", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1", b: "2" } });
    const shown = await table(`/api/v1${home()}/configmaps/${made.metadata.name}`);
    expect(shown).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
    expect(columns(shown)).toEqual(["Name", "Data", "Age"]);
    expect(shown.rows[0].cells.slice(0, 2)).toEqual([made.metadata.name, 2]);
  });

  it("includes the metadata of every object", async () => {
    const made = await here.make(ConfigMap);
    const { rows } = await table(`/api/v1${home()}/configmaps/${made.metadata.name}`);
    expect(rows[0].object).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { uid: made.metadata.uid },
    });
  });

  it("includes whole objects or none, as requested", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const path = `/api/v1${home()}/configmaps/${made.metadata.name}`;
    expect((await table(path, { includeObject: "Object" })).rows[0].object).toMatchObject({
      kind: "ConfigMap",
      data: { a: "1" },
    });
    expect((await table(path, { includeObject: "None" })).rows[0].object).toBeNull();
  });

  it("of Pods shows readiness, status, restarts and age", async () => {
    const made = await here.make(Pod, pod());
    const shown = await table(`/api/v1${home()}/pods/${made.metadata.name}`);
    expect(columns(shown)).toEqual([
      "Name",
      "Ready",
      "Status",
      "Restarts",
      "Age",
      "IP",
      "Node",
      "Nominated Node",
      "Readiness Gates",
    ]);
    expect(shown.rows[0].cells.slice(0, 4)).toEqual([made.metadata.name, "0/1", "Pending", "0"]);
    expect(shown.rows[0].cells.slice(5)).toEqual(["<none>", "<none>", "<none>", "<none>"]);
  });

  it("of a Pod shows the reason of a terminated container", async () => {
    const made = await here.make(Pod, pod({ spec: { nodeName: "nowhere" } }));
    const containerStatuses = [
      {
        ...{ name: "main", image: "x", imageID: "", ready: false, restartCount: 2 },
        state: { terminated: { exitCode: 137, reason: "OOMKilled" } },
      },
    ];
    await here.client.patch(Pod, at(made), merge({ status: { phase: "Running", containerStatuses } }), { subresource: "status" });
    const shown = await table(`/api/v1${home()}/pods/${made.metadata.name}`);
    expect(shown.rows[0].cells.slice(1, 4)).toEqual(["0/1", "OOMKilled", "2"]);
    await here.client.delete(Pod, at(made), { gracePeriodSeconds: 0 });
  });

  it("of Deployments shows their progress", async () => {
    const made = await here.make(Deployment, deployment());
    const shown = await table(`/apis/apps/v1${home()}/deployments/${made.metadata.name}`);
    expect(columns(shown)).toEqual(["Name", "Ready", "Up-to-date", "Available", "Age", "Containers", "Images", "Selector"]);
    expect(shown.rows[0].cells.slice(0, 4)).toEqual([made.metadata.name, "0/0", 0, 0]);
  });

  it("of a list has a row for each object and the resourceVersion of the list", async () => {
    const labels = { rows: here.name() };
    for (let count = 0; count < 3; count += 1) await here.make(ConfigMap, { metadata: { labels } });
    const shown = await table(`/api/v1${home()}/configmaps`, { labelSelector: `rows=${labels.rows}` });
    expect(shown.rows).toHaveLength(3);
    expect(shown.metadata?.resourceVersion).toMatch(/^\d+$/);
  });

  it("of custom resources has the columns of the definition", async () => {
    const made = await here.make(widgets.kind, {
      metadata: { labels: { a: "b" } },
      spec: { size: 3 },
      status: { conditions: [{ type: "Ready", status: "False" }] },
    });
    const shown = await table(`${custom()}/${made.metadata.name}`);
    expect(columns(shown)).toEqual(["Name", "Size", "Label", "Ready", "Age"]);
    expect(shown.columnDefinitions[1]).toMatchObject({ type: "integer", description: "How large", priority: 0 });
    expect(shown.columnDefinitions[2]).toMatchObject({ priority: 1 });
    expect(shown.rows[0].cells.slice(0, 4)).toEqual([made.metadata.name, 3, "b", "False"]);
  });

  it("of custom resources shows only values of the column type", async () => {
    const made = await here.make(columnsOfAllTypes.kind, {
      spec: { whole: 3, part: 1.5, flag: true, when: "2020-01-01T00:00:00Z", text: "x", list: ["a", "b"], map: { k: "v" } },
    });
    const path = `/apis/columns.memhog.test/v1${home()}/widgets/${made.metadata.name}`;
    const { columnDefinitions, rows } = await table(path);
    const [, ...shown] = rows[0].cells as readonly unknown[];
    const age = String(shown[3]);
    expect(age).toMatch(/^\d+y(\d+d)?$/);
    expect(shown).toEqual([3, 1.5, true, age, "x", "a", '["a","b"]', '{"k":"v"}', null, null, null]);
    const types = columnDefinitions.map(({ type }: { type: string }) => type);
    expect(types.slice(1, 5)).toEqual(["integer", "number", "boolean", "date"]);
  });

  it("of custom resources leaves missing values empty", async () => {
    const made = await here.make(widgets.kind, {});
    const { rows } = await table(`${custom()}/${made.metadata.name}`);
    expect(rows[0].cells.slice(1, 4)).toEqual([null, null, null]);
  });
});

describe("a selectable field", () => {
  it("of a definition selects its objects", async () => {
    const made = await here.make(widgets.kind, { spec: { size: 77 } });
    const found = await here.client.list(widgets.kind, { namespace: here.namespace, fieldSelector: "spec.size=77" });
    expect(found.items.map(({ metadata }) => metadata.name)).toEqual([made.metadata.name]);
  });
});

describe("discovery", () => {
  it("returns the server version", async () => {
    expect(await here.ask("GET", "/version")).toMatchObject({ major: "1", gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/) });
  });

  it.each(["/healthz", "/livez", "/readyz"])("returns ok at %s", async (path) => {
    expect(await here.client.request({ path })).toBe("ok");
  });

  it("lists the resources of a group", async () => {
    const list = await here.ask("GET", "/apis/apps/v1");
    expect(list).toMatchObject({ kind: "APIResourceList", groupVersion: "apps/v1" });
    expect(list.resources).toContainEqual(
      expect.objectContaining({
        ...{
          name: "deployments",
          singularName: "deployment",
          namespaced: true,
          kind: "Deployment",
          shortNames: ["deploy"],
          categories: ["all"],
        },
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      }),
    );
    expect(list.resources).toContainEqual(
      expect.objectContaining({
        name: "deployments/scale",
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
        verbs: ["get", "patch", "update"],
      }),
    );
  });

  it("lists the core group, with pods/resize and pods/eviction", async () => {
    const { resources } = await here.ask("GET", "/api/v1");
    const names = resources.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["pods", "pods/status", "pods/resize", "pods/eviction", "pods/binding", "namespaces", "nodes"]),
    );
  });

  it("lists custom resources", async () => {
    const discovered = await here.cluster.eventually(
      () => here.ask("GET", "/apis/tables.memhog.test/v1"),
      ({ resources }) => resources?.length > 0,
    );
    expect(discovered.resources).toContainEqual(
      expect.objectContaining({ name: "widgets", kind: "Widget", shortNames: ["tw"], namespaced: true }),
    );
  });

  it("lists all groups with their preferred versions", async () => {
    const { groups } = await here.ask("GET", "/apis");
    expect(groups).toContainEqual(
      expect.objectContaining({ name: "apps", preferredVersion: { groupVersion: "apps/v1", version: "v1" } }),
    );
  });

  it("returns the aggregated document on request", async () => {
    const headers = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
    const all = await here.ask("GET", "/apis", { headers });
    expect(all.kind).toBe("APIGroupDiscoveryList");
    const apps = all.items.find(({ metadata }: Loose) => metadata?.name === "apps");
    const deployments = apps.versions[0].resources.find(({ resource }: { resource: string }) => resource === "deployments");
    expect(deployments).toMatchObject({
      responseKind: { kind: "Deployment" },
      scope: "Namespaced",
      singularResource: "deployment",
    });
    expect(deployments.subresources.map(({ subresource }: { subresource: string }) => subresource)).toEqual(
      expect.arrayContaining(["scale", "status"]),
    );
  });
});
