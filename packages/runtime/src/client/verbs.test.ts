import { describe, expect, it } from "vitest";
import { Deployment } from "../objects/kinds/apps.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { clientAnswering } from "../testing/answers.ts";
import { evict } from "./evict.ts";

const web = { namespace: "default", name: "web" };
const configMap = { metadata: web };

describe("a verb becomes a request", () => {
  const object = { metadata: { ...web, labels: { a: "b" } } };
  const typed = { apiVersion: "v1", kind: "ConfigMap", ...object };
  const path = "/api/v1/namespaces/default/configmaps";
  const one = `${path}/web`;
  // An object to those who want one, a list to those who want one.
  const { client, journal } = clientAnswering(() => ({ body: '{"metadata":{"resourceVersion":"1"},"items":[]}' }));

  it.each([
    { name: "get", run: () => client.get(ConfigMap, web), is: { method: "GET", path: one } },
    {
      name: "get of a subresource",
      run: () => client.get(Deployment, web, { subresource: "scale" }),
      is: { method: "GET", path: "/apis/apps/v1/namespaces/default/deployments/web/scale" },
    },
    {
      name: "list",
      run: () =>
        client.list(ConfigMap, { namespace: "default", labelSelector: "a=b", fieldSelector: "x=y", limit: 5, continue: "c" }),
      is: { path, query: { labelSelector: "a=b", fieldSelector: "x=y", limit: 5, continue: "c" } },
    },
    {
      name: "list everywhere, never with a resourceVersion",
      run: () => client.list(ConfigMap),
      is: { path: "/api/v1/configmaps", query: {} },
    },
    { name: "create", run: () => client.create(ConfigMap, object), is: { method: "POST", path, body: typed } },
    {
      name: "create with a generated name",
      run: () => client.create(ConfigMap, { metadata: { namespace: "default", generateName: "x-" } }),
      is: { method: "POST", path },
    },
    {
      name: "dry run with a field manager",
      run: () => client.create(ConfigMap, object, { dryRun: true, fieldManager: "me", fieldValidation: "Strict" }),
      is: { query: { dryRun: "All", fieldManager: "me", fieldValidation: "Strict" } },
    },
    { name: "update", run: () => client.update(ConfigMap, object), is: { method: "PUT", path: one, body: typed } },
    {
      name: "update of the status",
      run: () => client.update(ConfigMap, object, { subresource: "status" }),
      is: { method: "PUT", path: `${one}/status`, body: typed },
    },
    {
      name: "update of the scale",
      run: () => client.update(Deployment, { metadata: web, spec: { replicas: 3 } }, { subresource: "scale" }),
      is: { method: "PUT", body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: web, spec: { replicas: 3 } } },
    },
    {
      name: "patch",
      run: () => client.patch(ConfigMap, web, { type: "strategic", body: { spec: {} } }, { subresource: "resize" }),
      is: { method: "PATCH", path: `${one}/resize`, body: { spec: {} } },
    },
    {
      name: "apply",
      run: () => client.apply(ConfigMap, object, { fieldManager: "me", force: true }),
      is: { method: "PATCH", path: one, body: typed, query: { fieldManager: "me", force: true } },
    },
    {
      name: "delete",
      run: () =>
        client.delete(ConfigMap, web, {
          uid: "u",
          resourceVersion: "7",
          propagationPolicy: "Foreground",
          gracePeriodSeconds: 0,
          dryRun: true,
        }),
      is: {
        method: "DELETE",
        path: one,
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          preconditions: { uid: "u", resourceVersion: "7" },
          propagationPolicy: "Foreground",
          gracePeriodSeconds: 0,
          dryRun: ["All"],
        },
      },
    },
    {
      name: "delete of whatever has the name",
      run: () => client.delete(ConfigMap, web),
      is: { method: "DELETE", body: { apiVersion: "v1", kind: "DeleteOptions" } },
    },
    {
      name: "eviction",
      run: () => evict(client, web, { uid: "u" }),
      is: {
        method: "POST",
        path: "/api/v1/namespaces/default/pods/web/eviction",
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: web, deleteOptions: { preconditions: { uid: "u" } } },
      },
    },
    {
      name: "anything else",
      run: () => client.request({ method: "POST", path: "/x", body: { a: 1 }, query: { b: 2 } }),
      is: { method: "POST", path: "/x", body: { a: 1 }, query: { b: 2 } },
    },
  ])("$name", async ({ run, is }) => {
    await run();
    const { query, ...call } = journal.calls.at(-1) ?? { query: {} };
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    expect({ ...call, query: given }).toMatchObject(is);
    if (!("query" in is)) expect(given).toEqual({});
  });

  it("sends each kind of patch under its own name", async () => {
    const types: (string | undefined)[] = [];
    const { client } = clientAnswering(({ headers }) => {
      types.push(headers?.["content-type"]);
      return {};
    });
    await client.patch(ConfigMap, web, { type: "json", body: [{ op: "remove", path: "/x" }] });
    await client.patch(ConfigMap, web, { type: "merge", body: {} });
    await client.patch(ConfigMap, web, { type: "strategic", body: {} });
    await client.apply(ConfigMap, configMap, { fieldManager: "me" });
    await client.create(ConfigMap, configMap);
    expect(types).toEqual([
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/strategic-merge-patch+json",
      "application/apply-patch+yaml",
      "application/json",
    ]);
  });

  it("refuses to delete an object without a name", async () => {
    await expect(client.delete(ConfigMap, { namespace: "default", name: "" })).rejects.toThrow(TypeError);
  });
});
