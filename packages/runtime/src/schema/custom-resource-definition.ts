// Generates the CustomResourceDefinition of a kind, for `installCrds` and for manifests.

import { isDeepStrictEqual } from "node:util";
import {
  CustomResourceDefinition,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionVersion,
  type PrinterColumn,
} from "../objects/kinds/extension.ts";
import { apiVersionOf, type ObjectMeta } from "../objects/object.ts";
import type { AnyResource, ScaleDefinition } from "./define-resource.ts";
import { ResourceDefinitionError } from "./errors.ts";
import { schemaOf } from "./object-schema.ts";
import type { StructuralSchema } from "./structural-types.ts";

export interface CrdOptions {
  readonly labels?: ObjectMeta["labels"];
  readonly annotations?: ObjectMeta["annotations"];
  /**
   * How the API server converts between versions: `conversionThrough(…)` if there is a `convert(…)`.
   * @default no conversion: all versions must have the same fields
   */
  readonly conversion?: CustomResourceDefinitionSpec["conversion"];
}

/** A CustomResourceDefinition with a name: "gordons.operator.prgcont.cz". */
export type NamedCrd = CustomResourceDefinition & { readonly metadata: ObjectMeta & { readonly name: string } };

/**
 * Generates the CustomResourceDefinition of a resource, ready to be applied.
 *
 * @throws ResourceDefinitionError for an invalid definition; NotStructuralError for a zod type that a CRD cannot express
 */
