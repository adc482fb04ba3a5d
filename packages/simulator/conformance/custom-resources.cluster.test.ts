// CustomResourceDefinitions: validation, pruning, defaults, subresources, and the status of a definition.
import { beforeAll, describe, expect, it } from "vitest";
import { define, definition } from "./definitions.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { at, json, merge, refusal, strategic, world } from "./world.ts";

const here = world();
const spec = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 1, maximum: 10 },
    name: { type: "string", minLength: 2, maxLength: 5, pattern: "^[a-z]+$" },
    color: { type: "string", enum: ["red", "green"], default: "red" },
    nested: { type: "object", default: {}, properties: { depth: { type: "integer", default: 3 } } },
    many: { type: "array", maxItems: 2, items: { type: "string" } },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    keyed: {
      ...{ type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"] },
      items: { type: "object", required: ["id"], properties: { id: { type: "string" }, value: { type: "string" } } },
    },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    either: { "x-kubernetes-int-or-string": true },
    maybe: { type: "string", nullable: true },
    labels: { type: "object", additionalProperties: { type: "string" }, maxProperties: 2 },
    when: { type: "string", format: "date-time" },
    ratio: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
    on: { type: "boolean" },
  },
};
const status = { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } };
const subresources = {
  status: {},
  scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" },
};
const widgets = definition(
  "conformance.memhog.test",
  { spec, status },
  { subresources },
  { shortNames: ["wd"], categories: ["things"] },
);
const Widget = widgets.kind;
const make = (fields: object = {}) => here.make(Widget, { spec: { size: 1, ...fields } });

beforeAll(() => define(here, widgets));

