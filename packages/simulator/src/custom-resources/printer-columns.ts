// The columns that a definition asks `kubectl get` to show.
import { type ApiObject, isObject, type JsonObject, listAt } from "../json.ts";
import { ageColumn, humanDuration, nameColumn } from "../kinds/columns.ts";
import type { Cell, Column } from "../kinds/kind-entry.ts";
import { parseTime } from "../time.ts";
import { jsonPath } from "./json-path.ts";

/** Name and what the version lists; without a list, Name and Age. */
export function printerColumns(version: JsonObject): readonly Column[] {
  const listed = listAt(version, "additionalPrinterColumns");
  return [nameColumn, ...(listed.length === 0 ? [{ ...ageColumn, type: "date" as const }] : listed.map(columnOf))];
}

function columnOf({ name, type, format, description, priority, jsonPath: path }: JsonObject): Column {
  const find = jsonPath(String(path));
  const kind = type as Exclude<Column["type"], undefined>;
  return {
    name: String(name),
    type: kind,
    ...(format !== undefined && { format: String(format) }),
    description: String(description ?? `Custom resource definition column (in JSONPath format): ${path}`),
    ...(priority !== undefined && { priority: Number(priority) }),
    cell: (object: ApiObject, now: number) => cellOf(find?.(object)[0], kind, now),
  };
}

function cellOf(value: unknown, type: Column["type"], now: number): Cell {
  if (value === undefined) return null;
  if (type === "string") return shown(value);
  if (type === "integer") return typeof value === "number" ? Math.trunc(value) : null;
  if (type === "number") return typeof value === "number" ? value : null;
  if (type === "boolean") return typeof value === "boolean" ? value : null;
  if (typeof value !== "string") return null;
  const instant = parseTime(value);
  return instant === undefined ? "<invalid>" : humanDuration(now - instant);
}

/** Objects and lists as JSON, everything else as it is. */
function shown(value: unknown): string {
  return Array.isArray(value) || isObject(value) ? JSON.stringify(value) : value === null ? "<nil>" : String(value);
}
