import { describe, expect, it } from "vitest";
import { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { keyedList, rule } from "./fields.ts";
import { structuralSchema } from "./structural-schema.ts";

const tree: z.ZodType = z.object({ children: z.lazy(() => z.array(tree)) });

const refused: readonly { readonly name: string; readonly schema: z.ZodType; readonly says: string }[] = [
  { name: "a discriminated union", schema: z.discriminatedUnion("k", [z.object({ k: z.literal("a") })]), says: "exactlyOneOf" },
  { name: "a union of shapes", schema: z.union([z.object({}), z.string()]), says: "a union of object and string" },
  { name: "a union of objects", schema: z.union([z.object({ a: z.int() }), z.object({})]), says: "a union of object and object" },
  { name: "a union of lists", schema: z.union([z.array(z.int()), z.array(z.string())]), says: "a union of array and array" },
  { name: "a union of anything", schema: z.union([z.any(), z.string()]), says: "a union of anything and string" },
  { name: "a union with a default inside", schema: z.union([z.string().default("x"), z.ipv4()]), says: "a union of string and" },
  {
    name: "an integer with a default, or a string",
    schema: z.union([z.int().default(3), z.string()]),
    says: "a union of integer",
  },
  { name: "a certain integer or any string", schema: z.union([z.literal(1), z.string()]), says: "a union of integer and string" },
  {
    name: "three types, of which two are alike",
    schema: z.union([z.string().max(1), z.ipv4(), z.int()]),
    says: "a union of string",
  },
  { name: "a default that is not JSON", schema: z.any().default(Symbol("x")), says: "use a JSON value" },
  { name: "not a number", schema: z.nan(), says: "use another type" },
  { name: "a float or a string", schema: z.union([z.number(), z.string()]), says: "a union of number and string" },
  { name: "refine, which the API server cannot enforce", schema: z.string().refine(() => false), says: "rule(schema" },
  { name: "trim, which would change what was written", schema: z.string().trim(), says: "code that changes the value" },
  { name: "a transform", schema: z.string().transform(Number), says: "convert where it is read" },
  { name: "a codec", schema: z.stringbool(), says: "convert where it is read" },
  { name: "coercion of a number", schema: z.coerce.number(), says: "as it is written in YAML" },
  { name: "coercion of a boolean", schema: z.coerce.boolean(), says: "as it is written in YAML" },
  { name: "catch", schema: z.string().catch("x"), says: ".default()" },
  { name: "a date", schema: z.date(), says: "z.iso.datetime()" },
  { name: "a bigint", schema: z.bigint(), says: "z.int()" },
  { name: "a tuple", schema: z.tuple([z.string()]), says: "z.array()" },
  { name: "a set", schema: z.set(z.string()), says: "setOf()" },
  { name: "null alone", schema: z.null(), says: ".nullable()" },
  { name: "a nullable enum, whose null the API server rejects", schema: z.enum(["a"]).nullable(), says: "a value like None" },
  { name: "a literal that may be null", schema: z.literal(["a", null]), says: "a value like None" },
  { name: "a literal null", schema: z.literal(null), says: ".nullable()" },
  { name: "a literal that JSON cannot represent", schema: z.literal(1n), says: "of one type" },
  { name: "multiples of two numbers", schema: z.int().multipleOf(2).multipleOf(3), says: "common multiple" },
  { name: "a choice of two types", schema: z.literal(["a", 1]), says: "of one type" },
  { name: "a choice of whole numbers and others", schema: z.literal([1, 2.5]), says: "of one type" },
  { name: "custom code", schema: z.custom(() => true), says: "preserveUnknown" },
  { name: "a schema that contains itself", schema: tree, says: "contains itself" },
  { name: "known fields beside a catchall", schema: z.object({ a: z.string() }).catchall(z.int()), says: "z.record()" },
  { name: "a URL with a certain host", schema: z.httpUrl(), says: "z.url({ protocol: /^https?$/ })" },
  { name: "a URL that is rewritten", schema: z.url({ normalize: true }), says: "changes the value" },
  { name: "a scheme that is not said from end to end", schema: z.url({ protocol: /^http/ }), says: "from end to end" },
  { name: "a scheme whose ends are split", schema: z.url({ protocol: /^http|ftp$/ }), says: "from end to end" },
  { name: "a time with a fixed precision", schema: z.iso.datetime({ precision: 3 }), says: ".regex()" },
  { name: "a time without a zone", schema: z.iso.datetime({ local: true }), says: ".regex()" },
  { name: "two formats at once", schema: z.string().check(z.url(), z.uuid()), says: "uri and uuid" },
  {
    name: "a rule about one of several values",
    schema: z.union([rule(z.literal("a"), "true", "x"), z.literal("b")]),
    says: "a union",
  },
  { name: "a number or a string of a format", schema: z.union([z.int(), z.ipv4()]), says: "a union of integer and string" },
  {
    name: "a list whose key may be missing",
    schema: keyedList(z.object({ k: z.string().optional() }), "k"),
    says: "key k may be",
  },
  {
    name: "a list whose key may be null",
    schema: keyedList(z.object({ k: z.string().nullable() }), "k"),
    says: "key k is nullable",
  },
  { name: "a list whose key is an object", schema: keyedList(z.object({ k: z.object({}) }), "k"), says: "key k is an object" },
  {
    name: "two objects in one whose bounds differ",
    schema: z
      .object({ a: z.int() })
      .meta({ maxProperties: 1 })
      .and(z.object({ b: z.int() }).meta({ maxProperties: 2 })),
    says: "both have maxProperties",
  },
  {
    name: "multiples of a fraction, which no whole number is to the API server",
    schema: z.number().multipleOf(0.5),
    says: "whole",
  },
  { name: "a map with numbers for keys", schema: z.record(z.number(), z.string()), says: "use string keys" },
  { name: "a map that lets other keys pass", schema: z.looseRecord(z.string().regex(/^x/), z.int()), says: "use z.record()" },
  {
    name: "two objects in one with a field in common",
    schema: z.object({ a: z.int() }).and(z.object({ a: z.int() })),
    says: "use .extend()",
  },
  {
    name: "an object and a map in one",
    schema: z.object({ a: z.int() }).and(z.record(z.string(), z.int())),
    says: "use .extend()",
  },
  {
    name: "a map and an object in one",
    schema: z.record(z.string(), z.int()).and(z.object({ a: z.int() })),
    says: "use .extend()",
  },
  { name: "a list whose key is a list", schema: keyedList(z.object({ k: z.array(z.int()) }), "k"), says: "key k is an array" },
  { name: "a format that the API server does not support", schema: z.jwt(), says: ".regex()" },
  { name: "more repeats than Go makes", schema: z.string().regex(/^.{0,2048}$/), says: "use .max() for the length" },
  { name: "looking ahead in a pattern", schema: z.string().regex(/^(?!x)/), says: "looking ahead or behind" },
  { name: "ISO durations, whose pattern looks ahead", schema: z.iso.duration(), says: "looking ahead or behind" },
];

describe("a schema that a CRD cannot express is rejected with its path and an alternative", () => {
  it.each(refused)("$name", ({ schema, says }) => {
    const object = z.object({ list: z.array(z.object({ field: schema })) });
    const attempt = () => structuralSchema(object, "spec");
    expect(attempt).toThrow(NotStructuralError);
    expect(attempt).toThrow("spec.list[].field");
    expect(attempt).toThrow(says);
  });

  it("also below a map", () => {
    expect(() => structuralSchema(z.record(z.string(), z.date()), "spec.times")).toThrow("spec.times{}: zod's date");
  });
});
