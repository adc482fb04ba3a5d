import { describe, expect, it } from "vitest";
import { z } from "zod";
import { exactlyOneOf, keyedList, rule } from "./fields.ts";
import { noList } from "./structural-scalars.ts";
import { structuralSchema } from "./structural-schema.ts";
import type { StructuralSchema } from "./structural-types.ts";

interface Case {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly crd: StructuralSchema;
}

const int64 = { type: "integer", format: "int64" } as const;

const cases: readonly Case[] = [
  { name: "an int is an int64 without JavaScript's bounds", schema: z.int(), crd: int64 },
  { name: "bounds of an int are kept", schema: z.int().min(0).max(9), crd: { ...int64, minimum: 0, maximum: 9 } },
  {
    name: "of two bounds the stricter wins",
    schema: z.int().min(1).min(5).max(9).max(7),
    crd: { ...int64, minimum: 5, maximum: 7 },
  },
  {
    name: "a bound may be exclusive",
    schema: z.number().gt(1).lt(10),
    crd: { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true },
  },
  {
    name: "an exclusive bound is stricter than the same inclusive one",
    schema: z.number().min(1).gt(1),
    crd: { type: "number", minimum: 1, exclusiveMinimum: true },
  },
  { name: "z.number().int() is an integer", schema: z.number().int(), crd: int64 },
  {
    name: "the strictest of several bounds",
    schema: z.int().min(3).min(1).max(5).max(9),
    crd: { ...int64, minimum: 3, maximum: 5 },
  },
  {
    name: "the strictest of several bounds, in whatever order",
    schema: z.number().gt(1).min(2).lt(10).max(9),
    crd: { type: "number", minimum: 2, maximum: 9 },
  },
  {
    name: "the exclusive one of two equal bounds, in whatever order",
    schema: z.number().gt(1).min(1).max(10).lt(10),
    crd: { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true },
  },
  {
    name: "a bound beyond those of the type is dropped",
    schema: z
      .uint32()
      .min(-1)
      .max(2 ** 40),
    crd: { ...int64, minimum: 0, maximum: 4294967295 },
  },
  { name: "single precision", schema: z.float32(), crd: { type: "number", format: "float" } },
  { name: "double precision", schema: z.float64(), crd: { type: "number", format: "double" } },
  { name: "multiples", schema: z.int().multipleOf(5), crd: { ...int64, multipleOf: 5 } },
  {
    name: "the strictest of several lengths",
    schema: z.string().min(2).min(1).max(5).max(9),
    crd: { type: "string", minLength: 2, maxLength: 5 },
  },
  { name: "a choice of fractions", schema: z.literal([0.5, 1.5]), crd: { type: "number", enum: [0.5, 1.5] } },
  { name: "no choice at all", schema: z.literal(true), crd: { type: "boolean", enum: [true] } },
  { name: "whatever it is", schema: z.any(), crd: { "x-kubernetes-preserve-unknown-fields": true } },
  { name: "a readonly value", schema: z.string().readonly(), crd: { type: "string" } },
  { name: "a default that is checked, too", schema: z.string().prefault("x"), crd: { type: "string", default: "x" } },
  {
    name: "a field that may be missing no more",
    schema: z.object({ a: z.nonoptional(z.string().optional()) }),
    crd: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  },
  {
    name: "keywords that a CRD does not have are left out",
    schema: z.string().meta({ title: "t", id: "i" }),
    crd: { type: "string", title: "t" },
  },
  { name: "a union of one", schema: z.union([z.string().max(3)]), crd: { type: "string", maxLength: 3 } },
  {
    name: "a union is nullable if one of its parts is",
    schema: z.union([z.string().max(3).nullable(), z.ipv4()]),
    crd: { type: "string", nullable: true, anyOf: [{ maxLength: 3 }, { format: "ipv4" }] },
  },
  { name: "a template", schema: z.templateLiteral(["a", z.string()]), crd: { type: "string", pattern: "^a[\\s\\S]{0,}$" } },
  {
    name: "an int32 keeps its bounds, which are smaller than JSON's",
    schema: z.int32(),
    crd: { type: "integer", format: "int32", minimum: -2147483648, maximum: 2147483647 },
  },
  {
    name: "a bound beside those of an int32 or uint32 does not loosen them",
    schema: z.uint32().min(-5).max(9),
    crd: { ...int64, minimum: 0, maximum: 9 },
  },
  { name: "bounds of an int are whole", schema: z.int().min(0.5).lt(9.5), crd: { ...int64, minimum: 1, maximum: 9 } },
  { name: "a bound beyond all integers is none", schema: z.int().min(-Infinity).max(1e30), crd: int64 },
  {
    name: "a bound that the API server would take the fraction off is a rule, too",
    schema: z.number().min(0.5),
    crd: {
      type: "number",
      minimum: 0.5,
      "x-kubernetes-validations": [{ rule: "self >= 0.5", message: "must be at least 0.5" }],
    },
  },
  {
    name: "an exclusive one is a rule alone: the keyword would reject the next integer",
    schema: z.number().gt(-0.5).lt(1.5),
    crd: {
      type: "number",
      "x-kubernetes-validations": [
        { rule: "self > -0.5", message: "must be more than -0.5" },
        { rule: "self < 1.5", message: "must be less than 1.5" },
      ],
    },
  },
  {
    name: "where nothing changes without the fraction, it is no rule",
    schema: z.number().gt(0.5).max(1.5),
    crd: { type: "number", minimum: 0.5, exclusiveMinimum: true, maximum: 1.5 },
  },
  { name: "lengths", schema: z.string().min(1).max(5), crd: { type: "string", minLength: 1, maxLength: 5 } },
  { name: "an exact length", schema: z.string().length(3), crd: { type: "string", minLength: 3, maxLength: 3 } },
  { name: "a pattern", schema: z.string().regex(/^a+$/), crd: { type: "string", pattern: "^a+$" } },
  {
    name: "two patterns must both match",
    schema: z.string().startsWith("a").endsWith("z"),
    crd: { type: "string", allOf: [{ pattern: "^a.*" }, { pattern: ".*z$" }] },
  },
  {
    name: "a time is a format, not zod's pattern of leap years",
    schema: z.iso.datetime(),
    crd: { type: "string", format: "date-time", ...noList },
  },
  {
    name: "an explicit format",
    schema: z.string().meta({ format: "byte" }),
    crd: { type: "string", format: "byte", minItems: 1, maxItems: 0 },
  },
  { name: "an enum", schema: z.enum(["a", "b"]), crd: { type: "string", enum: ["a", "b"] } },
  { name: "a number literal is an integer", schema: z.literal(5), crd: { type: "integer", enum: [5] } },
  { name: "nullable", schema: z.string().nullable(), crd: { type: "string", nullable: true } },
  { name: "a default", schema: z.int().default(3), crd: { ...int64, default: 3 } },
  {
    name: "a field with a default is not required, nor is an optional one",
    schema: z.object({ a: z.string(), b: z.string().default("x"), c: z.string().optional() }),
    crd: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string", default: "x" }, c: { type: "string" } },
      required: ["a"],
    },
  },
  { name: "a strict object is a plain one: the API server prunes", schema: z.strictObject({}), crd: { type: "object" } },
  {
    name: "a loose object keeps what it does not know",
    schema: z.looseObject({}),
    crd: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
  { name: "unknown is anything", schema: z.unknown(), crd: { "x-kubernetes-preserve-unknown-fields": true } },
  {
    name: "a list",
    schema: z.array(z.boolean()).min(1).max(3),
    crd: { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 3 },
  },
  {
    name: "a map",
    schema: z.record(z.string(), z.int()),
    crd: { type: "object", additionalProperties: int64 },
  },
  {
    name: "constraints on keys become rules",
    schema: z.record(
      z
        .string()
        .min(2)
        .max(3)
        .regex(/^it's\.$/)
        .regex(/^i/),
      z.boolean(),
    ),
    crd: {
      type: "object",
      additionalProperties: { type: "boolean" },
      "x-kubernetes-validations": [
        { rule: "self.all(key, size(key) >= 2)", message: "keys must have at least 2 characters" },
        { rule: "self.all(key, size(key) <= 3)", message: "keys must have at most 3 characters" },
        { rule: "self.all(key, key.matches('^it\\'s\\\\.$'))", message: "keys must match ^it's\\.$" },
        { rule: "self.all(key, key.matches('^i'))", message: "keys must match ^i" },
      ],
    },
  },
  {
    name: "a map of whatever",
    schema: z.object({}).catchall(z.int()),
    crd: { type: "object", additionalProperties: int64 },
  },
  {
    name: "a map over an enum requires no value that may be missing",
    schema: z.record(z.enum(["a"]), z.boolean().optional()),
    crd: { type: "object", properties: { a: { type: "boolean" } } },
  },
  {
    name: "a map over an enum is an object",
    schema: z.record(z.enum(["a", "b"]), z.boolean()),
    crd: { type: "object", properties: { a: { type: "boolean" }, b: { type: "boolean" } }, required: ["a", "b"] },
  },
  {
    name: "a partial map over an enum requires nothing",
    schema: z.partialRecord(z.enum(["a"]), z.boolean()),
    crd: { type: "object", properties: { a: { type: "boolean" } } },
  },
  {
    name: "an integer or a string",
    schema: z.union([z.int().min(1), z.string().max(9)]),
    crd: { "x-kubernetes-int-or-string": true, minimum: 1, maxLength: 9 },
  },
  { name: "a union with null is nullable", schema: z.union([z.string(), z.null()]), crd: { type: "string", nullable: true } },
  {
    name: "literals joined by a union are one enum",
    schema: z.union([z.literal("a"), z.enum(["b", "a"])]),
    crd: { type: "string", enum: ["a", "b"] },
  },
  {
    name: "several forms of a string",
    schema: z.union([z.ipv4(), z.string().max(3)]),
    crd: { type: "string", anyOf: [{ format: "ipv4" }, { maxLength: 3 }] },
  },
  { name: "a form that allows everything needs no anyOf", schema: z.union([z.ipv4(), z.string()]), crd: { type: "string" } },
  {
    name: "two objects in one",
    schema: z.object({ a: z.boolean() }).and(z.object({ b: z.boolean() })),
    crd: { type: "object", properties: { a: { type: "boolean" }, b: { type: "boolean" } }, required: ["a", "b"] },
  },
  {
    name: "two objects in one, of which nothing is required",
    schema: z
      .object({ a: z.boolean().optional() })
      .and(z.object({ b: z.boolean().optional() }))
      .describe("both"),
    crd: { type: "object", description: "both", properties: { a: { type: "boolean" }, b: { type: "boolean" } } },
  },
  {
    name: "two objects in one, with the rules of both",
    schema: z
      .object({ a: z.boolean() })
      .apply(rule, "self.a", "a must be")
      .and(z.object({ b: z.boolean() }).apply(rule, "self.b", "b must be"))
      .apply(rule, "self.a != self.b", "not both"),
    crd: {
      type: "object",
      properties: { a: { type: "boolean" }, b: { type: "boolean" } },
      required: ["a", "b"],
      "x-kubernetes-validations": [
        { rule: "self.a", message: "a must be" },
        { rule: "self.b", message: "b must be" },
        { rule: "self.a != self.b", message: "not both" },
      ],
    },
  },
  {
    name: "a URL has a scheme, which no API server asks for",
    schema: z.url(),
    crd: { type: "string", format: "uri", ...noList, pattern: "^[A-Za-z][A-Za-z0-9+.-]*:" },
  },
  {
    name: "a URL of one scheme",
    schema: z.url({ protocol: /^https$/ }),
    crd: { type: "string", format: "uri", ...noList, pattern: "(?i)^https:" },
  },
  {
    name: "a URL with the scheme http or https",
    schema: z.url({ protocol: /^https?$/ }),
    crd: { type: "string", format: "uri", ...noList, pattern: "(?i)^https?://" },
  },
  {
    name: "a URL of one of several schemes",
    schema: z.url({ protocol: /^(?:s3|gs)$/ }).regex(/z$/),
    crd: { type: "string", format: "uri", ...noList, allOf: [{ pattern: "(?i)^(?:s3|gs):" }, { pattern: "z$" }] },
  },
  {
    name: "a UUID of one version",
    schema: z.uuidv4(),
    crd: { type: "string", format: "uuid", ...noList, pattern: z.regexes.uuid4.source },
  },
  {
    name: "a keyed list may have a key with a default",
    schema: keyedList(z.object({ port: z.int(), protocol: z.string().default("TCP") }), "port", "protocol"),
    crd: {
      type: "array",
      items: {
        type: "object",
        properties: { port: int64, protocol: { type: "string", default: "TCP" } },
        required: ["port"],
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
    },
  },
  {
    name: "the outermost description wins",
    schema: z.string().describe("inner").optional().describe("outer"),
    crd: { type: "string", description: "outer" },
  },
  {
    name: "rules survive what is chained after them, and add up",
    schema: z.int().apply(rule, "self > 1", "must be more than 1").max(9).apply(rule, "self != 5", "not 5").optional(),
    crd: {
      ...int64,
      maximum: 9,
      "x-kubernetes-validations": [
        { rule: "self > 1", message: "must be more than 1" },
        { rule: "self != 5", message: "not 5" },
      ],
    },
  },
  {
    name: "exactlyOneOf escapes names that are not identifiers in CEL",
    schema: exactlyOneOf(z.object({ "a-b": z.boolean().optional(), in: z.boolean().optional() }), "a-b", "in"),
    crd: {
      type: "object",
      properties: { "a-b": { type: "boolean" }, in: { type: "boolean" } },
      "x-kubernetes-validations": [
        {
          rule: "[has(self.a__dash__b), has(self.__in__)].exists_one(set, set)",
          message: "exactly one of a-b, in must be set",
        },
      ],
    },
  },
];

describe("structuralSchema translates", () => {
  it.each([
    { format: "date", schema: z.iso.date() },
    { format: "date-time", schema: z.iso.datetime() },
    { format: "ipv4", schema: z.ipv4() },
    { format: "ipv6", schema: z.ipv6() },
    { format: "hostname", schema: z.hostname() },
    { format: "uuid", schema: z.uuid() },
    { format: "uuid", schema: z.guid() },
  ])("the format $format", ({ format, schema }) => {
    expect(structuralSchema(schema, "spec")).toMatchObject({ type: "string", format });
  });

  it.each(cases)("$name", ({ schema, crd }) => expect(structuralSchema(schema, "spec")).toEqual(crd));
});
