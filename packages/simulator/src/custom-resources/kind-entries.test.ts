import { describe, expect, it } from "vitest";
import { type ApiObject, listAt } from "../json.ts";
import { jsonPath, printerColumns } from "./kind-entries.ts";
import { widgets } from "./widget.fixture.ts";

const object = {
  ...{ apiVersion: "example.com/v1", kind: "Widget" },
  metadata: { name: "w", creationTimestamp: "2026-01-01T00:00:00Z", annotations: { "a.b/c": "note" } },
  spec: { size: 3, list: [{ name: "x" }, { name: "y" }] },
  status: {
    conditions: [
      { type: "Other", status: "False" },
      { type: "Ready", status: "True" },
    ],
  },
} as ApiObject;

it("prints the columns of the definition", () => {
  const columns = printerColumns(listAt(widgets(), "spec", "versions")[0] ?? {});
  const now = Date.parse("2026-01-01T00:05:00Z");
  expect(columns.map(({ name, cell }) => [name, cell(object, now)])).toEqual([
    ["Name", "w"],
    ["Size", 3],
    ["Ready", "True"],
    ["Age", "5m"],
  ]);
});

it("prints an empty cell for a missing value and an error for an invalid one", () => {
  const column = (type: string, path: string) =>
    printerColumns({ additionalPrinterColumns: [{ name: "X", type, jsonPath: path }] })[1]?.cell(object, 0);
  expect(column("string", ".spec.nothing")).toBeNull();
  expect(column("integer", ".metadata.name")).toBeNull();
  expect(column("date", ".metadata.name")).toBe("<invalid>");
});

it("prints name and age without additional columns", () => {
  expect(printerColumns({}).map(({ name }) => name)).toEqual(["Name", "Age"]);
});

describe("a JSONPath", () => {
  it.each([
    { path: ".spec.size", finds: [3] },
    { path: ".spec.list[1].name", finds: ["y"] },
    { path: ".spec.list[*].name", finds: ["x", "y"] },
    { path: ".metadata.annotations['a.b/c']", finds: ["note"] },
    { path: ".metadata.annotations.a\\.b/c", finds: ["note"] },
    { path: '.status.conditions[?(@.type=="Ready")].status', finds: ["True"] },
    { path: ".spec.nothing.at.all", finds: [] },
  ])("$path finds $finds", ({ path, finds }) => {
    expect(jsonPath(path)?.(object)).toEqual(finds);
  });

  it("with an unsupported syntax is undefined", () => {
    expect(jsonPath("spec")).toBeUndefined();
  });
});
