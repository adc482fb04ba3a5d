// Unions. A structural schema knows no "either this shape or that": one field has one type. What it can say is
//
//   a value or nothing       z.string().nullable(), z.union([z.string(), z.null()])   nullable: true
//   one of several values    z.union([z.literal("a"), z.enum(["b", "c"])])            enum
//   a number or its words    z.union([z.int(), z.string()])                           x-kubernetes-int-or-string
//   one type, several forms  z.union([z.ipv4(), z.string().regex(…)])                 anyOf
//
// Everything else, and discriminated unions first of all, is refused: in Kubernetes the variants are optional fields side
// by side (as `volumes[].configMap` and `volumes[].secret` are), and a rule says that exactly one is there.
import type { z } from "zod";
import { NotStructuralError } from "./errors.ts";
import { orNull, type Place, type StructuralSchema } from "./structural-types.ts";

interface UnionDef {
  readonly options: readonly z.core.$ZodType[];
  readonly discriminator?: string;
}

export function unionSchema(def: UnionDef, place: Place): StructuralSchema {
  const variants = "give each variant an optional field of its own and require one with exactlyOneOf(…)";
  if (def.discriminator !== undefined) throw new NotStructuralError(place.path, "a discriminated union", variants);
  const options = def.options.filter((option) => option._zod.def.type !== "null");
  const branches = options.map((option) => place.translate(option, place));
  const joined = single(branches) ?? choice(branches) ?? intOrString(branches) ?? forms(branches);
  if (joined === undefined) {
    const found = `a union of ${branches.map(typeOf).join(" and ")}`;
    throw new NotStructuralError(place.path, found, variants);
  }
  const nullable = options.length < def.options.length || branches.some((branch) => branch.nullable);
  return nullable ? orNull(joined, place) : joined;
}

function single(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  return branches.length === 1 ? branches[0] : undefined;
}

/** Literals and enums of one type are one enum. */
function choice(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  const type = commonType(branches);
  if (type === undefined || branches.some((branch) => branch.enum === undefined || hasMoreThanValues(branch))) return undefined;
  return { type, enum: [...new Set(branches.flatMap((branch) => branch.enum ?? []))] };
}

/** The keywords of strings do not touch integers and the other way round, so both sets can stand side by side. */
function intOrString(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  const types = branches.map(typeOf).toSorted().join();
  // A format is about all values of a field, and here some are numbers.
  const hasForm = ({ type, format, enum: values }: StructuralSchema) =>
    values !== undefined || (type === "string" && format !== undefined);
  if (types !== "integer,string" || branches.some(hasMoreThanValues) || branches.some(hasForm)) return undefined;
  const { type: _, format: __, ...keywords } = { ...branches[0], ...branches[1] };
  return { ...keywords, "x-kubernetes-int-or-string": true };
}

/** Several forms of one scalar type. */
function forms(branches: readonly StructuralSchema[]): StructuralSchema | undefined {
  const type = commonType(branches);
  if (type === undefined || type === "object" || type === "array" || branches.some(hasMoreThanValues)) return undefined;
  // The type is said beside the forms, where no format keeps it from being looked at: what `noList` is for is not needed.
  const constraints = branches.map(
    ({ type: _, description: __, title: ___, nullable: ____, minItems: _____, maxItems: ______, ...values }) => values,
  );
  return constraints.some((values) => Object.keys(values).length === 0) ? { type } : { type, anyOf: constraints };
}

/** Inside anyOf a structural schema may only restrict values: no defaults, no rules. */
function hasMoreThanValues(branch: StructuralSchema): boolean {
  return "default" in branch || Object.keys(branch).some((key) => key.startsWith("x-kubernetes-"));
}

function commonType(branches: readonly StructuralSchema[]): StructuralSchema["type"] {
  const [first, ...rest] = branches;
  return rest.every((branch) => branch.type === first?.type) ? first?.type : undefined;
}

function typeOf(branch: StructuralSchema): string {
  return branch.type ?? "anything";
}
