// A CustomResourceDefinition as rows of the table of kinds, one for each version it serves.
import type { Environment as CelEnvironment } from "@marcbachmann/cel-js";
import { type ApiObject, type JsonObject, listAt, objectAt } from "../json.ts";
import type { Conversion, KindEntry, ScalePaths, SubresourceEntry } from "../kinds/kind-entry.ts";
import { byPreference } from "../kinds/registry.ts";
import { readAndWrite, scale as scaleDoor } from "../kinds/row.ts";
import { compileRules } from "./cel/rules.ts";
import { applySchemaDefaults } from "./default-values.ts";
import { jsonPath } from "./json-path.ts";
import { printerColumns } from "./printer-columns.ts";
import { pruneUnknown } from "./prune.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { customResourceErrors } from "./validate.ts";

export interface EntryContext {
  readonly cel: CelEnvironment;
  /** How objects get from the stored version to this one; undefined if that is the same. */
  readonly conversionTo: (version: string) => Conversion | undefined;
}

/** @throws CompilationFailure if a rule is not CEL */
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
    customResource: { uid: definition.metadata.uid ?? "", schema },
  };
}

/** In the order in which the real one lists them. */
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