describe("validation of custom resources", () => {
  it.each([
    {
      what: "a missing field",
      fields: { size: undefined },
      cause: { reason: "FieldValueRequired", field: "spec.size", message: "Required value" },
    },
    {
      what: "a number that is too small",
      fields: { size: 0 },
      cause: {
        reason: "FieldValueInvalid",
        field: "spec.size",
        message: "Invalid value: 0: spec.size in body should be greater than or equal to 1",
      },
    },
    {
      what: "a number that is too large",
      fields: { size: 11 },
      cause: {
        reason: "FieldValueInvalid",
        field: "spec.size",
        message: "Invalid value: 11: spec.size in body should be less than or equal to 10",
      },
    },
    {
      what: "a string for a number",
      fields: { size: "1" },
      cause: {
        reason: "FieldValueTypeInvalid",
        field: "spec.size",
        message: 'Invalid value: "string": spec.size in body must be of type integer: "string"',
      },
    },
    { what: "a fraction for an integer", fields: { size: 1.5 }, cause: { reason: "FieldValueTypeInvalid", field: "spec.size" } },
    { what: "a string that is too short", fields: { name: "a" }, cause: { reason: "FieldValueInvalid", field: "spec.name" } },
    { what: "a string that is too long", fields: { name: "abcdef" }, cause: { reason: "FieldValueTooLong", field: "spec.name" } },
    {
      what: "a string that does not match the pattern",
      fields: { name: "AB" },
      cause: {
        reason: "FieldValueInvalid",
        field: "spec.name",
        message: "Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'",
      },
    },
    {
      what: "a value that is not in the enum",
      fields: { color: "blue" },
      cause: {
        reason: "FieldValueNotSupported",
        field: "spec.color",
        message: 'Unsupported value: "blue": supported values: "red", "green"',
      },
    },
    { what: "too many items", fields: { many: ["a", "b", "c"] }, cause: { reason: "FieldValueTooMany", field: "spec.many" } },
    {
      what: "an item of the wrong type",
      fields: { many: [1] },
      cause: { reason: "FieldValueTypeInvalid", field: "spec.many[0]" },
    },
    {
      what: "a duplicate value in a set",
      fields: { set: ["a", "a"] },
      cause: { reason: "FieldValueDuplicate", field: "spec.set[1]" },
    },
    {
      what: "a duplicate key in a map",
      fields: { keyed: [{ id: "a" }, { id: "a" }] },
      cause: { reason: "FieldValueDuplicate", field: "spec.keyed[1]" },
    },
    {
      what: "an item without its key",
      fields: { keyed: [{ value: "a" }] },
      cause: { reason: "FieldValueRequired", field: "spec.keyed[0].id" },
    },
    { what: "a list for an object", fields: { nested: [] }, cause: { reason: "FieldValueTypeInvalid", field: "spec.nested" } },
    {
      what: "an object for int-or-string",
      fields: { either: {} },
      cause: { reason: "FieldValueTypeInvalid", field: "spec.either" },
    },
    {
      what: "too many properties",
      fields: { labels: { a: "1", b: "2", c: "3" } },
      cause: { reason: "FieldValueTooMany", field: "spec.labels" },
    },
    { what: "an invalid time", fields: { when: "noon" }, cause: { reason: "FieldValueTypeInvalid", field: "spec.when" } },
    { what: "a number at an exclusive bound", fields: { ratio: 0 }, cause: { reason: "FieldValueInvalid", field: "spec.ratio" } },
    {
      what: "a number that is not a multiple",
      fields: { ratio: 0.7 },
      cause: { reason: "FieldValueInvalid", field: "spec.ratio" },
    },
  ])("rejects $what", async ({ fields, cause }) => {
    const refused = await refusal(make(fields));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toContainEqual(expect.objectContaining(cause));
  });

  it("reports every invalid field", async () => {
    const refused = await refusal(make({ size: 0, name: "A" }));
    expect(refused.causes.map(({ field }) => field)).toEqual(expect.arrayContaining(["spec.size", "spec.name"]));
    expect(refused.said).toMatch(/^Widget\.conformance\.memhog\.test "c\d+" is invalid: \[/);
  });

  it.each([
    { what: "numbers and strings for int-or-string", fields: { either: "50%" }, kept: { either: "50%" } },
    { what: "null in a nullable field", fields: { maybe: null }, kept: { maybe: null } },
    { what: "fractions for a number", fields: { ratio: 1.5 }, kept: { ratio: 1.5 } },
    {
      what: "anything below a field that preserves unknown fields",
      fields: { free: { a: [1, { b: null }] } },
      kept: { free: { a: [1, { b: null }] } },
    },
    { what: "any key in a map", fields: { labels: { "odd key": "x" } }, kept: { labels: { "odd key": "x" } } },
  ])("allows $what", async ({ fields, kept }) => {
    expect((await make(fields)).spec).toMatchObject(kept);
  });

  it("applies to patches", async () => {
    const made = await make();
    const refused = await refusal(here.client.patch(Widget, at(made), merge({ spec: { size: 99 } })));
    expect(refused.causes).toMatchObject([{ field: "spec.size" }]);
  });

  it("applies to server-side apply", async () => {
    const object = { metadata: { namespace: here.namespace, name: here.name() }, spec: { size: 99 } };
    const refused = await refusal(here.client.apply(Widget, object, { fieldManager: "mine" }));
    expect(refused.causes).toMatchObject([{ field: "spec.size" }]);
  });
});

describe("pruning of custom resources", () => {
  it("drops unknown fields and returns a warning", async () => {
    here.warnings();
    const made = await make({ unknown: 1, nested: { unknown: 2, depth: 1 } });
    expect(made.spec).toEqual({ size: 1, color: "red", nested: { depth: 1 } });
    expect(here.warnings()).toEqual(['unknown field "spec.nested.unknown"', 'unknown field "spec.unknown"']);
  });

  it("rejects unknown fields with fieldValidation=Strict", async () => {
    const object = { metadata: { namespace: here.namespace, name: here.name() }, spec: { size: 1, unknown: 1 } };
    const refused = await refusal(here.client.create(Widget, object, { fieldValidation: "Strict" }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toContain('strict decoding error: unknown field "spec.unknown"');
  });

  it("drops unknown fields without a warning with fieldValidation=Ignore", async () => {
    here.warnings();
    const object = { metadata: { namespace: here.namespace, name: here.name() }, spec: { size: 1, unknown: 1 } };
    await here.client.create(Widget, object, { fieldValidation: "Ignore" });
    expect(here.warnings()).toEqual([]);
  });

  it("drops unknown fields beside spec", async () => {
    const made = await here.make(Widget, { spec: { size: 1 }, more: { a: 1 } });
    expect(made).not.toHaveProperty("more");
  });
});

describe("defaults of custom resources", () => {
  it("are set where a field is missing, also inside defaulted objects", async () => {
    expect((await make()).spec).toEqual({ size: 1, color: "red", nested: { depth: 3 } });
  });

  it("do not replace values that are set", async () => {
    expect((await make({ color: "green", nested: { depth: 1 } })).spec).toMatchObject({ color: "green", nested: { depth: 1 } });
  });

  it("replace null in a field that is not nullable", async () => {
    expect((await make({ color: null })).spec.color).toBe("red");
  });

  it("are set again when a patch removes the field", async () => {
    const made = await make({ color: "green" });
    expect((await here.client.patch(Widget, at(made), merge({ spec: { color: null } }))).spec.color).toBe("red");
  });
});

describe("patch and apply of custom resources", () => {
  it("support JSON patches and merge patches", async () => {
    const made = await make({ many: ["a"] });
    const patched = await here.client.patch(Widget, at(made), json({ op: "add", path: "/spec/many/-", value: "b" }));
    expect(patched.spec.many).toEqual(["a", "b"]);
  });

  it("reject strategic merge patches", async () => {
    const refused = await refusal(here.client.patch(Widget, at(await make()), strategic({ spec: { size: 2 } })));
    expect(refused).toMatchObject({ status: 415, reason: "UnsupportedMediaType" });
  });

  it("merge a list of type map by its keys", async () => {
    const name = here.name();
    const apply = (fieldManager: string, fields: object) =>
      here.client.apply(
        Widget,
        { metadata: { namespace: here.namespace, name }, spec: { size: 1, ...fields } },
        { fieldManager },
      );
    await apply("mine", { keyed: [{ id: "a", value: "1" }], set: ["a"], many: ["a"] });
    const both = await apply("theirs", { keyed: [{ id: "b", value: "1" }], set: ["b"] });
    expect(both.spec).toMatchObject({ keyed: [{ id: "a" }, { id: "b" }], set: ["a", "b"], many: ["a"] });
  });

  it("treat an atomic list as one field in conflicts", async () => {
    const name = here.name();
    const apply = (fieldManager: string, many: readonly string[]) =>
      here.client.apply(Widget, { metadata: { namespace: here.namespace, name }, spec: { size: 1, many } }, { fieldManager });
    await apply("mine", ["a"]);
    expect((await refusal(apply("theirs", ["b"]))).causes).toMatchObject([{ field: ".spec.many" }]);
  });

  it("reject an unknown field in an apply", async () => {
    const object = { metadata: { namespace: here.namespace, name: here.name() }, spec: { size: 1, unknown: 1 } };
    const refused = await refusal(here.client.apply(Widget, object, { fieldManager: "mine" }));
    expect(refused.said).toContain(".spec.unknown: field not declared in schema");
  });

  it("require apiVersion and kind in a create", async () => {
    const path = `/apis/conformance.memhog.test/v1/namespaces/${here.namespace}/widgets`;
    const refused = await refusal(here.ask("POST", path, { body: { metadata: { name: here.name() }, spec: { size: 1 } } }));
    expect(refused.status).toBe(400);
  });
});

describe("subresources of custom resources", () => {
  it("ignore status in writes to the object and spec in writes to status", async () => {
    const made = await here.make(Widget, { spec: { size: 1 }, status: { replicas: 3 } });
    expect(made.status).toBeUndefined();
    const both = { ...made, spec: { size: 2 }, status: { replicas: 3 } };
    const changed = await here.client.update(Widget, both, { subresource: "status" });
    expect(changed).toMatchObject({ spec: { size: 1 }, status: { replicas: 3 } });
  });

  it("increase the generation with every change except of metadata and status", async () => {
    const made = await make();
    const status = await here.client.patch(Widget, at(made), merge({ status: { replicas: 1 } }), { subresource: "status" });
    expect([made.metadata.generation, status.metadata.generation]).toEqual([1, 1]);
    expect((await here.client.patch(Widget, at(made), merge({ metadata: { labels: { a: "b" } } }))).metadata.generation).toBe(1);
    expect((await here.client.patch(Widget, at(made), merge({ spec: { size: 2 } }))).metadata.generation).toBe(2);
  });

  it("read and change the scale", async () => {
    const made = await make({ size: 2 });
    await here.client.patch(Widget, at(made), merge({ status: { replicas: 1, selector: "a=b" } }), { subresource: "status" });
    const scale = await here.client.get(Widget, at(made), { subresource: "scale" });
    expect(scale).toMatchObject({ kind: "Scale", spec: { replicas: 2 }, status: { replicas: 1, selector: "a=b" } });
    await here.client.patch(Widget, at(made), merge({ spec: { replicas: 3 } }), { subresource: "scale" });
    expect((await here.client.get(Widget, at(made))).spec.size).toBe(3);
  });
});

describe("CustomResourceDefinition", () => {
  const tried = (crd: object) => here.client.create(CustomResourceDefinition, crd as never, { dryRun: true });

  it("has its names accepted and becomes established", async () => {
    const { status } = await here.client.get(CustomResourceDefinition, { name: "widgets.conformance.memhog.test" });
    const conditions = Object.fromEntries(status.conditions.map(({ type, status: is }: Record<string, string>) => [type, is]));
    expect(conditions).toMatchObject({ NamesAccepted: "True", Established: "True" });
    expect(status.acceptedNames).toEqual({
      ...{ kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
      ...{ shortNames: ["wd"], categories: ["things"] },
    });
    expect(status.storedVersions).toEqual(["v1"]);
  });

  it("must be named after its plural and group", async () => {
    const { crd } = definition("other.memhog.test", {});
    const refused = await refusal(tried({ ...crd, metadata: { name: "wrong.other.memhog.test" } }));
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "metadata.name" }]);
  });

  it("requires a structural schema", async () => {
    const refused = await refusal(
      tried(definition("other.memhog.test", { spec: { properties: { a: { type: "string" } } } }).crd),
    );
    expect(refused.said).toContain("Required value: must not be empty for specified object fields");
  });

  it("accepts a schema that only says that every field is kept", async () => {
    const schema = { openAPIV3Schema: { "x-kubernetes-preserve-unknown-fields": true } };
    expect((await tried(definition("other.memhog.test", {}, { schema }).crd)).metadata.name).toBe("widgets.other.memhog.test");
  });

  it("requires exactly one storage version", async () => {
    const refused = await refusal(tried(definition("other.memhog.test", {}, { storage: false }).crd));
    expect(refused.said).toContain("must have exactly one version marked as storage version");
  });

  it("is deleted with its objects and its paths", async () => {
    const gone = definition("gone.memhog.test", { spec: { type: "object", properties: { a: { type: "string" } } } });
    await define(here, gone);
    await here.make(gone.kind, { spec: { a: "b" } });
    await here.client.delete(CustomResourceDefinition, { name: "widgets.gone.memhog.test" });
    await here.cluster.eventually(
      () => refusal(here.client.list(gone.kind, { namespace: here.namespace })),
      ({ status }) => status === 404,
    );
  });
});
