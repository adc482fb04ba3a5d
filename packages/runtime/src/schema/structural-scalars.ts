// Strings, enums and literals (numbers: structural-numbers.ts). zod stores `.min()`, `.regex()` and so on as a list of checks;
// each check becomes a keyword that the API server enforces, and the stricter of two wins.
import { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { toGoPattern } from "./regular-expression.ts";
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
  // The API server truncates a value before it compares it with an integer: 1.25 would match 1 in an enum of 1 and 2.5.
  const [type] = types;
  if (types.size !== 1 || (type !== "string" && type !== "integer" && type !== "number" && type !== "boolean"))
    throw new NotStructuralError(path, `a choice among ${[...types].join(" and ")}`, "let all the values be of one type");
  return { type, enum: [...values] };
}

// String formats. The API server supports some by name, but accepts more than zod does: "/etc/passwd" is a
// uri there, and any 32 hexadecimal digits are a uuid. A pattern enforces the rest, or the format is rejected here.

/** The check of a format, with its options. */
export interface FormatCheck {
  readonly format?: string | undefined;
  readonly pattern?: RegExp | undefined;
  /** Of a URL. */
  readonly protocol?: RegExp;
  /** Of a URL. */
  readonly hostname?: RegExp;
  /** Of a URL: whether zod rewrites it. */
  readonly normalize?: boolean;
  /** Of a time: the number of fractional digits. */
  readonly precision?: number | null;
  /** Of a time: whether the zone is optional. */
  readonly local?: boolean;
}

/** Formats that the API server supports under these names. All others become patterns. */
const formats: Readonly<Record<string, string>> = {
  datetime: "date-time",
  date: "date",
  uuid: "uuid",
  guid: "uuid",
  ipv4: "ipv4",
  ipv6: "ipv6",
  url: "uri",
  hostname: "hostname",
};

/** Formats whose pattern is stricter than the name: dashes and version. */
const stricterHere: ReadonlySet<string> = new Set(["uuid", "guid"]);

/**
 * The API server does not look at the type of a list where it knows the format of a string (seen on 1.32 and 1.37): [] would pass
 * for a time. No list is both longer than none and not longer, and strings are not counted.
 */
export const noList = { minItems: 1, maxItems: 0 } as const;

/** The API server's name of the format, if it has one. */
export function formatOf(checks: readonly FormatCheck[], { path }: Place): string | undefined {
  const [format, ...others] = new Set(checks.flatMap((check) => formats[check.format ?? ""] ?? []));
  if (others.length > 0)
    throw new NotStructuralError(path, `a string of the formats ${[format, ...others].join(" and ")}`, "choose one of them");
  return format;
}

/** Formats that zod checks by code in addition to the pattern. */
const wholePatterns: Readonly<Record<string, RegExp>> = { base64: z.regexes.base64, base64url: z.regexes.base64url };

/** The pattern that is required in addition to the format. */
export function patternOf(check: FormatCheck, { path }: Place): readonly string[] {
  const { format = "" } = check;
  const pattern = wholePatterns[format] ?? check.pattern;
  if (format === "url") return [schemePattern(check, path)];
  if (format === "datetime" && ((check.precision ?? undefined) !== undefined || check.local === true))
    throw new NotStructuralError(path, "a time with a precision of its own, or without a zone", "use .regex() on a z.string()");
  if (formats[format] !== undefined && !stricterHere.has(format)) return [];
  if (pattern === undefined)
    throw new NotStructuralError(path, `the string format ${format}`, "use .regex() with a pattern that says the same");
  return [toGoPattern(pattern, path)];
}

/** A scheme between both ends of a pattern: letters, and groups without groups in them. An `|` outside of a group would split the ends. */
const wholeScheme = /^\^((?:\((?:\?:)?[^()^$\\]+\)|[^()|^$\\])+)\$$/;

/** The pattern of a URL's scheme. Case-insensitive, as in a URL parser. */
function schemePattern({ protocol, hostname, normalize }: FormatCheck, path: string): string {
  if (hostname !== undefined)
    throw new NotStructuralError(
      path,
      "a URL with demands on its host (z.httpUrl(), hostname)",
      "use z.url({ protocol: /^https?$/ }), and .regex() for more",
    );
  if (normalize === true)
    throw new NotStructuralError(path, "code that changes the value (normalize)", "take the URL as it is written");
  if (protocol === undefined) return "^[A-Za-z][A-Za-z0-9+.-]*:";
  const scheme = wholeScheme.exec(protocol.source)?.[1];
  if (scheme === undefined)
    throw new NotStructuralError(path, `the protocol /${protocol.source}/`, "write it from end to end: /^(https|ftp)$/");
  // zod requires slashes for these two schemes only.
  const slashes = protocol.source === z.regexes.httpProtocol.source ? "//" : "";
  return toGoPattern(new RegExp(`^${scheme}:${slashes}`, "i"), path);
}
