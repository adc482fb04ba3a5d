// From `kubectl apply` to `kubectl apply --server-side`: the annotation that the former keeps says what it applied, so the
// latter may take over those fields without a conflict, and keeps the annotation up to date for the way back.
import { type ApiObject, isObject, type JsonObject, objectAt } from "../json.ts";
import { compare } from "./compare.ts";
import type { MergeSchema } from "./merge-schema.ts";
import { ownedFields } from "./owned-fields.ts";
import { difference, pathsOf, union } from "./path-set.ts";
import { bare } from "./track-changes.ts";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** Paths (as JSON) whose value is still what was applied on the client's side; undefined without such an annotation. */
export function allowedByLastApplied(live: ApiObject, schema: MergeSchema): ReadonlySet<string> | undefined {
  const applied = lastApplied(live);
  if (applied === undefined || applied.apiVersion !== live.apiVersion) return undefined;
  const { added, modified, removed } = compare(applied, bare(live), schema);
  const unchanged = difference(ownedFields(applied, schema), union(union(added, modified), removed));
  return new Set(pathsOf(unchanged).map((path) => JSON.stringify(path)));
}

function lastApplied({ metadata }: ApiObject): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(metadata.annotations?.[annotation] ?? "");
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the annotation anew, if there is one and the applier is kubectl. */
export function updateLastApplied(object: JsonObject, config: JsonObject, manager: string): void {
  const annotations = objectAt(object, "metadata", "annotations");
  if (manager !== "kubectl" || !annotations[annotation]) return;
  const { [annotation]: _, ...others } = objectAt(config, "metadata", "annotations");
  const metadata = { ...objectAt(config, "metadata"), annotations: others };
  annotations[annotation] = `${JSON.stringify(sorted({ ...config, metadata }))}\n`;
}

/** As Go writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
