// The columns of `kubectl get`. A column shows a field, or a condition by its type; its kind and its description are taken
// from the schema, and a path that leads nowhere is an error here rather than an empty column in a terminal.
import type { PrinterColumn } from "../objects/kinds/apiextensions.ts";
import { ResourceDefinitionError } from "./errors.ts";
import { schemaAt } from "./schema-path.ts";
import type { StructuralSchema } from "./structural-types.ts";

interface ColumnLook {
  readonly name: string;
  /** @default the description of the field */
  readonly description?: string;
  /** Columns above 0 are shown by `kubectl get -o wide` only. @default 0 */
  readonly priority?: number;
}

export interface FieldColumn extends ColumnLook {
  /** ".spec.gordon.replicas" */
  readonly path: string;
  /** @default what the schema says; "string" where it cannot tell */
  readonly type?: PrinterColumn["type"];
}

export interface ConditionColumn<Types extends string> extends ColumnLook {
  /** The type of a condition. */
  readonly condition: Types;
  /** Which part of it. @default "status" */
  readonly show?: "status" | "reason" | "message" | "lastTransitionTime";
}

export type Column<Types extends string = string> = FieldColumn | ConditionColumn<Types>;

const age: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The columns of a kind, Age last. None at all leaves the API server's own: Name and Age. */
export function printerColumns(columns: readonly Column[], schema: StructuralSchema, kind: string): readonly PrinterColumn[] {
  const own = columns.map((column) => printerColumn(column, schema, kind));
  const aged = own.length === 0 || own.some(({ jsonPath }) => jsonPath === age.jsonPath);
  return aged ? own : [...own, age];
}

function printerColumn(column: Column, schema: StructuralSchema, kind: string): PrinterColumn {
  const { name, priority } = column;
  const jsonPath = "path" in column ? column.path : conditionPath(column);
  const field = jsonPath.startsWith(".metadata.") ? metadataField(jsonPath) : schemaAt(schema, jsonPath);
  if (field === undefined)
    throw new ResourceDefinitionError(`${kind}: expected column ${name} to show a field, found none at ${jsonPath}`);
  const description = column.description ?? ("path" in column ? field.description : `The condition ${column.condition}.`);
  return {
    name,
    type: ("path" in column ? column.type : undefined) ?? columnType(field),
    ...(description !== undefined && { description }),
    ...(priority !== undefined && { priority }),
    jsonPath,
  };
}

/** Metadata is not in our schemas; it is the same everywhere. */
function metadataField(path: string): StructuralSchema {
  return path.endsWith("Timestamp") ? { type: "string", format: "date-time" } : { type: "string" };
}

function conditionPath({ condition, show = "status" }: ConditionColumn<string>): string {
  return `.status.conditions[?(@.type=="${condition}")].${show}`;
}

function columnType({ type, format }: StructuralSchema): PrinterColumn["type"] {
  if (type === "string" && (format === "date-time" || format === "date")) return "date";
  return type === "integer" || type === "number" || type === "boolean" ? type : "string";
}
