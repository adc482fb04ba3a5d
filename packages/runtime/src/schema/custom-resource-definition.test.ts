import { describe, expect, it } from "vitest";
import { z } from "zod";
import { crdOf } from "./custom-resource-definition.ts";
import { type AnyResource, defineResource } from "./define-resource.ts";
import { ResourceDefinitionError } from "./errors.ts";

const names = { group: "example.com", version: "v1", kind: "Thing" } as const;
const spec = z.object({ size: z.int().min(1).describe("How many.") });
const versionOf = (resource: AnyResource) => crdOf(resource).spec.versions[0];
const schemaOf = (resource: AnyResource) => versionOf(resource)?.schema?.openAPIV3Schema;

describe("the CustomResourceDefinition", () => {
  it("of the smallest resource says no more than it must", () => {
    expect(crdOf(defineResource({ ...names, spec }))).toEqual({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                required: ["spec"],
                properties: {
                  spec: {
                    description: "What is wanted.",
                    type: "object",
                    required: ["size"],
                    properties: { size: { description: "How many.", type: "integer", format: "int64", minimum: 1 } },
                  },
                },
              },
            },
          },
        ],
      },
    });
  });

  it("lets an object come without a spec where nothing in it is required", () => {
    const schema = schemaOf(defineResource({ ...names, spec: z.object({ size: z.int().default(3) }) }));
    expect(schema?.required).toBeUndefined();
    expect(schema?.properties?.spec?.default).toEqual({});
  });

  it("does not invent a spec that a rule might refuse", () => {
    const rules = [{ at: "spec", rule: "has(self.size)", message: "size must be set" }];
    const schema = schemaOf(defineResource({ ...names, spec: z.object({ size: z.int().optional() }), rules }));
    expect(schema?.required).toEqual(["spec"]);
  });

  it("has a status subresource, with the generation, as soon as anything is reported", () => {
    const version = versionOf(defineResource({ ...names, spec, conditions: { Ready: ["Yes"] } }));
    expect(version?.subresources).toEqual({ status: {} });
    expect(Object.keys(version?.schema?.openAPIV3Schema?.properties?.status?.properties ?? {})).toEqual([
      "observedGeneration",
      "conditions",
    ]);
  });

  it("merges conditions by type", () => {
    const schema = schemaOf(defineResource({ ...names, spec, conditions: { Ready: ["Yes"] } }));
    expect(schema?.properties?.status?.properties?.conditions).toMatchObject({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    });
  });

  it("takes the type and the description of a column from the field, and ends with the age", () => {
    const columns = [{ name: "Size", path: ".spec.size" }];
    expect(versionOf(defineResource({ ...names, spec, columns }))?.additionalPrinterColumns).toEqual([
      { name: "Size", type: "integer", description: "How many.", jsonPath: ".spec.size" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ]);
  });

  it("leaves an age column where its author put it", () => {
    const columns = [
      { name: "Born", path: ".metadata.creationTimestamp", type: "date" as const },
      { name: "Size", path: ".spec.size" },
    ];
    const shown = versionOf(defineResource({ ...names, spec, columns }))?.additionalPrinterColumns;
    expect(shown?.map(({ name }) => name)).toEqual(["Born", "Size"]);
  });

  it("puts a rule where it belongs, also inside lists", () => {
    const rule = { rule: "self != ''", message: "must not be empty" };
    const resource = defineResource({
      ...names,
      spec: z.object({ list: z.array(z.object({ name: z.string() })) }),
      rules: [{ at: "spec.list[].name", ...rule }],
    });
    const list = schemaOf(resource)?.properties?.spec?.properties?.list;
    expect(list?.items?.properties?.name?.["x-kubernetes-validations"]).toEqual([rule]);
  });

  it("serves other versions beside the stored one", () => {
    const old = defineResource({ ...names, version: "v1beta1", spec, deprecated: "use v1" });
    const { spec: crd } = crdOf(defineResource({ ...names, spec, alsoServed: [old] }), {
      conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } },
    });
    expect(crd.versions.map(({ name, storage, deprecationWarning }) => [name, storage, deprecationWarning])).toEqual([
      ["v1", true, undefined],
      ["v1beta1", false, "use v1"],
    ]);
    expect(crd.conversion?.strategy).toBe("Webhook");
  });

  it("gives a version that says nothing of a status that of the stored one: writes through it would lose it", () => {
    const old = defineResource({ ...names, version: "v1beta1", spec });
    const stated = { status: z.object({ ready: z.int() }), conditions: { Ready: { True: ["AllThere"] } } } as const;
    const [stored, other] = crdOf(defineResource({ ...names, spec, ...stated, alsoServed: [old] })).spec.versions;
    expect(other?.schema?.openAPIV3Schema?.properties?.status).toEqual(stored?.schema?.openAPIV3Schema?.properties?.status);
    expect(other?.subresources).toEqual({ status: {} });
  });

  it("takes versions of the same fields without a conversion, whatever their rules and words", () => {
    const old = defineResource({ ...names, version: "v1beta1", spec: z.object({ size: z.int().max(9).describe("Number.") }) });
    expect(crdOf(defineResource({ ...names, spec, alsoServed: [old] })).spec.conversion).toBeUndefined();
  });

  it.each([
    { name: "only the other has", other: z.object({ size: z.int(), color: z.string() }), field: ".spec.color" },
    { name: "only the stored one has", other: z.object({}), field: ".spec.size" },
    { name: "is of another type", other: z.object({ size: z.string() }), field: ".spec.size" },
  ])("refuses versions without a conversion of which a field $name: it would be lost", ({ other, field }) => {
    const old = defineResource({ ...names, version: "v1beta1", spec: other });
    const resource = defineResource({ ...names, spec, alsoServed: [old] });
    expect(() => crdOf(resource)).toThrow(ResourceDefinitionError);
    expect(() => crdOf(resource)).toThrow(
      `v1 and v1beta1 to have the same fields or a conversion, found that they differ in ${field}`,
    );
    expect(crdOf(resource, { conversion: { strategy: "None" } }).spec.versions).toHaveLength(2);
  });

  it("is the same text every time, in the order people read", () => {
    const field = schemaOf(defineResource({ ...names, spec }))?.properties?.spec?.properties?.size;
    expect(Object.keys(field ?? {})).toEqual(["description", "type", "format", "minimum"]);
  });

  const other = defineResource({ ...names, group: "other.com", spec });
  it.each([
    {
      name: "a column",
      wrong: { columns: [{ name: "Size", path: ".spec.sizes" }] },
      says: "column Size to show a field, found none at .spec.sizes",
    },
    {
      name: "a rule",
      wrong: { rules: [{ at: "spec.sizes", rule: "true", message: "never" }] },
      says: 'found none at "spec.sizes"',
    },
    {
      name: "scale",
      wrong: { scale: { specPath: ".spec.size", statusPath: ".status.size" } },
      says: "scale, found none at .status.size",
    },
    { name: "a selector", wrong: { selectable: [".spec.node"] }, says: "selectable, found none at .spec.node" },
    { name: "another version", wrong: { alsoServed: [other] }, says: "the same group, found other.com instead of example.com" },
    {
      name: "a status",
      wrong: { status: z.object({ conditions: z.int() }) },
      says: "status.conditions to be left to the runtime",
    },
  ])("refuses $name that leads nowhere", ({ wrong, says }) => {
    const resource: AnyResource = defineResource({ ...names, spec, ...wrong });
    expect(() => crdOf(resource)).toThrow(ResourceDefinitionError);
    expect(() => crdOf(resource)).toThrow(says);
  });
});
