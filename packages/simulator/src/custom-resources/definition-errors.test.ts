// The sentences were taken from a real API server (Kubernetes 1.37.1).
import { describe, expect, it } from "vitest";
import { draftOf, type JsonObject, listAt, objectAt } from "../json.ts";
import { sentenceOf } from "../server/field-error.ts";
import { celEnvironment } from "./cel/library.ts";
import { definitionErrors } from "./definition-errors.ts";
import { widgets } from "./widget.fixture.ts";

const cel = celEnvironment();
const complaint = (change: (definition: JsonObject) => void) => {
  const definition = draftOf(widgets());
  change(definition);
  return sentenceOf(definitionErrors(definition as never, cel));
};
const inSpec = (field: JsonObject) => (definition: JsonObject) => {
  const [version] = listAt(definition, "spec", "versions");
  Object.assign(objectAt(version, "schema", "openAPIV3Schema", "properties", "spec", "properties"), { x: field });
};
const at = "spec.validation.openAPIV3Schema.properties[spec].properties[x]";

describe("a definition is refused", () => {
  it("only if something is wrong", () => {
    expect(complaint(() => {})).toBe("[]");
  });

  it.each([
    {
      what: "without a scope",
      change: (d: JsonObject) => void delete objectAt(d, "spec").scope,
      says: "spec.scope: Required value",
    },
    {
      what: "in a group that is no domain",
      change: (d: JsonObject) => void Object.assign(objectAt(d, "spec"), { group: "x" }),
      says: 'spec.group: Invalid value: "x": should be a domain with at least one dot',
    },
    {
      what: "with a field of no type",
      change: inSpec({}),
      says: `${at}.type: Required value: must not be empty for specified object fields`,
    },
    { what: "with a list of nothing", change: inSpec({ type: "array" }), says: `${at}.items: Required value: must be specified` },
    {
      what: "with a type nobody knows",
      change: inSpec({ type: "foo" }),
      says: `${at}.type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    },
    {
      what: "with a default that is none",
      change: inSpec({ type: "string", default: 5 }),
      says: `${at}.default: Invalid value: "integer":  in body must be of type string: "integer"`,
    },
    {
      what: "with a list that has no keys",
      change: inSpec({ type: "array", items: { type: "object" }, "x-kubernetes-list-type": "map" }),
      says: `${at}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    },
    {
      what: "with properties and more",
      change: inSpec({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
      says: `${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    },
    {
      what: "with a rule that says nothing",
      change: inSpec({ type: "string", "x-kubernetes-validations": [{ rule: "" }] }),
      says: `${at}.x-kubernetes-validations[0].rule: Required value: rule is not specified`,
    },
  ])("$what", ({ change, says }) => {
    expect(complaint(change)).toBe(says);
  });

  it("with a rule about a field that is not there, and shows the place", () => {
    const field = {
      type: "object",
      properties: { a: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.b == 1" }],
    };
    expect(complaint(inSpec(field))).toContain(
      "compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^",
    );
  });

  it("with a rule whose functions only the real one has: that is said, not guessed", () => {
    const field = { type: "string", "x-kubernetes-validations": [{ rule: "url(self).getHost() == 'x'" }] };
    expect(() => complaint(inSpec(field))).toThrow("the simulator does not implement a function in the CEL rule");
  });
});
