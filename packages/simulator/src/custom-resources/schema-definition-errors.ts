// What can be wrong with the schema of a CustomResourceDefinition: it must be structural (every field has a type), its
// defaults must be valid, its patterns and rules must compile.
import type { Environment as CelEnvironment } from "@marcbachmann/cel-js";
import { isObject, type JsonObject } from "../json.ts";
import { type FieldError, forbiddenField, invalid, notSupported, required } from "../server/field-error.ts";
import { notImplemented } from "../server/status-error.ts";
import { CompilationFailure, compile, type Typing } from "./cel/compile.ts";
import { goPattern } from "./go-pattern.ts";
import { schemaErrors } from "./schema-errors.ts";
import type { Rule, StructuralSchema } from "./structural-schema.ts";

/** @throws StatusError 501 if a rule uses what the simulator does not have */
export function schemaDefinitionErrors(schema: JsonObject, path: string, cel: CelEnvironment): readonly FieldError[] {
  const { type } = schema;
  const root = type === undefined ? [required(`${path}.type`, "must not be empty at the root")] : [];
  const shape = type === undefined || type === "object" ? [] : [invalid(`${path}.type`, type, "must be object at the root")];
  return [...root, ...shape, ...metadataErrors(schema, path), ...nodeErrors(schema as StructuralSchema, path, cel)];
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
  const { pattern, default: given, $ref: reference, uniqueItems } = schema;
  return [
    ...(reference === undefined ? [] : [forbiddenField(`${path}.$ref`, "$ref is not supported")]),
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

/** How Go prints a rule. */
function shown({ rule, message = "", messageExpression = "", reason, fieldPath = "", optionalOldSelf }: Rule): JsonObject {
  return {
    ...{ Rule: rule, Message: message, MessageExpression: messageExpression, Reason: reason ?? null },
    ...{ FieldPath: fieldPath, OptionalOldSelf: optionalOldSelf ?? null },
  };
}
