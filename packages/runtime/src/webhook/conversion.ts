// Conversion: a CRD with several versions stores one of them, and the API server asks us for the others
// (apiextensions.k8s.io/v1 ConversionReview). An operator writes the steps it knows; the way from any version to any other
// is found through them, so n versions around one need 2(n-1) steps and not n(n-1).
//
//     convert(Gordon, {
//       v1alpha1: { v1: (old: GordonV1Alpha1) => ({ …, spec: { gordon: { replicas: old.spec.size } } }) },
//       v1: { v1alpha1: (gordon: Gordon) => ({ …, spec: { size: gordon.spec.gordon.replicas } }) },
//     })
//
// Steps must lose nothing: what an older version has no field for belongs into an annotation. What a step hands over beyond the
// fields of its version is dropped. The API server does not drop it, and then answers every apply to an object that somebody
// once applied in that version: "500: field not declared in schema".
import { type Kind, type KubernetesObject, keyOf } from "../objects/object.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import { schemaOf } from "../schema/object-schema.ts";
import { pruned } from "../schema/prune.ts";
import { servedVersions } from "../schema/served-versions.ts";
import { ConversionError } from "./errors.ts";

/** One step from a version to another; it need not set apiVersion. Steps may say what they take more narrowly than this. */
export type ConversionStep = { step(object: KubernetesObject): KubernetesObject }["step"];

/** from → to → step. */
export type ConversionSteps = Readonly<Record<string, Readonly<Record<string, ConversionStep>>>>;

/** A declared conversion between the versions of one kind. */
export interface ConversionWebhook {
  readonly type: "convert";
  readonly kind: Kind;
  /** One route for all kinds: the objects say what they are. */
  readonly path: "/convert";
  /** The object in another version of its group. */
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
 * A webhook that converts between the versions of a kind: those of `alsoServed` and its own. Fields that a version does not have
 * are dropped; what must come back again belongs into an annotation.
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

/** Drops what the version of an object does not know, where its schema is known to us. */
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

/** Answers for all kinds at once. All objects or none: the API server wants no half answers. `report` is told why there is none. */
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
  const step = steps[versionOf(object)]?.[version];
  return {
    ...(step === undefined ? object : taken(step, object, version)),
    apiVersion: `${kind.group}/${version}`,
    kind: kind.kind,
  };
}

/** Whoever asked for the object reads the message: it names the conversion, and leaves what went wrong inside to the log. */
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

/** The API server refuses a conversion that touches more of the metadata than labels and annotations. */
function keepIdentity(original: KubernetesObject, converted: KubernetesObject): KubernetesObject {
  const { labels: _labels, annotations: _annotations, ...identity } = original.metadata ?? {};
  const { labels, annotations } = converted.metadata ?? {};
  const free = { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) };
  return { ...converted, metadata: { ...identity, ...free } };
}

/** The versions to step through, the last one first reached by the fewest steps; empty if already there. */
function wayFrom(from: string, to: string, steps: ConversionSteps): readonly string[] | undefined {
  const ways: (readonly string[])[] = [[]];
  const seen = new Set([from]);
  for (const way of ways) {
    const at = way.at(-1) ?? from;
    if (at === to) return way;
    for (const next of Object.keys(steps[at] ?? {}).filter((version) => !seen.has(version))) {
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
