// Field types that Kubernetes has and zod does not. Each is a zod schema and may be chained like any other:
//
//     maxMemory: quantity({ max: "1Ti" }).optional().describe("Never give a container more than this"),
//     cooldown: duration({ min: "1s" }).default("5m"),
//     selector: labelSelector().optional(),
//     members: keyedList(z.object({ name: z.string().max(63), size: z.int() }), "name").max(20),
//     template: preserveUnknown<PodTemplateSpec>().describe("As in a Deployment"),
import { z } from "zod";
import { parseDuration } from "../objects/duration.ts";
import { parseQuantity } from "../objects/quantity.ts";
import { rule, twin } from "./rules.ts";
import { celString } from "./structural-collections.ts";

// A quantity and a duration are checked by rules and not by `pattern`: the API server would answer a typing error with the
// whole expression, and a rule answers with a sentence.

/** What `resource.Quantity` takes: "512Mi", "1.5Gi", "500m", "1e3". */
const quantityForm = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;

/** A span of time as Go writes it, "1h30m" or "300ms"; not negative. */
const durationForm = /^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$/;

export interface QuantityOptions {
  /** The smallest allowed, as a quantity. */
  readonly min?: string;
  /** The largest allowed, as a quantity. */
  readonly max?: string;
}

/** An amount like "512Mi" or 3: a string or a whole number, as for memory and CPU in a pod. Read it with `parseQuantity`. */
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
  /** The shortest allowed: "1s". */
  readonly min?: string;
  /** The longest allowed: "24h". */
  readonly max?: string;
}

/** A span of time like "90s" or "1h30m". Read it with `parseDuration`. */
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
  /** Says in CEL how the value is related to the bound. */
  readonly cel: (bound: string, sign: "<=" | ">=") => string;
  /** Below 0, 0 or above, as values relate to the bound. @throws for a bound, or a value, that is none */
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
        return true; // what is no quantity or duration at all is told of that alone
      }
    };
    return rule(schema, cel(bound, sign), message, { test });
  };
  const above = min === undefined ? form : bounded(form, min, ">=", `must be at least ${min}`);
  return max === undefined ? above : bounded(above, max, "<=", `must be at most ${max}`);
}

/** A prefix of 253, a slash and a name of 63. */
const labelKey = () => z.string().max(317);
const labelValue = () => z.string().max(63);

/** A map of strings with bounded keys, values and size: labels, annotations, node selectors. */
export function stringMap({ max = 64, maxValueLength = 256 }: { readonly max?: number; readonly maxValueLength?: number } = {}) {
  return mapOf(z.string().max(maxValueLength), { max });
}

/** A map with at most `max` entries; zod's own records have no bound. */
export function mapOf<V extends z.ZodType>(value: V, { max }: { readonly max: number }) {
  const fits = twin((map: object) => Object.keys(map).length <= max);
  return z.record(labelKey(), value).refine(fits, `must have at most ${max} entries`).meta({ maxProperties: max });
}

/** Which objects are meant, by their labels, exactly as a Deployment or a Service spells it. */
export function labelSelector() {
  const expression = z.object({
    key: labelKey().describe("The label this is about."),
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("How the label relates to the values."),
    values: z.array(labelValue()).max(64).optional().describe("Wanted or unwanted values; none for Exists and DoesNotExist."),
  });
  return z
    .object({
      matchLabels: stringMap({ maxValueLength: 63 }).optional().describe("Labels an object must have."),
      matchExpressions: z.array(expression).max(32).optional().describe("Further demands on its labels; all must hold."),
    })
    .meta({ "x-kubernetes-map-type": "atomic" });
}

/** A list without duplicates, of which two writers may each own some elements. */
export function setOf<E extends z.ZodString | z.ZodEnum | z.ZodInt>(element: E) {
  const distinct = twin((list: readonly unknown[]) => new Set(list).size === list.length);
  return z.array(element).refine(distinct, "must not contain a value twice").meta({ "x-kubernetes-list-type": "set" });
}

/** A list of objects told apart by a field or several, of which two writers may each own some elements. */
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

/** An object that is passed on as it is, like a pod template: its fields are neither checked nor dropped. */
export function preserveUnknown<T extends object = Record<string, unknown>>(): z.ZodType<T, T> {
  return z.looseObject({}) as unknown as z.ZodType<T, T>;
}
