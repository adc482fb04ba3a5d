// Field types that Kubernetes has and zod lacks. Each is a zod schema and can be chained like any other:
//
//     maxMemory: quantity({ max: "1Ti" }).optional().describe("Upper bound of the memory limit."),
//     cooldown: duration({ min: "1s" }).default("5m"),
//     selector: labelSelector().optional(),
//     members: keyedList(z.object({ name: z.string().max(63), size: z.int() }), "name").max(20),
//     template: preserveUnknown<PodTemplateSpec>().describe("Pod template, as in a Deployment."),
import { z } from "zod";
import { parseQuantity } from "../objects/quantity.ts";
import { parseDuration } from "../objects/time.ts";
import { celString } from "./structural-collections.ts";
import type { CelRule } from "./structural-types.ts";

// CEL rules instead of `pattern` validate quantities and durations: the API server reports a pattern mismatch with the whole
// expression, and a rule with a sentence.

/** The syntax of `resource.Quantity`: "512Mi", "1.5Gi", "500m", "1e3". */
const quantityForm = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;

/** A non-negative duration in Go's syntax: "1h30m" or "300ms". */
const durationForm = /^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$/;

export interface QuantityOptions {
  /** The minimum, as a quantity. */
  readonly min?: string;
  /** The maximum, as a quantity. */
  readonly max?: string;
}

/** A quantity such as "512Mi" or 3: a string or an integer, as for memory and CPU in a pod. Read it with `parseQuantity`. */
export function quantity(options: QuantityOptions = {}) {
  const text = z.union([z.string().max(64), z.int()]);
  const form = rule(text, "isQuantity(string(self))", "must be a quantity, like 512Mi or 2", {
    test: (value: string | number) => quantityForm.test(String(value)),
  });
  const cel = (bound: string, sign: string) =>
    `!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity(${celString(bound)})) ${sign} 0`;
  const compareTo = (bound: string) => {
    const limit = parseQuantity(bound);
    return (value: string | number) => parseQuantity(value).compare(limit);
  };
  return withBounds(form, options, { cel, compareTo });
}

export interface DurationOptions {
  /** The minimum: "1s". */
  readonly min?: string;
  /** The maximum: "24h". */
  readonly max?: string;
}

/** A duration such as "90s" or "1h30m". Read it with `parseDuration`. */
export function duration(options: DurationOptions = {}) {
  const matches = `self.matches(${celString(durationForm.source)})`;
  const form = rule(z.string().max(32), matches, "must be a duration, like 90s or 1h30m", {
    test: (value: string) => durationForm.test(value),
  });
  const cel = (bound: string, sign: string) => `!${matches} || duration(self) ${sign} duration(${celString(bound)})`;
  const compareTo = (bound: string) => {
    const limit = parseDuration(bound);
    return (value: string) => parseDuration(value) - limit;
  };
  return withBounds(form, options, { cel, compareTo });
}

interface Order<V> {
  /** The CEL expression that compares the value with the bound. */
  readonly cel: (bound: string, sign: "<=" | ">=") => string;
  /** Compares a value with the bound, like a sort function. @throws if either is malformed */
  readonly compareTo: (bound: string) => (value: V) => number;
}

function withBounds<S extends z.ZodType, V>(
  form: S,
  { min, max }: { readonly min?: string; readonly max?: string },
  { cel, compareTo }: Order<V>,
): S {
  const bounded = (schema: S, bound: string, sign: "<=" | ">=", message: string) => {
    const compare = compareTo(bound);
    const test = (value: V) => {
      try {
        return sign === ">=" ? compare(value) >= 0 : compare(value) <= 0;
      } catch {
        return true; // another rule reports malformed values
      }
    };
    return rule(schema, cel(bound, sign), message, { test });
  };
  const above = min === undefined ? form : bounded(form, min, ">=", `must be at least ${min}`);
  return max === undefined ? above : bounded(above, max, "<=", `must be at most ${max}`);
}

/** A prefix of 253 characters, a slash and a name of 63. */
const labelKey = () => z.string().max(317);
/** As in apimachinery's validation, without the maximum length of the prefix, which a pattern cannot express. */
const qualifiedName =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = () =>
  z
    .string()
    .max(63)
    .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/);

/** A map of strings with bounded keys, values and size: labels, annotations, node selectors. */
export function stringMap({ max = 64, maxValueLength = 256 }: { readonly max?: number; readonly maxValueLength?: number } = {}) {
  return mapOf(z.string().max(maxValueLength), { max });
}

/** A map with at most `max` entries; zod's records have no bound. */
export function mapOf<V extends z.ZodType>(value: V, { max }: { readonly max: number }) {
  const fits = twin((map: object) => Object.keys(map).length <= max);
  return z.record(labelKey(), value).refine(fits, `must have at most ${max} entries`).meta({ maxProperties: max });
}

export interface LabelSelectorBounds {
  /** Maximum number of entries in matchLabels. @default 64 */
  readonly maxLabels?: number;
  /** Maximum number of entries in matchExpressions. @default 32 */
  readonly maxExpressions?: number;
  /** Maximum number of values in one expression. @default 64 */
  readonly maxValues?: number;
}

/**
 * A label selector, as in a Deployment. The API server rejects unknown operators, missing or superfluous values, and malformed keys and
 * values. Only the keys of matchLabels are not checked beyond their length: the cost of a CEL rule on map keys is always estimated as
 * too high. Such a selector matches nothing.
 */
