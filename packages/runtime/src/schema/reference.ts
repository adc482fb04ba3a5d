// The reference page of a kind, in Markdown: what `kubectl explain` knows, plus what it does not print (bounds, defaults,
// rules, conditions and their reasons).
import { apiVersionOf } from "../objects/object.ts";
import { reasonsOf } from "./conditions.ts";
import type { AnyResource } from "./define-resource.ts";
import { schemaOf } from "./object-schema.ts";
import { type Field, fieldsOf } from "./schema-path.ts";
import { wordsFor } from "./schema-words.ts";
import type { StructuralSchema } from "./structural-types.ts";

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

/** The insides of conditions are the same everywhere; the elements of lists are told in the row of the list. */
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
