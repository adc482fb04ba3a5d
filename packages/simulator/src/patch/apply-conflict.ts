// The answer to an apply that would change what others own.
import { StatusError } from "../server/status-error.ts";
import type { Manager } from "./managed-fields.ts";
import { type Path, shownPath } from "./path-set.ts";

export interface Conflict {
  /** Who owns the path. */
  readonly manager: Manager;
  readonly path: Path;
}

/** 409, with a cause for every path. */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${shownManager(manager)}`,
    field: shownPath(path),
  }));
  return new StatusError({ code: 409, reason: "Conflict", message: sentenceOf(conflicts), details: { causes } });
}

function sentenceOf(conflicts: readonly Conflict[]): string {
  const [only, ...others] = conflicts;
  if (only !== undefined && others.length === 0)
    return `Apply failed with 1 conflict: conflict with ${shownManager(only.manager)}: ${shownPath(only.path)}`;
  const managers = new Map<string, string[]>();
  for (const { manager, path } of conflicts) {
    const name = shownManager(manager);
    managers.set(name, [...(managers.get(name) ?? []), `- ${shownPath(path)}`]);
  }
  const lines = [...managers].flatMap(([name, paths]) => [`conflicts with ${name}:`, ...paths]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function shownManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === undefined ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}
