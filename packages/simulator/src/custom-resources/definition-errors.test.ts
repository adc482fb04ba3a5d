// The messages are from a real API server (Kubernetes 1.37.1).
import { describe, expect, it } from "vitest";
import { draftOf, type JsonObject, listAt, objectAt } from "../json.ts";
import { messageOf } from "../server/field-error.ts";
import { celEnvironment } from "./cel.ts";
import { definitionErrors } from "./definition-errors.ts";
import { widgets } from "./widget.fixture.ts";

const cel = celEnvironment();
const messageFor = (change: (definition: JsonObject) => void) => {
  const definition = draftOf(widgets());
  change(definition);
  return messageOf(definitionErrors(definition as never, cel));
};
const inSpec = (field: JsonObject) => (definition: JsonObject) => {
  const [version] = listAt(definition, "spec", "versions");
  Object.assign(objectAt(version, "schema", "openAPIV3Schema", "properties", "spec", "properties"), { x: field });
};
const withSchema = (openAPIV3Schema: JsonObject) => (definition: JsonObject) => {
  for (const version of listAt(definition, "spec", "versions")) Object.assign(objectAt(version), { schema: { openAPIV3Schema } });
};
const at = "spec.validation.openAPIV3Schema.properties[spec].properties[x]";

describe("the server rejects a CustomResourceDefinition", () => {
  it("only if it is invalid", () => {
    expect(messageFor(() => {})).toBe("[]");
    expect(messageFor(withSchema({ "x-kubernetes-preserve-unknown-fields": true }))).toBe("[]");
  });

  it.each([
    {
      what: "without a scope",
      change: (d: JsonObject) => void delete objectAt(d, "spec").scope,
      says: "spec.scope: Required value",
    },
    {
      what: "with a group that is not a domain",
      change: (d: JsonObject) => void Object.assign(objectAt(d, "spec"), { group: "x" }),
      says: 'spec.group: Invalid value: "x": should be a domain with at least one dot',
    },
    {
      what: "with a schema without a type",
      change: withSchema({ properties: {} }),
      says: "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root",
    },
    {
      what: "with a field without a type",
      change: inSpec({}),
      says: `${at}.type: Required value: must not be empty for specified object fields`,
    },
    {
      what: "with a list without items",
      change: inSpec({ type: "array" }),
      says: `${at}.items: Required value: must be specified`,
    },
    {
      what: "with an unknown type",
      change: inSpec({ type: "foo" }),
      says: `${at}.type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    },
    {
      what: "with an invalid default",
      change: inSpec({ type: "string", default: 5 }),
      says: `${at}.default: Invalid value: "integer":  in body must be of type string: "integer"`,
    },
    {
      what: "with a keyed list without keys",
      change: inSpec({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" }),
      says: `${at}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    },
    {
      what: "with properties and additionalProperties",
      change: inSpec({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
      says: `${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    },
    {
      what: "with an empty rule",
      change: inSpec({ type: "string", "x-kubernetes-validations": [{ rule: "" }] }),
      says: `${at}.x-kubernetes-validations[0].rule: Required value: rule is not specified`,
    },
  ])("$what", ({ change, says }) => {
    expect(messageFor(change)).toBe(says);
  });

  it("with a rule on an undefined field, and shows the position", () => {
    const field = {
      type: "object",
      properties: { a: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.b == 1" }],
    };
    expect(messageFor(inSpec(field))).toContain(
      "compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^",
    );
  });

  it("with a rule that uses an unimplemented function, and returns 501", () => {
    const field = { type: "string", "x-kubernetes-validations": [{ rule: "url(self).getHost() == 'x'" }] };
    expect(() => messageFor(inSpec(field))).toThrow("the simulator does not implement a function in the CEL rule");
  });
});
