// What can be wrong with a CustomResourceDefinition, in the words of the API server. Its schemas are in schema-definition-errors.ts.
import type { Environment as CelEnvironment } from "@marcbachmann/cel-js";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt } from "../json.ts";
import { type FieldError, invalid, notSupported, required } from "../server/field-error.ts";
import { schemaDefinitionErrors } from "./schema-definition-errors.ts";

const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const dns1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** @throws StatusError 501 if a rule uses what the simulator does not have */
export function definitionErrors(definition: ApiObject, cel: CelEnvironment): readonly FieldError[] {
  const spec = objectAt(definition, "spec");
  const versions = listAt(spec, "versions");
  const isSingle = versions.length === 1;
  return [
    ...groupErrors(spec),
    ...scopeErrors(spec),
    ...versionsErrors(versions),
    ...nameErrors(objectAt(spec, "names")),
    ...(spec.preserveUnknownFields === true ? [invalid("spec.preserveUnknownFields", true, preserveText)] : []),
    ...conversionErrors(objectAt(spec, "conversion")),
    ...versions.flatMap((version, at) => versionErrors(version, { at, isSingle, cel })),
  ];
}

const preserveText = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";

function groupErrors({ group }: JsonObject): readonly FieldError[] {
  if (!group) return [required("spec.group")];
  return String(group).includes(".") ? [] : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function scopeErrors({ scope }: JsonObject): readonly FieldError[] {
  if (!scope) return [required("spec.scope")];
  const supported = ["Cluster", "Namespaced"];
  return supported.includes(String(scope)) ? [] : [notSupported("spec.scope", scope, supported)];
}

function versionsErrors(versions: readonly JsonObject[]): readonly FieldError[] {
  const shown = versions.map(({ name, served, storage }) => ({
    ...emptyVersion,
    Name: name,
    Served: served === true,
    Storage: storage === true,
  }));
  const stored = versions.filter(({ storage }) => storage === true).length;
  const isUnique = new Set(versions.map(({ name }) => name)).size === versions.length;
  return [
    ...(isUnique ? [] : [invalid("spec.versions", shown, "must contain unique version names")]),
    ...(stored === 1 ? [] : [invalid("spec.versions", shown, "must have exactly one version marked as storage version")]),
    ...(stored === 0 ? [invalid("status.storedVersions", null, "must have at least one stored version")] : []),
  ];
}

/** How Go prints a version whose parts are all said elsewhere. */
const emptyVersion = {
  ...{ Name: "" as unknown, Served: false, Storage: false, Deprecated: false, DeprecationWarning: null, Schema: null },
  ...{ Subresources: null, AdditionalPrinterColumns: null, SelectableFields: null },
};

function nameErrors(names: JsonObject): readonly FieldError[] {
  const label = (field: string, value: unknown, prefix = "") => {
    if (!value) return [required(field)];
    const text = prefix === "" ? String(value) : String(value).toLowerCase();
    return dns1035.test(text) ? [] : [invalid(field, value, prefix + dns1035Text)];
  };
  const mixed = "may have mixed case, but should otherwise match: ";
  const shortNames = Array.isArray(names.shortNames) ? names.shortNames : [];
  return [
    ...label("spec.names.plural", names.plural),
    ...label("spec.names.singular", names.singular),
    ...label("spec.names.kind", names.kind, mixed),
    ...label("spec.names.listKind", names.listKind, mixed),
    ...shortNames.flatMap((name, at) => label(`spec.names.shortNames[${at}]`, name)),
  ];
}

function conversionErrors({ strategy, webhook }: JsonObject): readonly FieldError[] {
  if (strategy !== "Webhook") return [];
  const { clientConfig, conversionReviewVersions } = isObject(webhook) ? webhook : {};
  return [
    ...(isObject(clientConfig)
      ? []
      : [required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")]),
    ...(conversionReviewVersions === undefined ? [required("spec.conversion.conversionReviewVersions")] : []),
  ];
}

interface VersionContext {
  readonly at: number;
  /** What a definition has only once is spoken of as if it were not in a version. */
  readonly isSingle: boolean;
  readonly cel: CelEnvironment;
}

function versionErrors(version: JsonObject, { at, isSingle, cel }: VersionContext): readonly FieldError[] {
  const inVersion = `spec.versions[${at}]`;
  const place = isSingle ? "spec" : inVersion;
  const schema = objectAt(version, "schema").openAPIV3Schema;
  if (!isObject(schema)) return [required(`${inVersion}.schema.openAPIV3Schema`)];
  const name = dns1035.test(String(version.name)) ? [] : [invalid(`${inVersion}.name`, version.name, dns1035Text)];
  return [
    ...name,
    ...schemaDefinitionErrors(schema, `${isSingle ? "spec.validation" : `${inVersion}.schema`}.openAPIV3Schema`, cel),
    ...scaleErrors(objectAt(version, "subresources"), `${place}.subresources.scale`),
    ...columnErrors(version, `${place}.additionalPrinterColumns`),
  ];
}

function scaleErrors({ scale }: JsonObject, place: string): readonly FieldError[] {
  if (!isObject(scale)) return [];
  return ["specReplicasPath", "statusReplicasPath"].filter((path) => !scale[path]).map((path) => required(`${place}.${path}`));
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];

function columnErrors(version: JsonObject, place: string): readonly FieldError[] {
  return listAt(version, "additionalPrinterColumns").flatMap(({ name, type, jsonPath }, at) => [
    ...(name ? [] : [required(`${place}[${at}].name`)]),
    ...(columnTypes.includes(String(type))
      ? []
      : [invalid(`${place}[${at}].type`, type, `must be one of ${columnTypes.join(",")}`)]),
    ...(String(jsonPath).startsWith(".")
      ? []
      : [invalid(`${place}[${at}].JSONPath`, jsonPath, "must be a simple json path starting with .")]),
  ]);
}
