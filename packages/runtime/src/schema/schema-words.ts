// A schema in a few words: "integer, 1 to 9", "list of string, at most 3".
import type { StructuralSchema } from "./structural-types.ts";

export function wordsFor(schema: StructuralSchema): string {
  const words = [typeWords(schema), ...boundWords(schema), ...(schema.nullable ? ["or null"] : [])];
  return words.join(", ");
}

function typeWords(schema: StructuralSchema): string {
  const { type, format, enum: values, items, additionalProperties } = schema;
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(" or ");
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (type === "array") return `list of ${items === undefined ? "anything" : typeWords(items)}`;
  if (additionalProperties !== undefined) return `map of ${typeWords(additionalProperties)}`;
  if (schema["x-kubernetes-preserve-unknown-fields"]) return type === "object" ? "object, any fields" : "anything";
  return type === "string" && format !== undefined ? format : (type ?? "anything");
}

function boundWords(schema: StructuralSchema): readonly string[] {
  return [
    ...numberWords(schema),
    ...countWords(schema.minLength, schema.maxLength, "characters"),
    ...(schema.type === "array" ? countWords(schema.minItems, schema.maxItems, "elements") : []),
    ...countWords(schema.minProperties, schema.maxProperties, "entries"),
    ...(schema.pattern === undefined ? [] : [`like \`${schema.pattern}\``]),
  ];
}

function numberWords({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: StructuralSchema): readonly string[] {
  const lower = minimum === undefined ? [] : [exclusiveMinimum ? `more than ${minimum}` : `at least ${minimum}`];
  const upper = maximum === undefined ? [] : [exclusiveMaximum ? `less than ${maximum}` : `at most ${maximum}`];
  return [...lower, ...upper, ...(multipleOf === undefined ? [] : [`a multiple of ${multipleOf}`])];
}

function countWords(least: number | undefined, most: number | undefined, what: string): readonly string[] {
  if (least === undefined && most === undefined) return [];
  if (least === most) return [`${most} ${what}`];
  if (least === undefined) return [`at most ${most} ${what}`];
  return [most === undefined ? `at least ${least} ${what}` : `${least} to ${most} ${what}`];
}
