import { defineResource, z } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { unbounded, undescribed } from "./completeness.ts";
import { Gordon, Memcached } from "./kinds.fixture.ts";

const Loose = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Loose",
  spec: z.object({
    text: z.string(),
    list: z.array(z.string().max(3)),
    nested: z.array(z.object({ name: z.string() })).max(3),
    map: z.record(z.string(), z.int()),
    port: z.union([z.int(), z.string()]),
    free: z.looseObject({}),
    fine: z.enum(["a"]),
    when: z.iso.datetime().describe("When."),
  }),
});

describe("what an author may have forgotten", () => {
  it("lists every field that may grow without end (promise S3)", () => {
    expect(unbounded(Loose)).toEqual([
      "spec.text: a string without .max()",
      "spec.list: a list without .max()",
      "spec.nested[].name: a string without .max()",
      "spec.map: a map without a bound: use mapOf()",
      "spec.port: an int-or-string without .max() for the string",
      "spec.free: fields of any size, since unknown ones are preserved",
    ]);
  });

  it("lists every field that kubectl explain would be silent about", () => {
    expect(undescribed(Loose)).toEqual(
      ["text", "list", "nested", "nested[].name", "map", "port", "free", "fine"].map((field) => `spec.${field}`),
    );
  });

  it.each([Gordon, Memcached].map((resource) => [resource.kind, resource] as const))(
    "finds %s described to the last field",
    (_, resource) => {
      expect(undescribed(resource)).toEqual([]);
    },
  );
});
