// The kind entries for a CustomResourceDefinition, one per served version.
import type { Environment as CelEnvironment } from "@marcbachmann/cel-js";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt, parseTime } from "../json.ts";
import { ageColumn, humanDuration, nameColumn } from "../kinds/columns.ts";
import {
  type Cell,
  type Column,
  type Conversion,
  type KindEntry,
  readAndWrite,
  type ScalePaths,
  type SubresourceEntry,
  scale as scaleDoor,
} from "../kinds/kind-entry.ts";
import { byPreference } from "../kinds/registry.ts";
import { compileRules } from "./cel-rules.ts";
import { applySchemaDefaults, pruneUnknown, type StructuralSchema } from "./structural-schema.ts";
import { customResourceErrors } from "./validate.ts";

interface EntryContext {
  readonly cel: CelEnvironment;
  /** Returns the conversion from the stored version, or undefined if the versions are the same. */
  readonly conversionTo: (version: string) => Conversion | undefined;
}

/** @throws CompilationFailure if a rule is not valid CEL */
export function kindEntriesOf(definition: ApiObject, context: EntryContext): readonly KindEntry[] {
  const served = listAt(definition, "spec", "versions").filter((version) => version.served === true);
  return served.map((version) => kindEntryOf(definition, version, context));
}

function kindEntryOf(definition: ApiObject, version: JsonObject, { cel, conversionTo }: EntryContext): KindEntry {
  const { group, scope } = objectAt(definition, "spec");
  const names = objectAt(definition, "status", "acceptedNames");
  const schema = objectAt(version, "schema", "openAPIV3Schema") as StructuralSchema;
  const scale = scalePathsOf(version);
  const judge = { schema, rules: compileRules(schema, cel), scale };
  const conversion = conversionTo(String(version.name));
  const warning = deprecationOf(definition, version);
  return {
    ...namesOf(names),
    group: String(group),
    version: String(version.name),
    namespaced: scope === "Namespaced",
    verbs,
    subresources: subresourcesOf(version, scale),
    ...(conversion && { conversion }),
    ...(warning !== undefined && { warning }),
    generation: "spec",
    statusWrites: "status only",
    versionedUpdate: true,
    prune: (draft) => pruneUnknown(draft, schema),
    defaults: (draft) => applySchemaDefaults(draft, schema),
    validate: (object, old, { subresource }) => customResourceErrors({ object, old, subresource }, judge),
    selectableFields: selectableFieldsOf(version),
    columns: printerColumns(version),
    customResource: { uid: definition.metadata.uid ?? "", schema: { ...schema } },
  };
}

/** In the order of the real API server. */
const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"] as const;

function namesOf({ kind, plural, singular, listKind, shortNames, categories }: JsonObject) {
  return {
    kind: String(kind),
    plural: String(plural),
    singular: String(singular ?? ""),
    listKind: String(listKind ?? `${kind}List`),
    ...(Array.isArray(shortNames) && { shortNames: shortNames as readonly string[] }),
    ...(Array.isArray(categories) && { categories: categories as readonly string[] }),
  };
}

function scalePathsOf(version: JsonObject): ScalePaths | undefined {
  const scale = objectAt(version, "subresources").scale;
  if (scale === undefined) return undefined;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale as JsonObject;
  return {
    specReplicas: String(specReplicasPath),
    statusReplicas: String(statusReplicasPath),
    ...(labelSelectorPath !== undefined && { labelSelector: String(labelSelectorPath) }),
  };
}

function subresourcesOf(version: JsonObject, scale: ScalePaths | undefined): Readonly<Record<string, SubresourceEntry>> {
  const hasStatus = objectAt(version, "subresources").status !== undefined;
  return { ...(hasStatus && { status: readAndWrite }), ...(scale && { scale: { ...scaleDoor.scale, scale } }) };
}

function selectableFieldsOf(version: JsonObject): Readonly<Record<string, (object: ApiObject) => string>> {
  const fields = listAt(version, "selectableFields").map(({ jsonPath: path }) => {
    const find = jsonPath(String(path));
    const read = (object: ApiObject) => String(find?.(object)[0] ?? "");
    return [String(path).replace(/^\./, ""), read] as const;
  });
  return Object.fromEntries(fields);
}

function deprecationOf(definition: ApiObject, { name, deprecated, deprecationWarning }: JsonObject): string | undefined {
  if (deprecated !== true) return undefined;
  if (deprecationWarning !== undefined) return String(deprecationWarning);
  const { group } = objectAt(definition, "spec");
  const { kind } = objectAt(definition, "spec", "names");
  const newer = listAt(definition, "spec", "versions")
    .filter((version) => version.served === true && version.deprecated !== true)
    .map((version) => String(version.name))
    .filter((version) => byPreference(version, String(name)) < 0)
    .sort(byPreference)[0];
  return `${group}/${name} ${kind} is deprecated${newer === undefined ? "" : `; use ${group}/${newer} ${kind}`}`;
}

// The additional printer columns of a definition.

/** Name and the columns of the version; Name and Age if it has none. */
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

/** Formats objects and lists as JSON, other values as text. */
function shown(value: unknown): string {
  return Array.isArray(value) || isObject(value) ? JSON.stringify(value) : value === null ? "<nil>" : String(value);
}

// The subset of JSONPath that columns and selectable fields use: `.spec.list[0].name`,
// `.status.conditions[?(@.type=="Ready")].status`, `.metadata.annotations['a.b/c']`, `.spec.list[*].name`.

type Step = (value: unknown) => readonly unknown[];

const token =
  /\.([^.[\]]+)|\[\s*(-?\d+)\s*\]|\[\s*(\*)\s*\]|\[\s*['"]([^'"]*)['"]\s*\]|\[\?\(\s*@((?:\.[^.\s=]+)+)\s*==\s*(?:"([^"]*)"|'([^']*)'|([^\s)]+))\s*\)\]/y;

/** Compiles a path. Returns undefined if its syntax is not supported. */
export function jsonPath(path: string): ((object: unknown) => readonly unknown[]) | undefined {
  const steps: Step[] = [];
  const pattern = new RegExp(token);
  // Protects escaped dots ("\.") while the path is split.
  const text = path.replaceAll("\\.", "\0");
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (found === null) return undefined;
    steps.push(stepOf(found));
  }
  return (object) => steps.reduce<readonly unknown[]>((values, step) => values.flatMap(step), [object]);
}

function stepOf([, field, index, all, quoted, filter, ...equal]: RegExpExecArray): Step {
  const name = (field ?? quoted)?.replaceAll("\0", ".");
  if (name !== undefined) return (value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []);
  if (index !== undefined) return (value) => (Array.isArray(value) ? value.slice(Number(index)).slice(0, 1) : []);
  if (all !== undefined) return (value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []);
  const wanted = equal.find((text) => text !== undefined);
  const inner = jsonPath(filter ?? "");
  return (value) => (Array.isArray(value) ? value.filter((item) => inner?.(item).some((each) => String(each) === wanted)) : []);
}
