import { describe, expect, it } from "vitest";
import { z } from "zod";
import { crdOf, fieldThatDiffers } from "./custom-resource-definition.ts";
import { type AnyResource, defineResource } from "./define-resource.ts";
import { ResourceDefinitionError } from "./errors.ts";
import type { StructuralSchema } from "./structural-types.ts";

const names = { group: "example.com", version: "v1", kind: "Thing" } as const;
const spec = z.object({ size: z.int().min(1).describe("How many.") });
const versionOf = (resource: AnyResource) => crdOf(resource).spec.versions[0];
const schemaOf = (resource: AnyResource) => versionOf(resource)?.schema?.openAPIV3Schema;

describe("crdOf", () => {
  it("generates a minimal CRD for a minimal resource", () => {
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
                    description: "Desired state.",
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

  it("makes the spec optional if none of its fields is required", () => {
    const schema = schemaOf(defineResource({ ...names, spec: z.object({ size: z.int().default(3) }) }));
    expect(schema?.required).toBeUndefined();
    expect(schema?.properties?.spec?.default).toEqual({});
  });

  it("adds no default spec that a rule could reject", () => {
    const rules = [{ at: "spec", rule: "has(self.size)", message: "size must be set" }];
    const schema = schemaOf(defineResource({ ...names, spec: z.object({ size: z.int().optional() }), rules }));
    expect(schema?.required).toEqual(["spec"]);
  });

  it("adds the status subresource with observedGeneration if there is a status or a condition", () => {
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

  it("takes the type and description of a column from its field, and adds Age last", () => {
    const columns = [{ name: "Size", path: ".spec.size" }];
    expect(versionOf(defineResource({ ...names, spec, columns }))?.additionalPrinterColumns).toEqual([
      { name: "Size", type: "integer", description: "How many.", jsonPath: ".spec.size" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ]);
  });

  it("keeps an age column in its defined position", () => {
    const columns = [
      { name: "Born", path: ".metadata.creationTimestamp", type: "date" as const },
      { name: "Size", path: ".spec.size" },
    ];
    const shown = versionOf(defineResource({ ...names, spec, columns }))?.additionalPrinterColumns;
    expect(shown?.map(({ name }) => name)).toEqual(["Born", "Size"]);
  });

  it("adds a rule at its path, also inside lists", () => {
    const rule = { rule: "self != ''", message: "must not be empty" };
    const resource = defineResource({
      ...names,
      spec: z.object({ list: z.array(z.object({ name: z.string() })) }),
      rules: [{ at: "spec.list[].name", ...rule }],
    });
    const list = schemaOf(resource)?.properties?.spec?.properties?.list;
    expect(list?.items?.properties?.name?.["x-kubernetes-validations"]).toEqual([rule]);
  });

  it("serves additional versions beside the storage version", () => {
    const old = defineResource({ ...names, version: "v1beta1", spec, deprecated: "use v1" });
    const { spec: crd } = crdOf(defineResource({ ...names, spec, additionalVersions: [old] }), {
      conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } },
    });
    expect(crd.versions.map(({ name, storage, deprecationWarning }) => [name, storage, deprecationWarning])).toEqual([
      ["v1", true, undefined],
      ["v1beta1", false, "use v1"],
    ]);
    expect(crd.conversion?.strategy).toBe("Webhook");
  });

  it("gives a version without a status that of the storage version: writes through it would drop it", () => {
    const old = defineResource({ ...names, version: "v1beta1", spec });
    const stated = { status: z.object({ ready: z.int() }), conditions: { Ready: { True: ["AllThere"] } } } as const;
    const [stored, other] = crdOf(defineResource({ ...names, spec, ...stated, additionalVersions: [old] })).spec.versions;
    expect(other?.schema?.openAPIV3Schema?.properties?.status).toEqual(stored?.schema?.openAPIV3Schema?.properties?.status);
    expect(other?.subresources).toEqual({ status: {} });
  });

  it("accepts versions with the same fields without a conversion, even if rules and descriptions differ", () => {
    const old = defineResource({ ...names, version: "v1beta1", spec: z.object({ size: z.int().max(9).describe("Number.") }) });
    expect(crdOf(defineResource({ ...names, spec, additionalVersions: [old] })).spec.conversion).toBeUndefined();
  });

  it.each([
    { name: "exists only in the other version", other: z.object({ size: z.int(), color: z.string() }), field: ".spec.color" },
    { name: "exists only in the storage version", other: z.object({}), field: ".spec.size" },
    { name: "has another type", other: z.object({ size: z.string() }), field: ".spec.size" },
  ])("rejects versions without a conversion if a field $name: it would be lost", ({ other, field }) => {
    const old = defineResource({ ...names, version: "v1beta1", spec: other });
    const resource = defineResource({ ...names, spec, additionalVersions: [old] });
    expect(() => crdOf(resource)).toThrow(ResourceDefinitionError);
    expect(() => crdOf(resource)).toThrow(
      `v1 and v1beta1 to have the same fields or a conversion, found a difference in ${field}`,
    );
    expect(crdOf(resource, { conversion: { strategy: "None" } }).spec.versions).toHaveLength(2);
  });

  it("prints the same YAML every time, with ordered keywords", () => {
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
    {
      name: "another version",
      wrong: { additionalVersions: [other] },
      says: "the same group, found other.com instead of example.com",
    },
    {
      name: "a status",
      wrong: { status: z.object({ conditions: z.int() }) },
      says: "expected no status.conditions, which the runtime adds",
    },
  ])("rejects $name for a field that does not exist", ({ wrong, says }) => {
    const resource: AnyResource = defineResource({ ...names, spec, ...wrong });
    expect(() => crdOf(resource)).toThrow(ResourceDefinitionError);
    expect(() => crdOf(resource)).toThrow(says);
  });
});

const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: "object", properties });
const list = (items: StructuralSchema): StructuralSchema => ({ type: "array", items });
const map = (additionalProperties: StructuralSchema): StructuralSchema => ({ type: "object", additionalProperties });
const text: StructuralSchema = { type: "string" };
const whole: StructuralSchema = { type: "integer" };

it.each([
  { name: "nothing", one: object({ a: text }), other: object({ a: text }), found: undefined },
  { name: "words and rules only", one: { ...text, maxLength: 3 }, other: { ...text, description: "x" }, found: undefined },
  { name: "the order only", one: object({ a: text, b: whole }), other: object({ b: whole, a: text }), found: undefined },
  { name: "a field", one: object({ a: object({ b: text }) }), other: object({ a: object({}) }), found: ".a.b" },
  { name: "in what a list is of", one: object({ a: list(text) }), other: object({ a: list(whole) }), found: ".a[]" },
  { name: "in what a map is of", one: object({ a: map(text) }), other: object({ a: map(whole) }), found: ".a{}" },
  { name: "a map and an object", one: object({ a: map(text) }), other: object({ a: object({}) }), found: ".a{}" },
  {
    name: "in whether anything goes",
    one: object({ a: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }),
    other: object({ a: object({}) }),
    found: ".a",
  },
])("two schemas differ in $name", ({ one, other, found }) => {
  expect(fieldThatDiffers(one, other)).toBe(found);
  expect(fieldThatDiffers(other, one)).toBe(found);
});
