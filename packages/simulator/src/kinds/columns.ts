// Cells of tables, as `kubectl get` prints them.
import type { LabelSelector } from "@memhog/runtime/kinds";
import { formatSelector } from "@memhog/runtime/objects";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt, parseTime, valueAt } from "../json.ts";
import type { Cell, Column } from "./kind-entry.ts";

/** Reads a path such as ".spec.replicas", with a fallback if it is missing. */
export function at(path: string, otherwise: Cell = null): (object: ApiObject) => Cell {
  const fields = path.split(".").filter((field) => field !== "");
  return (object) => {
    const value = valueAt(object, ...fields);
    return value === undefined || value === null ? otherwise : isObject(value) ? JSON.stringify(value) : (value as Cell);
  };
}

export const nameColumn: Column = {
  name: "Name",
  format: "name",
  description: "Name must be unique within a namespace.",
  cell: ({ metadata }) => metadata.name ?? "",
};

export const ageColumn: Column = {
  name: "Age",
  description: "CreationTimestamp is a timestamp representing the server time when this object was created.",
  cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now),
};

/** A column of type string. */
export function text(name: string, cell: Column["cell"] | string, more: Partial<Column> = {}): Column {
  return { name, cell: typeof cell === "string" ? at(cell, "<none>") : cell, ...more };
}

/** A column of integers. A missing value is 0. */
export function count(name: string, path: string, more: Partial<Column> = {}): Column {
  return { name, type: "integer", cell: at(path, 0), ...more };
}

export const wide = { priority: 1 } as const;

/** The age as kubectl prints it, for example "3d4h". */
export function ageOf(timestamp: string | undefined, now: number): string {
  const then = parseTime(timestamp);
  return then === undefined ? "<unknown>" : humanDuration(now - then);
}

/** Formats like apimachinery's HumanDuration. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return twoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 192) return twoUnits(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? twoUnits(years, "y", days % 365, "d") : `${years}y`;
}

function twoUnits(first: number, firstUnit: string, second: number, secondUnit: string): string {
  return second === 0 ? `${first}${firstUnit}` : `${first}${firstUnit}${second}${secondUnit}`;
}

/** Formats a selector: "app=web", "<none>" if it is empty. */
export function selectorText(selector: unknown): string {
  return formatSelector((isObject(selector) ? selector : {}) as LabelSelector) || "<none>";
}

/** Formats a map: "a=1,b=2". */
export function mapText(map: JsonObject): string {
  const pairs = Object.entries(map).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? "<none>" : pairs.sort().join(",");
}

/** The CONTAINERS and IMAGES columns of a pod template, for `-o wide`. */
export function containerColumns(...template: readonly string[]): readonly Column[] {
  const joined = (field: string) => (object: ApiObject) =>
    listAt(objectAt(object, ...template), "containers")
      .map((container) => container[field])
      .join(",");
  return [text("Containers", joined("name"), wide), text("Images", joined("image"), wide)];
}

export const selectorColumn: Column = text("Selector", (object) => selectorText(valueAt(object, "spec", "selector")), wide);
