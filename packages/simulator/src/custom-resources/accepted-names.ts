// Accepts the names of a definition unless another definition of the group has them. Sets two conditions; the server serves the
// kind once both are True.
import { type ApiObject, type JsonObject, listAt, objectAt, sameJson } from "../json.ts";

export interface Naming {
  readonly acceptedNames: JsonObject;
  /** NamesAccepted and Established, including their lastTransitionTime. */
  readonly conditions: readonly JsonObject[];
}

/** @param others all other definitions of the same group */
export function nameDefinition(definition: ApiObject, others: readonly ApiObject[], now: string): Naming {
  const asked = objectAt(definition, "spec", "names");
  const accepted = objectAt(definition, "status", "acceptedNames");
  const conflicts = conflictsOf(asked, accepted, others);
  const taken = new Set(conflicts.map(({ field }) => field));
  const granted = Object.entries(asked).filter(([field]) => !taken.has(field));
  const kept = Object.entries(accepted).filter(([field]) => taken.has(field));
  const last = conflicts.at(-1);
  const isAccepted = last === undefined;
  const names = isAccepted
    ? condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    : condition("NamesAccepted", "False", last.reason, last.message);
  const before = listAt(definition, "status", "conditions");
  const was = before.find(({ type }) => type === "Established");
  return {
    acceptedNames: { plural: "", kind: "", ...Object.fromEntries([...kept, ...granted]) },
    conditions: [names, established(was, isAccepted)].map((each) => since(each, before, now)),
  };
}

/** Established never becomes False again. */
function established(was: JsonObject | undefined, isAccepted: boolean): JsonObject {
  if (was?.status === "True") return was;
  return isAccepted
    ? condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    : condition("Established", "False", "NotAccepted", "not all names are accepted");
}

function condition(type: string, status: string, reason: string, message: string): JsonObject {
  return { type, status, lastTransitionTime: "", reason, message };
}

function since(condition: JsonObject, before: readonly JsonObject[], now: string): JsonObject {
  const was = before.find(({ type }) => type === condition.type);
  const isSame = was !== undefined && was.status === condition.status;
  return { ...condition, lastTransitionTime: isSame ? was.lastTransitionTime : now };
}

interface NameConflict {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

const resourceNames = ["plural", "singular"] as const;
const kindNames = ["kind", "listKind"] as const;

function conflictsOf(asked: JsonObject, accepted: JsonObject, others: readonly ApiObject[]): readonly NameConflict[] {
  const theirs = others.map((other) => objectAt(other, "status", "acceptedNames"));
  const resources = new Set(theirs.flatMap((names) => [names.plural, names.singular, ...textsAt(names, "shortNames")]));
  const kinds = new Set(theirs.flatMap((names) => [names.kind, names.listKind]));
  const single = (field: string, used: ReadonlySet<unknown>) => {
    if (asked[field] === accepted[field] || !used.has(asked[field])) return [];
    const reason = `${field.charAt(0).toUpperCase()}${field.slice(1)}Conflict`;
    return [{ field, reason, message: inUse(asked[field]) }];
  };
  return [
    ...resourceNames.flatMap((field) => single(field, resources)),
    ...shortNameConflicts(asked, accepted, resources),
    ...kindNames.flatMap((field) => single(field, kinds)),
  ];
}

function shortNameConflicts(asked: JsonObject, accepted: JsonObject, used: ReadonlySet<unknown>): readonly NameConflict[] {
  if (sameJson(asked.shortNames, accepted.shortNames)) return [];
  const ours = textsAt(accepted, "shortNames");
  const taken = textsAt(asked, "shortNames").filter((name) => !ours.includes(name) && used.has(name));
  if (taken.length === 0) return [];
  const message = taken.length === 1 ? inUse(taken[0]) : `[${taken.map(inUse).join(", ")}]`;
  return [{ field: "shortNames", reason: "ShortNamesConflict", message }];
}

function textsAt(names: JsonObject, field: string): readonly string[] {
  return Array.isArray(names[field]) ? names[field] : [];
}

function inUse(name: unknown): string {
  return `${JSON.stringify(name)} is already in use`;
}
