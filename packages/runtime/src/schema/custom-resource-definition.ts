// The CustomResourceDefinition of a kind: the value that `installCrds` applies and that manifests are printed from.

import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from "../objects/kinds/apiextensions.ts";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import { apiVersionOf, type ObjectMeta } from "../objects/object.ts";
import { printerColumns } from "./columns.ts";
import type { AnyResource, ScaleDefinition } from "./define-resource.ts";
import { ResourceDefinitionError } from "./errors.ts";
import { schemaOf } from "./object-schema.ts";
import { fieldThatDiffers } from "./same-fields.ts";
import { schemaAt } from "./schema-path.ts";
import { servedVersions } from "./served-versions.ts";
import type { StructuralSchema } from "./structural-types.ts";

export interface CrdOptions {
  readonly labels?: ObjectMeta["labels"];
  readonly annotations?: ObjectMeta["annotations"];
  /**
   * How objects get from one served version to another: `conversionThrough(…)` where there is a `convert(…)`.
   * @default none: all versions must have the same fields
   */
  readonly conversion?: CustomResourceDefinitionSpec["conversion"];
}

/** A CustomResourceDefinition whose name is known: "gordons.operator.prgcont.cz". */
export type NamedCrd = CustomResourceDefinition & { readonly metadata: ObjectMeta & { readonly name: string } };

/**
 * The CustomResourceDefinition of a resource, complete and ready to be applied.
 *
 * @throws ResourceDefinitionError, NotStructuralError with the path of what cannot be expressed
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
        `${resource.kind}: expected alsoServed to have the same ${name}, found ${other[name]} instead of ${resource[name]}`,
      );
}

function expectSameFields(resource: AnyResource, other: AnyResource): void {
  const field = fieldThatDiffers(schemaOf(resource), schemaOf(other));
  if (field === undefined) return;
  const versions = `${resource.version} and ${other.version}`;
  throw new ResourceDefinitionError(
    `${resource.kind}: expected ${versions} to have the same fields or a conversion, found that they differ in ${field} → give the operator a convert(…) of it, or crdOf a conversion; without one the API server drops what a version does not know`,
  );
}
