// Numbers and their bounds. The API server truncates a bound before it compares it with an integral value (seen on 1.32 and
// 1.37): it accepts 0 for a number of at least 0.5, and rejects 1 for a number below 1.5. It rejects every integer with a
// fractional bound or a fractional multipleOf. So integers get integral bounds here, and a CEL rule enforces a fractional bound:
//
//     at least 0.5     0 would pass     minimum: 0.5 as documentation, and self >= 0.5
//     at most -0.5     0 would pass     maximum: -0.5, and self <= -0.5
//     less than 1.5    1 would not      self < 1.5 alone
//     more than -0.5   0 would not      self > -0.5 alone
import { NotStructuralError } from "./errors.ts";
import { type Check, checksOf, type WithChecks } from "./structural-scalars.ts";
import type { CelRule, Place, StructuralSchema } from "./structural-types.ts";

/** zod's int() has the bounds ±2^53. In the CRD it is an int64 without them. */
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

/** The lower and the upper bound, named as in zod's checks. */
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
  // A bound outside the range of the type has no effect, and the API server rejects it.
  const farthest = type === "integer" ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  const bound = strictest(
    [...usual, ...asked].filter(({ value }) => Math.abs(value) <= farthest),
    up,
  );
  if (bound === undefined) return {};
  return type === "integer" ? inKeywords(side, whole(bound, up)) : asNumber(side, bound);
}

/** The stricter bound; of two equal ones the exclusive. */
function strictest(bounds: readonly Bound[], up: 1 | -1): Bound | undefined {
  return bounds.toSorted((a, b) => (b.value - a.value) * up || Number(b.exclusive) - Number(a.exclusive))[0];
}

/** The equivalent bound for integers. */
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
