// Validation of a CustomResourceDefinition and of its schemas, with the messages of the API server.
import type { Environment as CelEnvironment } from "@marcbachmann/cel-js";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt } from "../json.ts";
import { type FieldError, forbiddenField, invalid, notSupported, required } from "../server/field-error.ts";
import { notImplemented } from "../server/status-error.ts";
import { CompilationFailure, compile, type Typing } from "./cel.ts";
import { goPattern, schemaErrors } from "./schema-errors.ts";
import type { Rule, StructuralSchema } from "./structural-schema.ts";

const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const dns1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** @throws StatusError 501 if a rule uses a function that the simulator does not implement */
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

/** A version as Go prints it if all of its fields are set at the top level. */
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
  /** Whether there is only one version. Errors then use the paths of top-level fields. */
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

// Validates a schema: it must be structural (every field has a type), its defaults must be valid, and its patterns and rules must
// compile.

/** @throws StatusError 501 if a rule uses a function that the simulator does not implement */
function schemaDefinitionErrors(schema: JsonObject, path: string, cel: CelEnvironment): readonly FieldError[] {
  const { type } = schema;
  const shape = type === undefined || type === "object" ? [] : [invalid(`${path}.type`, type, "must be object at the root")];
  const nodes = childErrors(schema as StructuralSchema, path, "must not be empty at the root", cel);
  return [...shape, ...metadataErrors(schema, path), ...nodes];
}

function metadataErrors({ properties }: JsonObject, path: string): readonly FieldError[] {
  const metadata = isObject(properties) && isObject(properties.metadata) ? properties.metadata : {};
  const fields = isObject(metadata.properties) ? Object.keys(metadata.properties) : [];
  const text = "must not specify anything other than name and generateName, but metadata is implicitly specified";
  const isOdd = fields.some((field) => field !== "name" && field !== "generateName");
  return isOdd ? [forbiddenField(`${path}.properties[metadata]`, text)] : [];
}

const types = ["array", "boolean", "integer", "number", "object", "string"];

function nodeErrors(schema: StructuralSchema, path: string, cel: CelEnvironment): readonly FieldError[] {
  const { type, items, properties = {}, additionalProperties: values } = schema;
  const isMap = isObject(values) || values === true;
  return [
    ...(type === undefined || types.includes(type) ? [] : [notSupported(`${path}.type`, type, types)]),
    ...wordErrors(schema, path),
    ...(Object.keys(properties).length > 0 && isMap
      ? [forbiddenField(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive")]
      : []),
    ...(type === "array" && items === undefined ? [required(`${path}.items`, "must be specified")] : []),
    ...listErrors(schema, path),
    ...ruleErrors(schema, path, cel),
    ...Object.entries(properties).flatMap(([name, field]) =>
      childErrors(field, `${path}.properties[${name}]`, "must not be empty for specified object fields", cel),
    ),
    ...(items === undefined ? [] : childErrors(items, `${path}.items`, "must not be empty for specified array items", cel)),
    ...(isObject(values)
      ? childErrors(
          values as StructuralSchema,
          `${path}.additionalProperties`,
          "must not be empty for specified object fields",
          cel,
        )
      : []),
  ];
}

function childErrors(schema: StructuralSchema, path: string, untyped: string, cel: CelEnvironment): readonly FieldError[] {
  const mayBeAnything = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const type = schema.type === undefined && !mayBeAnything ? [required(`${path}.type`, untyped)] : [];
  return [...type, ...nodeErrors(schema, path, cel)];
}

function wordErrors(schema: StructuralSchema, path: string): readonly FieldError[] {
  const { pattern, default: given, uniqueItems } = schema;
  return [
    ...("$ref" in schema ? [forbiddenField(`${path}.$ref`, "$ref is not supported")] : []),
    ...(uniqueItems === true ? [forbiddenField(`${path}.uniqueItems`, uniqueText)] : []),
    ...(pattern === undefined ? [] : patternErrors(pattern, path)),
    ...(given === undefined || given === null
      ? []
      : schemaErrors({ value: given, path: "" }, schema).map((error) => ({ ...error, field: `${path}.default` }))),
  ];
}

const uniqueText = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";

function patternErrors(pattern: string, path: string): readonly FieldError[] {
  try {
    goPattern(pattern);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`)];
  }
}

function listErrors(schema: StructuralSchema, path: string): readonly FieldError[] {
  if (schema["x-kubernetes-list-type"] !== "map") return [];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const field = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) return [required(field, "must not be empty if x-kubernetes-list-type is map")];
  const { properties = {}, required: wanted = [] } = schema.items ?? {};
  if (keys.some((key) => properties[key] === undefined))
    return [invalid(field, keys, "entries must all be names of item properties")];
  const optional = keys.filter((key) => !wanted.includes(key) && properties[key]?.default === undefined);
  const text = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
  return optional.map((key) => required(`${path}.items.properties[${key}].default`, text));
}

function ruleErrors(schema: StructuralSchema, path: string, cel: CelEnvironment): readonly FieldError[] {
  const typing = { schema, isRoot: path.endsWith("openAPIV3Schema") };
  return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, at) => {
    const field = `${path}.x-kubernetes-validations[${at}]`;
    if (rule.rule.trim() === "") return [required(`${field}.rule`, "rule is not specified")];
    if (rule.rule.trim().includes("\n") && !rule.message)
      return [required(`${field}.message`, "message must be specified if rule contains line breaks")];
    const failure = failureOf(rule.rule, cel, typing);
    return failure === undefined ? [] : [invalid(`${field}.rule`, shown(rule), `compilation failed: ${failure}`)];
  });
}

function failureOf(rule: string, cel: CelEnvironment, typing: Typing): string | undefined {
  try {
    compile(rule, cel, typing);
    return undefined;
  } catch (error) {
    if (!(error instanceof CompilationFailure)) throw error;
    if (error.isMissingFunction) throw notImplemented(`a function in the CEL rule ${JSON.stringify(rule)}: ${error.message}`);
    return error.message;
  }
}

/** Formats a rule as Go prints it. */
function shown({ rule, message = "", messageExpression = "", reason, fieldPath = "", optionalOldSelf }: Rule): JsonObject {
  return {
    ...{ Rule: rule, Message: message, MessageExpression: messageExpression, Reason: reason ?? null },
    ...{ FieldPath: fieldPath, OptionalOldSelf: optionalOldSelf ?? null },
  };
}
