import { expect, it } from "vitest";
import { startApi } from "../admission/api.fixture.ts";
import { widgets } from "../custom-resources/widget.fixture.ts";
import { draftOf } from "../json.ts";

const define = async () => {
  const api = await startApi();
  const { status: _, ...definition } = draftOf(widgets());
  await api.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    ...definition,
    metadata: { name: "widgets.example.com" },
  });
  return api;
};

it("lists a document for every group and version, with a URL that contains a hash of its content", async () => {
  await using api = await define();
  const url = async () => (await api.ask("GET", "/openapi/v3")).body.paths["apis/example.com/v1"].serverRelativeURL;
  const before = await url();
  expect(before).toMatch(/^\/openapi\/v3\/apis\/example.com\/v1\?hash=[0-9A-F]+$/);
  const [version] = (widgets().spec as { versions: object[] }).versions;
  const patch = { spec: { versions: [{ ...version, schema: { openAPIV3Schema: { type: "object", description: "Other." } } }] } };
  await api.ask(
    "PATCH",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
    patch,
    "application/merge-patch+json",
  );
  expect(await url()).not.toBe(before);
});

it("describes custom resources as their definition does", async () => {
  await using api = await define();
  const { body } = await api.ask("GET", "/openapi/v3/apis/example.com/v1");
  const schema = body.components.schemas["com.example.v1.Widget"];
  expect(schema.properties.spec.properties.size).toMatchObject({ type: "integer", minimum: 1 });
  expect(schema["x-kubernetes-group-version-kind"]).toEqual([{ group: "example.com", kind: "Widget", version: "v1" }]);
});

it("describes built-in kinds with all nested fields", async () => {
  await using api = await startApi();
  const { schemas } = (await api.ask("GET", "/openapi/v3/apis/apps/v1")).body.components;
  const follow = (schema: { $ref: string }, field: string) => schemas[schema.$ref.split("/").at(-1) ?? ""].properties[field];
  const strategy = follow(schemas["io.k8s.api.apps.v1.Deployment"].properties.spec, "strategy");
  expect(follow(strategy, "type")).toEqual({ type: "string" });
  const rollingUpdate = follow(strategy, "rollingUpdate");
  expect(follow(rollingUpdate, "maxSurge").$ref).toMatch(/IntOrString$/);
});

it("declares dryRun and fieldValidation for patches", async () => {
  await using api = await startApi();
  const { body } = await api.ask("GET", "/openapi/v3/apis/apps/v1");
  const { patch } = body.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  expect(patch.parameters.map(({ name }: { name: string }) => name)).toEqual(["dryRun", "fieldManager", "fieldValidation"]);
  expect(patch["x-kubernetes-group-version-kind"]).toEqual({ group: "apps", kind: "Deployment", version: "v1" });
});

it("returns 404 for a group that is not served", async () => {
  await using api = await startApi();
  expect((await api.ask("GET", "/openapi/v3/apis/nobody.example.com/v1")).status).toBe(404);
});
