// A kind with several versions: one is stored, and clients read and write any served version.
import { dynamicKind } from "@memhog/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { define, definition } from "./definitions.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { at, loose, merge, refusal, world } from "./world.ts";

const here = world();
const group = "versions.memhog.test";
const size = (fallback: number) => ({ type: "integer", default: fallback });
const schemaWith = (properties: object) => ({
  openAPIV3Schema: { type: "object", properties: { spec: { type: "object", default: {}, properties } } },
});
const one = { name: "v1", served: true, storage: true, schema: schemaWith({ size: size(1), note: { type: "string" } }) };
const two = {
  name: "v2",
  served: true,
  storage: false,
  schema: schemaWith({ size: size(2), note: { type: "string" }, colour: { type: "string" } }),
  additionalPrinterColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Colour", type: "string", jsonPath: ".spec.colour" },
  ],
};
const old = { name: "v1beta1", served: true, storage: false, deprecated: true, schema: schemaWith({ size: size(1) }) };
const gone = { name: "v1alpha1", served: false, storage: false, schema: schemaWith({}) };

const widgets = definition(group, {});
const crd = { ...widgets.crd, spec: { ...widgets.crd.spec, versions: [one, two, old, gone] } };
const V1 = widgets.kind;
const versioned = (version: string) =>
  loose(dynamicKind({ group, version, kind: "Widget", plural: "widgets", namespaced: true }));
const V2 = versioned("v2");

beforeAll(() => define(here, { kind: V1, crd }));

describe("an object of a kind with several versions", () => {
  it("is the same object in every version, with the requested apiVersion", async () => {
    const made = await here.make(V1, { spec: { size: 5 } });
    const seen = await here.client.get(V2, at(made));
    expect(seen).toMatchObject({ apiVersion: `${group}/v2`, metadata: { uid: made.metadata.uid }, spec: { size: 5 } });
  });

  it("can be written in any version", async () => {
    const made = await here.make(V2, { spec: { size: 5 } });
    await here.client.patch(V2, at(made), merge({ spec: { note: "by v2" } }));
    expect((await here.client.get(V1, at(made))).spec).toEqual({ size: 5, note: "by v2" });
  });

  it("has the defaults of the version it was written in", async () => {
    const made = await here.make(V2, {});
    expect(made.spec).toEqual({ size: 2 });
    expect((await here.client.get(V1, at(made))).spec).toEqual({ size: 2 });
  });

  it("loses fields that the storage version does not define", async () => {
    const made = await here.make(V2, { spec: { size: 5, colour: "red" } });
    expect((await here.client.get(V2, at(made))).spec).toEqual({ size: 5 });
  });

  it("is listed in the requested version", async () => {
    await here.make(V1, {});
    const { items } = await here.client.list(V2, { namespace: here.namespace });
    expect(new Set(items.map(({ apiVersion }) => apiVersion))).toEqual(new Set([`${group}/v2`]));
  });

  it("is watched in the requested version", async () => {
    const { metadata } = await here.client.list(V2, { namespace: here.namespace });
    const made = await here.make(V1, { spec: { size: 9 } });
    for await (const event of here.client.watch(V2, { namespace: here.namespace, ...metadata })) {
      if (event.type === "BOOKMARK" || event.object.metadata.uid !== made.metadata.uid) continue;
      expect([event.type, event.object.apiVersion, event.object.spec]).toEqual(["ADDED", `${group}/v2`, { size: 9 }]);
      break;
    }
  });

  it("is shown with the columns of the requested version", async () => {
    const made = await here.make(V1, { spec: { size: 9 } });
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const path = (version: string) => `/apis/${group}/${version}/namespaces/${here.namespace}/widgets/${made.metadata.name}`;
    const names = async (version: string) =>
      (await here.ask("GET", path(version), { headers })).columnDefinitions.map(({ name }: { name: string }) => name);
    expect(await names("v2")).toEqual(["Name", "Size", "Colour"]);
    expect(await names("v1")).toEqual(["Name", "Age"]);
  });

  it("cannot be created with an apiVersion that differs from the path", async () => {
    const object = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { namespace: here.namespace, name: here.name() } };
    const path = `/apis/${group}/v2/namespaces/${here.namespace}/widgets`;
    const refused = await refusal(here.client.request({ method: "POST", path, body: object }));
    expect([refused.status, refused.reason]).toEqual([400, "BadRequest"]);
    expect(refused.said).toContain(
      `the API version in the data (${group}/v1) does not match the expected API version (${group}/v2)`,
    );
  });
});

describe("a version of a kind", () => {
  it("returns NotFound if it is not served", async () => {
    expect((await refusal(here.client.list(versioned("v1alpha1"), { namespace: here.namespace }))).status).toBe(404);
  });

  it("returns a warning with the replacement if it is deprecated", async () => {
    here.warnings();
    await here.client.list(versioned("v1beta1"), { namespace: here.namespace });
    expect(here.warnings()).toEqual([`${group}/v1beta1 Widget is deprecated; use ${group}/v2 Widget`]);
  });

  it("is listed in discovery, the newest stable version first", async () => {
    const { versions, preferredVersion } = await here.ask("GET", `/apis/${group}`);
    expect(versions.map(({ version }: { version: string }) => version)).toEqual(["v2", "v1", "v1beta1"]);
    expect(preferredVersion.version).toBe("v2");
  });

  it("stays in storedVersions after another becomes the storage version", async () => {
    const other = definition("stored.memhog.test", {});
    const versions = (stored: string) => [one, two].map((each) => ({ ...each, storage: each.name === stored }));
    const with_ = (stored: string) => ({ ...other.crd, spec: { ...other.crd.spec, versions: versions(stored) } });
    await define(here, { kind: other.kind, crd: with_("v1") });
    await here.client.apply(CustomResourceDefinition, with_("v2"), { fieldManager: "conformance" });
    const { status } = await here.client.get(CustomResourceDefinition, { name: other.crd.metadata?.name ?? "" });
    expect(status.storedVersions).toEqual(["v1", "v2"]);
  });
});
