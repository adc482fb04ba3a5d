// Objects, lists and maps.
import type { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { checksOf, lengthBounds, type WithChecks } from "./structural-scalars.ts";
import { below, type CelRule, type Place, type StructuralSchema } from "./structural-types.ts";

interface ObjectDef {
  readonly shape: Readonly<Record<string, z.core.$ZodType>>;
  readonly catchall?: z.core.$ZodType | undefined;
}

export function objectSchema({ shape, catchall }: ObjectDef, place: Place): StructuralSchema {
  const fields = Object.entries(shape);
  const properties = fields.map(([name, field]) => [name, place.translate(field, below(place, `.${name}`))] as const);
  // A field is optional in YAML if it is optional in TypeScript or has a default.
  const required = fields.filter(([, field]) => field._zod.optin === undefined).map(([name]) => name);
  return {
    type: "object",
    ...(fields.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    ...unknownFields(catchall, fields.length, place),
  };
}

/** Plain and strict objects need no keyword: the API server prunes unknown fields, or rejects them with strict field validation. */
function unknownFields(catchall: z.core.$ZodType | undefined, known: number, place: Place): StructuralSchema {
  const type = catchall?._zod.def.type;
  if (catchall === undefined || type === "never") return {};
  if (type === "unknown" || type === "any") return { "x-kubernetes-preserve-unknown-fields": true };
  if (known === 0) return { additionalProperties: place.translate(catchall, below(place, "{}")) };
  throw new NotStructuralError(place.path, "known fields beside a catchall", "put the free ones in a z.record() of their own");
}

export function listSchema(def: WithChecks & { readonly element: z.core.$ZodType }, place: Place): StructuralSchema {
  const { min, max } = lengthBounds(checksOf(def, place));
  return {
    type: "array",
    ...(min !== undefined && { minItems: min }),
    ...(max !== undefined && { maxItems: max }),
    items: place.translate(def.element, below(place, "[]")),
  };
}

interface RecordDef {
  readonly keyType: z.core.$ZodType;
  readonly valueType: z.core.$ZodType;
  /** z.record() over an enum requires every key, z.partialRecord() none. */
  readonly partial?: boolean;
  readonly mode?: "strict" | "loose";
}

/** A map. With enum keys it becomes an object with those fields; other constraints on keys become CEL rules. */
export function mapSchema({ keyType, valueType, partial, mode }: RecordDef, place: Place): StructuralSchema {
  const key = place.translate(keyType, below(place, "{key}"));
  if (key.type !== "string") throw new NotStructuralError(place.path, `a map with ${key.type} keys`, "use string keys");
  if (mode === "loose") throw new NotStructuralError(place.path, "zod's looseRecord", "use z.record()");
  const value = place.translate(valueType, below(place, "{}"));
  if (key.enum !== undefined)
    return closedMap(key.enum.map(String), value, partial === true || valueType._zod.optin !== undefined);
  const rules = keyRules(key);
  return {
    type: "object",
    additionalProperties: value,
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  };
}

function closedMap(keys: readonly string[], value: StructuralSchema, optional: boolean): StructuralSchema {
  return {
    type: "object",
    properties: Object.fromEntries(keys.map((key) => [key, value])),
    ...(!optional && { required: [...keys] }),
  };
}

function keyRules(key: StructuralSchema): readonly CelRule[] {
  const patterns = [key.pattern, ...(key.allOf ?? []).map(({ pattern }) => pattern)].filter((pattern) => pattern !== undefined);
  return [
    ...(key.minLength === undefined
      ? []
      : [
          {
            rule: `self.all(key, size(key) >= ${key.minLength})`,
            message: `keys must have at least ${key.minLength} characters`,
          },
        ]),
    ...(key.maxLength === undefined
      ? []
      : [
          { rule: `self.all(key, size(key) <= ${key.maxLength})`, message: `keys must have at most ${key.maxLength} characters` },
        ]),
    ...patterns.map((pattern) => ({
      rule: `self.all(key, key.matches(${celString(pattern)}))`,
      message: `keys must match ${pattern}`,
    })),
  ];
}

/** A string literal in CEL. */
export function celString(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`;
}

/** `a.and(b)` of two plain objects is the object with the fields of both, and their rules. */
export function mergedObjects(
  { left, right }: { readonly left: z.core.$ZodType; readonly right: z.core.$ZodType },
  place: Place,
): StructuralSchema {
  const [a, b] = [place.translate(left, place), place.translate(right, place)];
  const shared = Object.keys(a.properties ?? {}).filter((name) => name in (b.properties ?? {}));
  if (a.properties === undefined || b.properties === undefined || shared.length > 0)
    throw new NotStructuralError(place.path, "an intersection of more than two objects' fields", "use .extend()");
  const contested = Object.keys(a).find((word) => !mergeable.test(word) && word in b);
  if (contested !== undefined)
    throw new NotStructuralError(place.path, `an intersection of two objects that both have ${contested}`, "use .extend()");
  const required = [...(a.required ?? []), ...(b.required ?? [])];
  const rules = [...(a["x-kubernetes-validations"] ?? []), ...(b["x-kubernetes-validations"] ?? [])];
  return {
    ...a,
    ...b,
    properties: { ...a.properties, ...b.properties },
    ...(required.length > 0 && { required }),
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  };
}

/** Keywords that both objects can have; the second description wins, as with .extend(). */
const mergeable = /^(type|properties|required|description|title|x-kubernetes-validations|x-kubernetes-preserve-unknown-fields)$/;

/** The API server rejects a keyed list whose keys are optional without a default. */
export function checkKeys(list: StructuralSchema, { path }: Place): void {
  const { properties = {}, required = [] } = list.items ?? {};
  for (const key of list["x-kubernetes-list-map-keys"] ?? []) {
    const { type, nullable = false, default: usual } = properties[key] ?? {};
    if (!required.includes(key) && usual === undefined)
      throw new NotStructuralError(
        path,
        `a keyed list whose key ${key} may be missing`,
        "require the key, or give it a .default()",
      );
    if (nullable || type === "object" || type === "array")
      throw new NotStructuralError(
        path,
        `a keyed list whose key ${key} is ${nullable ? "nullable" : `an ${type}`}`,
        "use a plain value",
      );
  }
}