export function crdOf(resource: AnyResource, options: CrdOptions = {}): NamedCrd {
  const { group, plural } = resource;
  const { labels, annotations, conversion } = options;
  const versions = servedVersions(resource);
  for (const version of versions) {
    expectSameNames(resource, version);
    if (conversion === undefined) expectSameFields(resource, version);
  }
  return {
    apiVersion: apiVersionOf(CustomResourceDefinition),
    kind: CustomResourceDefinition.kind,
    metadata: {
      name: `${plural}.${group}`,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    spec: {
      group,
      scope: resource.namespaced ? "Namespaced" : "Cluster",
      names: namesOf(resource),
      ...(conversion !== undefined && { conversion }),
      versions: versions.map((version) => versionOf(version, version === resource)),
    },
  };
}

function namesOf({ kind, plural, definition: { shortNames, categories } }: AnyResource): CustomResourceDefinitionSpec["names"] {
  return {
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    ...(shortNames !== undefined && { shortNames }),
    ...(categories !== undefined && { categories }),
  };
}

function versionOf(resource: AnyResource, storage: boolean): CustomResourceDefinitionVersion {
  const { columns = [], selectable, deprecated = false } = resource.definition;
  const schema = schemaOf(resource);
  const shown = printerColumns(columns, schema, resource.kind);
  for (const path of selectable ?? []) expectField(resource, schema, path, "selectable");
  return {
    name: resource.version,
    served: true,
    storage,
    ...(deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === "string" && { deprecationWarning: deprecated }),
    ...(shown.length > 0 && { additionalPrinterColumns: shown }),
    ...(selectable !== undefined && { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
    ...subresourcesOf(resource, schema),
    schema: { openAPIV3Schema: schema },
  };
}

function subresourcesOf(resource: AnyResource, schema: StructuralSchema): Pick<CustomResourceDefinitionVersion, "subresources"> {
  const { scale } = resource.definition;
  const status = schema.properties?.status !== undefined;
  if (!status && scale === undefined) return {};
  return {
    subresources: { ...(status && { status: {} }), ...(scale !== undefined && { scale: scaleOf(resource, schema, scale) }) },
  };
}

function scaleOf(resource: AnyResource, schema: StructuralSchema, { specPath, statusPath, selectorPath }: ScaleDefinition) {
  for (const path of [specPath, statusPath, ...(selectorPath === undefined ? [] : [selectorPath])])
    expectField(resource, schema, path, "scale");
  return {
    specReplicasPath: specPath,
    statusReplicasPath: statusPath,
    ...(selectorPath !== undefined && { labelSelectorPath: selectorPath }),
  };
}

function expectField({ kind }: AnyResource, schema: StructuralSchema, path: string, what: string): void {
  if (schemaAt(schema, path) === undefined)
    throw new ResourceDefinitionError(`${kind}: expected a field for ${what}, found none at ${path}`);
}

function expectSameNames(resource: AnyResource, other: AnyResource): void {
  for (const name of ["group", "kind", "plural", "namespaced"] as const)
    if (resource[name] !== other[name])
      throw new ResourceDefinitionError(
        `${resource.kind}: expected additionalVersions to have the same ${name}, found ${other[name]} instead of ${resource[name]}`,
      );
}

function expectSameFields(resource: AnyResource, other: AnyResource): void {
  const field = fieldThatDiffers(schemaOf(resource), schemaOf(other));
  if (field === undefined) return;
  const versions = `${resource.version} and ${other.version}`;
  throw new ResourceDefinitionError(
    `${resource.kind}: expected ${versions} to have the same fields or a conversion, found a difference in ${field} → pass a convert(…) to the operator or a conversion to crdOf; without one the API server drops fields that a version does not have`,
  );
}

// The columns of `kubectl get`. A column shows a field or a condition; its type and its description come from the schema. A
// path without a field is an error here, because kubectl would show an empty column.

interface ColumnLook {
  readonly name: string;
  /** @default the description of the field */
  readonly description?: string;
  /** Only `kubectl get -o wide` shows columns with a priority above 0. @default 0 */
  readonly priority?: number;
}

export interface FieldColumn extends ColumnLook {
  /** ".spec.gordon.replicas" */
  readonly path: string;
  /** @default the type in the schema, or "string" */
  readonly type?: PrinterColumn["type"];
}

export interface ConditionColumn<Types extends string> extends ColumnLook {
  /** The type of a condition. */
  readonly condition: Types;
  /** The field of the condition. @default "status" */
  readonly show?: "status" | "reason" | "message" | "lastTransitionTime";
}

export type Column<Types extends string = string> = FieldColumn | ConditionColumn<Types>;

const age: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The columns of a kind, Age last. Without any, the API server shows its own: Name and Age. */
export function printerColumns(columns: readonly Column[], schema: StructuralSchema, kind: string): readonly PrinterColumn[] {
  const own = columns.map((column) => printerColumn(column, schema, kind));
  const aged = own.length === 0 || own.some(({ jsonPath }) => jsonPath === age.jsonPath);
  return aged ? own : [...own, age];
}

function printerColumn(column: Column, schema: StructuralSchema, kind: string): PrinterColumn {
  const { name, priority } = column;
  const jsonPath = "path" in column ? column.path : conditionPath(column);
  const field = jsonPath.startsWith(".metadata.") ? metadataField(jsonPath) : schemaAt(schema, jsonPath);
  if (field === undefined)
    throw new ResourceDefinitionError(`${kind}: expected column ${name} to show a field, found none at ${jsonPath}`);
  const description = column.description ?? ("path" in column ? field.description : `The condition ${column.condition}.`);
  return {
    name,
    type: ("path" in column ? column.type : undefined) ?? columnType(field),
    ...(description !== undefined && { description }),
    ...(priority !== undefined && { priority }),
    jsonPath,
  };
}

/** Metadata is not part of the schema; it is the same for all kinds. */
function metadataField(path: string): StructuralSchema {
  return path.endsWith("Timestamp") ? { type: "string", format: "date-time" } : { type: "string" };
}

function conditionPath({ condition, show = "status" }: ConditionColumn<string>): string {
  return `.status.conditions[?(@.type=="${condition}")].${show}`;
}

function columnType({ type, format }: StructuralSchema): PrinterColumn["type"] {
  if (type === "string" && (format === "date-time" || format === "date")) return "date";
  return type === "integer" || type === "number" || type === "boolean" ? type : "string";
}

// The served versions of a kind.

/** All served versions, the storage version first. A version inherits the status, because a write through a version without one would drop it. */
export function servedVersions(resource: AnyResource): readonly AnyResource[] {
  const { status, conditions, additionalVersions = [] } = resource.definition;
  const stated = { ...(status !== undefined && { status }), ...(conditions !== undefined && { conditions }) };
  const others = additionalVersions.map((other) => {
    const silent = other.definition.status === undefined && other.definition.conditions === undefined;
    return silent ? { ...other, definition: { ...other.definition, ...stated } } : other;
  });
  return [resource, ...others];
}

// JSON paths into a schema: ".spec.backups[0].at".

/** One step of a JSON path: ".name" or "[…]". */
const step = /\.([^.[\]]+)|\[[^\]]*\]/g;

/** The schema at a JSON path, or undefined if there is no such field. Any path exists below a free-form object. */
export function schemaAt(root: StructuralSchema, path: string): StructuralSchema | undefined {
  const steps = [...path.matchAll(step)];
  if (steps.map(([text]) => text).join("") !== path) return undefined;
  let schema: StructuralSchema | undefined = root;
  for (const [, name] of steps) schema = schema && stepInto(schema, name);
  return schema;
}

function stepInto(schema: StructuralSchema, name: string | undefined): StructuralSchema | undefined {
  if (name === undefined) return schema.items;
  const below = schema.properties?.[name] ?? schema.additionalProperties;
  return below ?? (schema["x-kubernetes-preserve-unknown-fields"] ? { "x-kubernetes-preserve-unknown-fields": true } : undefined);
}

// Compares the fields of two versions. The API server prunes unknown fields, so without a conversion every read and write
// through a version with fewer fields silently loses data.

/** The first field that exists in one schema only, or with another type: ".spec.size". Rules and descriptions can differ. */
export function fieldThatDiffers(one: StructuralSchema, other: StructuralSchema, path = ""): string | undefined {
  if (!isDeepStrictEqual(kindOfValue(one), kindOfValue(other))) return path || ".";
  const parts = [...new Set([...Object.keys(partsOf(one)), ...Object.keys(partsOf(other))])];
  for (const part of parts) {
    const [here, there] = [partsOf(one)[part], partsOf(other)[part]];
    if (here === undefined || there === undefined) return `${path}${part}`;
    const found = fieldThatDiffers(here, there, `${path}${part}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function kindOfValue(schema: StructuralSchema): readonly unknown[] {
  return [schema.type, schema["x-kubernetes-int-or-string"], schema["x-kubernetes-preserve-unknown-fields"]];
}

function partsOf({ properties = {}, items, additionalProperties }: StructuralSchema): Readonly<Record<string, StructuralSchema>> {
  return {
    ...Object.fromEntries(Object.entries(properties).map(([name, schema]) => [`.${name}`, schema])),
    ...(items !== undefined && { "[]": items }),
    ...(additionalProperties !== undefined && { "{}": additionalProperties }),
  };
}