export function labelSelector({ maxLabels = 64, maxExpressions = 32, maxValues = 64 }: LabelSelectorBounds = {}) {
  const expression = rule(
    z.object({
      key: labelKey().regex(qualifiedName).describe("Label key that the selector applies to."),
      operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("Relation of the key to the values."),
      values: z
        .array(labelValue())
        .max(maxValues)
        .optional()
        .describe("Values for In and NotIn. Must be empty for Exists and DoesNotExist."),
    }),
    "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
    "values are required for In and NotIn, and must be empty for Exists and DoesNotExist",
    { test: takesValues },
  );
  return z
    .object({
      matchLabels: mapOf(labelValue(), { max: maxLabels }).optional().describe("Labels that an object must have."),
      matchExpressions: z
        .array(expression)
        .max(maxExpressions)
        .optional()
        .describe("Requirements on the labels of an object. All must be met."),
    })
    .meta({ "x-kubernetes-map-type": "atomic" });
}

function takesValues({ operator, values = [] }: { readonly operator: string; readonly values?: readonly string[] }): boolean {
  return (operator === "In" || operator === "NotIn") === values.length > 0;
}

/** A list without duplicates (list type "set"): several field managers can each own some elements. */
export function setOf<E extends z.ZodString | z.ZodEnum | z.ZodInt>(element: E) {
  const distinct = twin((list: readonly unknown[]) => new Set(list).size === list.length);
  return z.array(element).refine(distinct, "must not contain a value twice").meta({ "x-kubernetes-list-type": "set" });
}

/** A list of objects identified by one or more key fields (list type "map"): several field managers can each own some elements. */
export function keyedList<E extends z.ZodObject>(
  element: E,
  ...keys: readonly [keyof E["shape"] & string, ...(keyof E["shape"] & string)[]]
) {
  const keyOf = (item: Readonly<Record<string, unknown>>) => JSON.stringify(keys.map((key) => item[key]));
  const distinct = twin((list: readonly Record<string, unknown>[]) => new Set(list.map(keyOf)).size === list.length);
  return z
    .array(element)
    .refine(distinct, `must not contain the same ${keys.join(" and ")} twice`)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys });
}

/** An object that is passed through, such as a pod template: its fields are neither validated nor pruned. */
export function preserveUnknown<T extends object = Record<string, unknown>>(): z.ZodType<T, T> {
  return z.looseObject({}) as z.ZodType<T, T>;
}

// CEL rules, for constraints that a structural schema cannot express. The API server rejects invalid objects before any
// operator sees them.
//
//     size: z.int().min(1).max(9).apply(rule, "self % 2 == 1", "Cluster size must be an odd number"),
//     source: exactlyOneOf(z.object({ secret: …optional(), url: …optional() }), "secret", "url"),
//     storage: quantity().apply(immutable),
//
// The runtime does not evaluate CEL. A rule can have an equivalent in TypeScript (`test`), which `parseObject` and
// `withDefaults` evaluate; no other code is allowed in the schema of a CustomResourceDefinition.

export interface RuleOptions extends Omit<CelRule, "rule" | "message"> {
  /** The same rule in TypeScript, for `parseObject` and `withDefaults`. @default not checked there */
  readonly test?: (value: never) => boolean;
}

/** Adds a CEL rule to a schema. In the rule, `self` is the value. */
export function rule<S extends z.ZodType>(schema: S, cel: string, message: string, options: RuleOptions = {}): S {
  const { test, ...rest } = options;
  const tested = test === undefined ? schema : schema.refine(twin(test), message);
  const earlier = (z.globalRegistry.get(schema)?.["x-kubernetes-validations"] ?? []) as readonly CelRule[];
  return tested.meta({ "x-kubernetes-validations": [...earlier, { rule: cel, message, ...rest }] });
}

/** Marks a check as the equivalent of a CEL rule: structural-schema.ts rejects all other code. */
export function twin(test: (value: never) => boolean): (value: unknown) => boolean {
  return Object.assign((value: unknown) => test(value as never), { celTwin: true as const });
}

/**
 * Makes a field immutable once it is set. An optional field can still be added or removed: to forbid that
 * either, put `rule(…, "has(self.field) == has(oldSelf.field)", …)` on the object around it.
 */
export function immutable<S extends z.ZodType>(schema: S, message = "this field cannot be changed"): S {
  return rule(schema, "self == oldSelf", message);
}

/** Requires exactly one of these optional fields: the Kubernetes form of a union. */
export function exactlyOneOf<S extends z.ZodObject>(schema: S, ...fields: readonly (keyof S["shape"] & string)[]): S {
  const present = fields.map((field) => `has(self.${celName(field)})`);
  return rule(schema, `[${present.join(", ")}].exists_one(set, set)`, `exactly one of ${fields.join(", ")} must be set`, {
    test: (value: Readonly<Record<string, unknown>>) => fields.filter((field) => value[field] !== undefined).length === 1,
  });
}

/** The name of a field in CEL, escaped as Kubernetes defines it ("storage-size" → "storage__dash__size"). */
export function celName(field: string): string {
  const escaped = field
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
  return keywords.has(escaped) ? `__${escaped}__` : escaped;
}

/** Reserved words of CEL, which are escaped in field names. (The API documentation omits the last three.) */
const keywords: ReadonlySet<string> = new Set([
  ...["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function"],
  ...["if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"],
]);
