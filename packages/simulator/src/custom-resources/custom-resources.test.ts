import { describe, expect, it } from "vitest";
import { type Api, patches, startApi } from "../admission/api.fixture.ts";
import { draftOf, type JsonObject } from "../json.ts";
import { widgets } from "./widget.fixture.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const place = "/apis/example.com/v1/namespaces/here/widgets";
const widget = (spec: JsonObject, more: JsonObject = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "w" },
  spec,
  ...more,
});

/** A definition as a user writes it. */
const asWritten = (change: JsonObject = {}): JsonObject => {
  const { metadata: _, status: __, ...definition } = draftOf(widgets(change));
  return { ...definition, metadata: { name: "widgets.example.com" } };
};

async function withWidgets(change: JsonObject = {}): Promise<Api> {
  const api = await startApi();
  await api.ask("POST", definitions, asWritten(change));
  return api;
}

const conditions = async (api: Api, name: string) => (await api.ask("GET", `${definitions}/${name}`)).body.status.conditions;

describe("a CustomResourceDefinition", () => {
  it("becomes Established after creation, and the server serves its kind", async () => {
    await using api = await withWidgets();
    expect(await conditions(api, "widgets.example.com")).toMatchObject([
      { type: "NamesAccepted", status: "True" },
      { type: "Established", status: "True" },
    ]);
    expect((await api.ask("GET", place)).body).toMatchObject({ kind: "WidgetList", items: [] });
  });

  it("gets names that are in use only after they are released", async () => {
    await using api = await withWidgets();
    const names = { kind: "Other", plural: "others", shortNames: ["wg"] };
    await api.ask("POST", definitions, { ...asWritten({ names }), metadata: { name: "others.example.com" } });
    expect(await conditions(api, "others.example.com")).toMatchObject([
      { status: "False", reason: "ShortNamesConflict" },
      { status: "False" },
    ]);
    await api.ask("DELETE", `${definitions}/widgets.example.com`);
    expect(await conditions(api, "others.example.com")).toMatchObject([{ status: "True" }, { status: "True" }]);
  });

  it("deletes its objects on deletion and waits for their finalizers", async () => {
    await using api = await withWidgets();
    await api.ask("POST", place, widget({}, { metadata: { name: "free" } }));
    await api.ask("POST", place, widget({}, { metadata: { name: "held", finalizers: ["example.com/mine"] } }));
    await api.ask("DELETE", `${definitions}/widgets.example.com`);
    expect((await api.ask("GET", place)).body.items).toHaveLength(1);
    expect((await api.ask("POST", place, widget({}))).body.message).toContain(
      "create not allowed while custom resource definition is terminating",
    );
    await api.ask("PATCH", `${place}/held`, { metadata: { finalizers: null } }, patches.merge);
    expect((await api.ask("GET", `${definitions}/widgets.example.com`)).status).toBe(404);
    expect((await api.ask("GET", place)).status).toBe(404);
  });
});

describe("a custom resource", () => {
  it("is pruned, defaulted, and validated", async () => {
    await using api = await withWidgets();
    const made = await api.ask("POST", place, widget({ odd: 3, unknown: 1 }, { status: { replicas: 9 } }));
    expect(made.body).toMatchObject({ spec: { odd: 3, size: 3, nested: { deep: 7 } }, metadata: { generation: 1 } });
    expect(made.body).not.toHaveProperty("status");
    expect(made.warning).toBe('299 - "unknown field \\"spec.unknown\\""');
    const refused = await api.ask("POST", place, widget({ odd: 2 }, { metadata: { name: "x" } }));
    expect(refused.body.message).toBe('Widget.example.com "x" is invalid: spec.odd: Invalid value: 2: must be odd');
  });

  it("has status and scale subresources", async () => {
    await using api = await withWidgets();
    await api.ask("POST", place, widget({ size: 2 }));
    const withStatus = await api.ask(
      "PATCH",
      `${place}/w/status`,
      { spec: { size: 9 }, status: { replicas: 1, selector: "a=b" } },
      patches.merge,
    );
    expect(withStatus.body).toMatchObject({ spec: { size: 2 }, status: { replicas: 1 }, metadata: { generation: 1 } });
    await api.ask("PATCH", `${place}/w/scale`, { spec: { replicas: 5 } }, patches.merge);
    expect((await api.ask("GET", `${place}/w/scale`)).body).toMatchObject({
      spec: { replicas: 5 },
      status: { replicas: 1, selector: "a=b" },
    });
  });

  it("is served in every served version, with the defaults of that version", async () => {
    const schema = {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties: { size: { type: "integer" }, colour: { type: "string", default: "red" } } },
        },
      },
    };
    const [stored] = (asWritten().spec as { versions: JsonObject[] }).versions;
    const versions = [stored, { name: "v2", served: true, storage: false, schema }];
    await using api = await withWidgets({ versions });
    await api.ask("POST", place, widget({ size: 2 }));
    const { body } = await api.ask("GET", "/apis/example.com/v2/namespaces/here/widgets/w");
    expect(body).toMatchObject({ apiVersion: "example.com/v2", spec: { size: 2, colour: "red" } });
  });
});
