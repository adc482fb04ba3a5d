// Numbers and their bounds. The API server takes the fraction off a bound before it holds a whole value against it (seen on 1.32
// and 1.37): a number of at least 0.5 may be 0 there, and one below 1.5 may not be 1. And an integer with such a bound, or a
// multiple of 0.5, is refused whatever it is. So integers get whole bounds here, and where a number's would be misread, a rule says it:
//
//     at least 0.5     0 would pass     minimum: 0.5 for those who read the schema, and self >= 0.5
//     at most -0.5     0 would pass     maximum: -0.5, and self <= -0.5
//     less than 1.5    1 would not      self < 1.5 alone
//     more than -0.5   0 would not      self > -0.5 alone
import { NotStructuralError } from "./errors.ts";
import { type Check, checksOf, type WithChecks } from "./structural-scalars.ts";
import type { CelRule, Place, StructuralSchema } from "./structural-types.ts";

/** zod's int() means "safe in JavaScript": ±2^53. In the cluster that is an int64; the bounds would only be noise there. */
const numberFormats: Readonly<Record<string, StructuralSchema>> = {
  safeint: { type: "integer", format: "int64" },
  int32: { type: "integer", format: "int32", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  uint32: { type: "integer", format: "int64", minimum: 0, maximum: 2 ** 32 - 1 },
  float32: { type: "number", format: "float" },
  float64: { type: "number", format: "double" },
};

interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

/** What is said of the lower and of the upper side. Directions are those of zod's checks. */
const sides = {
  greater_than: { keyword: "minimum", sign: ">", words: ["at least", "more than"], up: 1 },
  less_than: { keyword: "maximum", sign: "<", words: ["at most", "less than"], up: -1 },
} as const;

type Side = keyof typeof sides;

export function numberSchema(def: WithChecks, place: Place): StructuralSchema {
  const checks = checksOf(def, place);
  const formats = checks.map((check) => numberFormats[check.format ?? ""] ?? {});
  const { minimum: _, maximum: __, ...base }: StructuralSchema = Object.assign({ type: "number" }, ...formats);
  const bounds = (["greater_than", "less_than"] as const).map((side) => boundSchema(side, checks, formats, base.type));
  const rules = bounds.flatMap((bound) => bound["x-kubernetes-validations"] ?? []);
  return {
    ...Object.assign({}, base, ...bounds),
    ...divisor(checks, place),
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  };
}

function boundSchema(
  side: Side,
  checks: readonly Check[],
  formats: readonly StructuralSchema[],
  type: StructuralSchema["type"],
): StructuralSchema {
  const { keyword, up } = sides[side];
  const usual = formats.flatMap((format) => format[keyword] ?? []).map((value) => ({ value, exclusive: false }));
  const asked = checks
    .filter(({ check }) => check === side)
    .map(({ value, inclusive }) => ({ value: Number(value), exclusive: inclusive === false }));
  // What no number of this type can be beyond says nothing; the API server would stumble over it.
  const farthest = type === "integer" ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  const bound = strictest(
    [...usual, ...asked].filter(({ value }) => Math.abs(value) <= farthest),
    up,
  );
  if (bound === undefined) return {};
  return type === "integer" ? inKeywords(side, whole(bound, up)) : asNumber(side, bound);
}

/** Of two equal ones the exclusive. */
function strictest(bounds: readonly Bound[], up: 1 | -1): Bound | undefined {
  return bounds.toSorted((a, b) => (b.value - a.value) * up || Number(b.exclusive) - Number(a.exclusive))[0];
}

/** The same bound for whole values. */
function whole({ value, exclusive }: Bound, up: 1 | -1): Bound {
  return Number.isInteger(value)
    ? { value, exclusive }
    : { value: up === 1 ? Math.ceil(value) : Math.floor(value), exclusive: false };
}

function asNumber(side: Side, bound: Bound): StructuralSchema {
  const { value, exclusive } = bound;
  const isAwayFromZero = value * sides[side].up > 0;
  const isMisread = !Number.isInteger(value) && isAwayFromZero !== exclusive;
  if (!isMisread) return inKeywords(side, bound);
  return { ...(exclusive ? {} : inKeywords(side, bound)), "x-kubernetes-validations": [inCel(side, bound)] };
}

function inKeywords(side: Side, { value, exclusive }: Bound): StructuralSchema {
  if (side === "greater_than") return { minimum: value, ...(exclusive && { exclusiveMinimum: true }) };
  return { maximum: value, ...(exclusive && { exclusiveMaximum: true }) };
}

function inCel(side: Side, { value, exclusive }: Bound): CelRule {
  const { sign, words } = sides[side];
  return { rule: `self ${sign}${exclusive ? "" : "="} ${value}`, message: `must be ${words[exclusive ? 1 : 0]} ${value}` };
}

function divisor(checks: readonly Check[], { path }: Place): StructuralSchema {
  const divisors = checks.filter(({ check }) => check === "multiple_of").map(({ value }) => Number(value));
  if (divisors.length > 1) throw new NotStructuralError(path, "more than one multipleOf()", "use their common multiple");
  const [only] = divisors;
  if (only === undefined) return {};
  if (!Number.isInteger(only)) throw new NotStructuralError(path, `multipleOf(${only})`, "use a whole number, of a smaller unit");
  return { multipleOf: only };
}
