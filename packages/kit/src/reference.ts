// The reference page of a kind, in Markdown: what `kubectl explain` knows, plus what it does not print (bounds, defaults,
// rules, conditions and their reasons).
import { type AnyResource, apiVersionOf } from "@memhog/runtime";
import { reasonsOf, type StructuralSchema, schemaOf } from "@memhog/runtime/schema";

/** A section for one kind, starting with a second-level heading. */
export function referenceOf(resource: AnyResource): string {
  const { kind, plural, namespaced, definition } = resource;
  const names = [plural, ...(definition.shortNames ?? [])].map(code).join(", ");
  const sections = [
    `## ${kind}`,
    `${code(apiVersionOf(resource))}, ${namespaced ? "namespaced" : "cluster-wide"}: ${names}`,
    definition.description ?? "",
    fieldTable(schemaOf(resource)),
    conditionTable(definition.conditions ?? {}),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function fieldTable(schema: StructuralSchema): string {
  const rows = [...fieldsOf(schema)].filter(({ path }) => !boilerplate.test(path)).map(fieldRow);
  return table(["Field", "Type", "Default", "Meaning"], rows);
}

/** Skips the fields of conditions, which are always the same, and list elements, which the row of the list describes. */
const boilerplate = /^status\.conditions\[|(\[\]|\{\})$/;

function fieldRow({ path, schema, required }: Field): readonly string[] {
  const rules = (schema["x-kubernetes-validations"] ?? []).map(({ message }) => sentence(message ?? ""));
  return [
    `${code(path)}${required ? " (required)" : ""}`,
    wordsFor(schema),
    schema.default === undefined || schema.type === "object" ? "" : code(JSON.stringify(schema.default)),
    [sentence(schema.description ?? ""), ...rules].filter((text) => text !== "").join(" "),
  ];
}

function conditionTable(conditions: Parameters<typeof reasonsOf>[0]): string {
  const rows = reasonsOf(conditions).map(({ type, status, reason, description }) => [
    code(type),
    status === undefined ? "any" : code(status),
    code(reason),
    description,
  ]);
  return rows.length === 0 ? "" : table(["Condition", "Status", "Reason", "Meaning"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

/** "must be odd" → "Must be odd." */
function sentence(text: string): string {
  if (text === "") return "";
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** Describes a schema briefly: "integer, at least 1, at most 9", "list of string, at most 3 elements". */
function wordsFor(schema: StructuralSchema): string {
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

/** A field and where it is: "spec.backups[].at". */
export interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
  /** Whether its parent requires it. */
  readonly required: boolean;
}

/** Every field, parents before children, in the order of the definition. */
export function* fieldsOf(schema: StructuralSchema, path = ""): Generator<Field> {
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    yield* withChildren(property, path === "" ? name : `${path}.${name}`, schema.required?.includes(name) === true);
  if (schema.items !== undefined) yield* withChildren(schema.items, `${path}[]`, false);
  if (schema.additionalProperties !== undefined) yield* withChildren(schema.additionalProperties, `${path}{}`, false);
}

function* withChildren(schema: StructuralSchema, path: string, required: boolean): Generator<Field> {
  yield { path, schema, required };
  yield* fieldsOf(schema, path);
}
