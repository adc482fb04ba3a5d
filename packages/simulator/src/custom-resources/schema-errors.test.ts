// The sentences were taken from a real API server (Kubernetes 1.37.1).
import { describe, expect, it } from "vitest";
import { sentenceOf } from "../server/field-error.ts";
import { schemaErrors } from "./schema-errors.ts";
import { widgetSchema } from "./widget.fixture.ts";

const complaint = (spec: unknown, old?: unknown) =>
  sentenceOf(schemaErrors({ value: { spec }, ...(old !== undefined && { old: { spec: old } }), path: "" }, widgetSchema));

describe("the schema refuses", () => {
  it.each([
    {
      what: "a number that is too small",
      spec: { size: 0 },
      says: "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
    },
    {
      what: "a number that is too large",
      spec: { size: 10 },
      says: "spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9",
    },
    {
      what: "text for a number",
      spec: { size: "x" },
      says: 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    },
    {
      what: "a flag for a number",
      spec: { size: true },
      says: 'spec.size: Invalid value: "": spec.size in body must be of type int64: ""',
    },
    {
      what: "no text at all",
      spec: { name: "" },
      says: 'spec.name: Invalid value: "": spec.name in body should be at least 1 chars long',
    },
    { what: "text that is too long", spec: { name: "abcdef" }, says: "spec.name: Too long: may not be more than 5 bytes" },
    {
      what: "text of another form",
      spec: { name: "A" },
      says: "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'",
    },
    {
      what: "what is not offered",
      spec: { mode: "X" },
      says: 'spec.mode: Unsupported value: "X": supported values: "Auto", "InPlace"',
    },
    {
      what: "a time that is none",
      spec: { when: "x" },
      says: 'spec.when: Invalid value: "x": spec.when in body must be of type date-time: "x"',
    },
    {
      what: "a fraction for a number or its name",
      spec: { memory: 1.5 },
      says: 'spec.memory: Invalid value: "number": spec.memory in body must be of type integer,string: "number"',
    },
    {
      what: "a list that is too long",
      spec: { tags: ["a", "b", "c", "d"] },
      says: "spec.tags: Too many: 4: must have at most 3 items",
    },
    {
      what: "a map that is too large",
      spec: { map: { a: 1, b: 2, c: 3 } },
      says: "spec.map: Too many: 3: must have at most 2 items",
    },
    {
      what: "a value of a map",
      spec: { map: { a: -1 } },
      says: "spec.map.a: Invalid value: -1: spec.map.a in body should be greater than or equal to 0",
    },
    { what: "an element without what is required", spec: { parts: [{}] }, says: "spec.parts[0].name: Required value" },
    { what: "null", spec: null, says: 'spec: Invalid value: "null": spec in body must be of type object: "null"' },
  ])("$what", ({ spec, says }) => {
    expect(complaint(spec)).toBe(says);
  });

  it("a fraction for a whole number, twice", () => {
    expect(complaint({ size: 1.5 })).toBe(
      '[spec.size: Invalid value: "float64": spec.size in body must be of type int64: "float64", <nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.size]',
    );
  });

  it("what is none of several", () => {
    expect(complaint({ either: "x" })).toBe(
      '[<nil>: Invalid value: "": "spec.either" must validate at least one schema (anyOf), spec.either: Invalid value: "x": spec.either in body must be of type ipv4: "x"]',
    );
  });
});

describe("on an update", () => {
  it("what was wrong before may stay, until it is touched", () => {
    expect(complaint({ size: 0, mode: "Auto" }, { size: 0 })).toBe("[]");
    expect(complaint({ size: -1, mode: "Auto" }, { size: 0 })).toContain("spec.size");
  });

  it("elements are known by their keys", () => {
    expect(complaint({ parts: [{ name: "b" }, { name: 5 }] }, { parts: [{ name: 5 }] })).toBe("[]");
  });
});
