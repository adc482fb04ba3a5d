// Conversion: a CRD with several versions stores one of them, and the API server asks the webhook for the others
// (apiextensions.k8s.io/v1 ConversionReview). An operator declares some steps; the path between any two versions is composed of
// them, so n versions around a hub need 2(n-1) steps instead of n(n-1).
//
//     convert(Gordon, {
//       v1alpha1: { v1: (old: GordonV1Alpha1) => ({ …, spec: { gordon: { replicas: old.spec.size } } }) },
//       v1: { v1alpha1: (gordon: Gordon) => ({ …, spec: { size: gordon.spec.gordon.replicas } }) },
//     })
//
// Steps must be lossless: store values that an older version has no field for in an annotation. Fields that a step returns beyond
// its version's schema are dropped. The API server does not drop them, and then answers every apply to an object that was once
// applied in that version with "500: field not declared in schema".
import { ownValue } from "../objects/diff.ts";
import { type Kind, type KubernetesObject, keyOf } from "../objects/object.ts";
import { servedVersions } from "../schema/custom-resource-definition.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import { pruned, schemaOf } from "../schema/object-schema.ts";
import { ConversionError } from "./errors.ts";

/** Converts an object from one version to another; need not set apiVersion. Steps may declare a narrower parameter type. */
export type ConversionStep = { step(object: KubernetesObject): KubernetesObject }["step"];

/** from → to → step. */
export type ConversionSteps = Readonly<Record<string, Readonly<Record<string, ConversionStep>>>>;

/** A declared conversion between the versions of one kind. */
export interface ConversionWebhook {
  readonly type: "convert";
  readonly kind: Kind;
  /** One route for all kinds: the objects carry their kind. */
  readonly path: "/convert";
  /** Returns the object in another version of its group. */
  convert(object: KubernetesObject, version: string): KubernetesObject;
}

export interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubernetesObject[];
}

export interface ConversionResponse {
  readonly uid: string;
  readonly result: { readonly status: "Success" } | { readonly status: "Failure"; readonly message: string };
  readonly convertedObjects: readonly KubernetesObject[];
}

/**
 * Declares a webhook that converts between the versions of a kind: its own and those of `additionalVersions`. Fields that a
 * version does not have are dropped; store values that must survive in an annotation.
 *
 *     convert(Gordon, {
 *       v1alpha1: { v1: (old: ObjectOf<typeof GordonV1Alpha1>) => ({ ...old, spec: { replicas: old.spec.size } }) },
 *       v1: { v1alpha1: (gordon: ObjectOf<typeof Gordon>) => ({ ...gordon, spec: { size: gordon.spec.replicas } }) },
 *     })
 */
export function convert(kind: Kind, steps: ConversionSteps): ConversionWebhook {
  const fit = fitting(kind);
  return {
    type: "convert",
    kind,
    path: "/convert",
    convert: (object, version) => {
      const way = wayFrom(versionOf(object), version, steps);
      if (way === undefined) throw new ConversionError(noWay(kind, versionOf(object), version, steps));
      const converted = way.reduce((current, to) => stepTo(current, to, kind, steps), object);
      return keepIdentity(object, fit(converted));
    },
  };
}

/** Drops fields that the object's version does not have, if its schema is known. */
function fitting(kind: Kind & Partial<AnyResource>): (object: KubernetesObject) => KubernetesObject {
  const { definition } = kind;
  const versions = definition === undefined ? [] : servedVersions({ ...kind, definition });
  const schemas = new Map(versions.map((version) => [version.version, schemaOf(version)]));
  return (object) => {
    const schema = schemas.get(versionOf(object));
    if (schema === undefined) return object;
    const { spec, status, ...rest } = object as KubernetesObject & { readonly spec?: unknown; readonly status?: unknown };
    return { ...rest, ...(pruned({ spec, status }, schema) as object) };
  };
}

/** Answers for all kinds. Converts all objects or none: the API server rejects partial results. `report` receives the cause. */
export function answerConversion(
  request: ConversionRequest,
  webhooks: readonly ConversionWebhook[],
  report?: (error: unknown) => void,
): ConversionResponse {
  const { uid, desiredAPIVersion, objects } = request;
  const version = desiredAPIVersion.slice(desiredAPIVersion.indexOf("/") + 1);
  try {
    const convertedObjects = objects.map((object) => webhookFor(object, webhooks).convert(object, version));
    return { uid, result: { status: "Success" }, convertedObjects };
  } catch (error) {
    report?.(error);
    const message = error instanceof ConversionError ? error.message : "the conversion failed; the operator's log says why";
    return { uid, result: { status: "Failure", message }, convertedObjects: [] };
  }
}

function webhookFor(object: KubernetesObject, webhooks: readonly ConversionWebhook[]): ConversionWebhook {
  const group = (object.apiVersion ?? "").split("/")[0];
  const found = webhooks.find(({ kind }) => kind.kind === object.kind && kind.group === group);
  if (found === undefined)
    throw new ConversionError(`expected a kind that has a convert(…), found ${object.apiVersion} ${object.kind}`);
  return found;
}

function stepTo(object: KubernetesObject, version: string, kind: Kind, steps: ConversionSteps): KubernetesObject {
  const step = ownValue(ownValue(steps, versionOf(object)) ?? {}, version);
  return {
    ...(step === undefined ? object : taken(step, object, version)),
    apiVersion: `${kind.group}/${version}`,
    kind: kind.kind,
  };
}

/** The client that requested the object sees the message: it names the conversion; details of the failure go to the log. */
function taken(step: ConversionStep, object: KubernetesObject, version: string): KubernetesObject {
  try {
    return step(object) ?? object;
  } catch (cause) {
    const { namespace, name = "" } = object.metadata ?? {};
    const what = `${object.kind} ${keyOf({ name, ...(namespace !== undefined && { namespace }) })}`;
    throw new ConversionError(
      `expected to convert ${what} from ${versionOf(object)} to ${version}, found that this step fails; the operator's log says why`,
      { cause },
    );
  }
}

/** The API server rejects a conversion that changes metadata other than labels and annotations. */
function keepIdentity(original: KubernetesObject, converted: KubernetesObject): KubernetesObject {
  const { labels: _labels, annotations: _annotations, ...identity } = original.metadata ?? {};
  const { labels, annotations } = converted.metadata ?? {};
  const free = { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) };
  return { ...converted, metadata: { ...identity, ...free } };
}

/** The shortest path of versions to the desired one, which is last; empty if the object already has it. */
function wayFrom(from: string, to: string, steps: ConversionSteps): readonly string[] | undefined {
  const ways: (readonly string[])[] = [[]];
  const seen = new Set([from]);
  for (const way of ways) {
    const at = way.at(-1) ?? from;
    if (at === to) return way;
    for (const next of Object.keys(ownValue(steps, at) ?? {}).filter((version) => !seen.has(version))) {
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

function noWay(kind: Kind, from: string, to: string, steps: ConversionSteps): string {
  const known = Object.entries(steps).flatMap(([a, tos]) => Object.keys(tos).map((b) => `${a} → ${b}`));
  return `expected a way to convert ${kind.kind} from ${from} to ${to}, found only ${known.join(", ") || "no steps at all"}`;
}

const versionOf = (object: KubernetesObject): string => (object.apiVersion ?? "").split("/").at(-1) ?? "";
