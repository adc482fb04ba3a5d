// Strings, enums and literals (numbers: structural-numbers.ts). zod keeps what `.min()`, `.regex()` and the rest asked for as a
// list of checks; each check becomes the keyword that the API server enforces, and of two that say the same the stricter wins.
import { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { toGoPattern } from "./regular-expression.ts";
import { type FormatCheck, formatOf, patternOf } from "./structural-formats.ts";
import { orNull, type Place, type StructuralSchema } from "./structural-types.ts";

/** The definition of one check, as far as scalars need it. */
export interface Check extends FormatCheck {
  readonly check?: string | undefined;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
}

export interface WithChecks extends Check {
  readonly checks?: readonly z.core.$ZodCheck<never>[] | undefined;
  readonly coerce?: boolean | undefined;
}

/** A format like z.email() or z.int() is its own first check. */
export function checksOf(def: WithChecks, { path }: Place): readonly Check[] {
  if (def.coerce === true) throw new NotStructuralError(path, "zod's coerce", "describe the type as it is written in YAML");
  const listed = (def.checks ?? []).map((check) => check._zod.def as Check);
  return def.check === undefined ? listed : [def, ...listed];
}

export function stringSchema(def: WithChecks, place: Place): StructuralSchema {
  const checks = checksOf(def, place);
  const patterns = checks.filter((check) => check.check === "string_format").flatMap((check) => patternOf(check, place));
  const format = formatOf(checks, place);
  const { min, max } = lengthBounds(checks);
  return {
    type: "string",
    ...(format !== undefined && { format }),
    ...(min !== undefined && { minLength: min }),
    ...(max !== undefined && { maxLength: max }),
    ...(patterns.length === 1 && { pattern: patterns[0] as string }),
    ...(patterns.length > 1 && { allOf: patterns.map((pattern) => ({ pattern })) }),
  };
}

export function templateSchema(_def: unknown, place: Place): StructuralSchema {
  const pattern = place.ancestors.at(-1)?._zod.pattern;
  if (pattern === undefined) throw new NotStructuralError(place.path, "this template", "use .regex()");
  return { type: "string", pattern: toGoPattern(pattern, place.path) };
}

/** The length bounds of strings and lists. */
export function lengthBounds(checks: readonly Check[]): { readonly min?: number; readonly max?: number } {
  const asked = (kind: string, key: "minimum" | "maximum" | "length") =>
    checks.flatMap((check) => (check.check === kind ? (check[key] ?? []) : []));
  const exact = asked("length_equals", "length");
  const minimums = [...asked("min_length", "minimum"), ...exact];
  const maximums = [...asked("max_length", "maximum"), ...exact];
  return {
    ...(minimums.length > 0 && { min: Math.max(...minimums) }),
    ...(maximums.length > 0 && { max: Math.min(...maximums) }),
  };
}

export function enumSchema(def: { readonly entries: z.core.util.EnumLike }, place: Place): StructuralSchema {
  return oneOfValues(z.core.util.getEnumValues(def.entries), place);
}

export function literalSchema(def: { readonly values: readonly unknown[] }, place: Place): StructuralSchema {
  const values = def.values.filter((value) => value !== null);
  if (values.length === 0) throw new NotStructuralError(place.path, "null alone", "use .nullable() on another type");
  const chosen = oneOfValues(values, place);
  return values.length < def.values.length ? orNull(chosen, place) : chosen;
}

function oneOfValues(values: readonly unknown[], { path }: Place): StructuralSchema {
  const types = new Set(values.map((value) => (Number.isInteger(value) ? "integer" : typeof value)));
  // The API server takes the fraction off a value before it holds it against a whole one: 1.25 would pass for 1 of 1 and 2.5.
  const [type] = types;
  if (types.size !== 1 || (type !== "string" && type !== "integer" && type !== "number" && type !== "boolean"))
    throw new NotStructuralError(path, `a choice among ${[...types].join(" and ")}`, "let all the values be of one type");
  return { type, enum: [...values] };
}
