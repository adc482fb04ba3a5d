// The objects in requests and responses: their maps and keys, checks of what a hook returns, and the selector of a parent.
import { TerminalError } from "../controller/errors.ts";
import { isRecord } from "../objects/diff.ts";
import type { LabelSelector } from "../objects/kinds/kind.ts";
import { apiVersionOf, type Kind, type KubernetesObject, keyOf, type Stored } from "../objects/object.ts";
import type { HookObject, ObjectMap } from "./hook.ts";

/** How objects are named in requests: v1 by name, relative to the parent; v2 by namespace and name. */
export type HookVersion = "v1" | "v2";

type AnyObject = Stored<KubernetesObject>;

/** "Pod.v1", "StatefulSet.apps/v1" */
export function kindAndVersion(kind: Kind): string {
  return `${kind.kind}.${apiVersionOf(kind)}`;
}

/** The name of an object in a request. */
export function nameIn(version: HookVersion, parent: AnyObject, { metadata }: Pick<AnyObject, "metadata">): string {
  const relative = version === "v1" && parent.metadata.namespace !== undefined;
  return relative ? metadata.name : keyOf({ name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) });
}

/** A map for a request. Every kind has an entry. */
export function objectMap(
  version: HookVersion,
  parent: AnyObject,
  groups: Iterable<readonly [Kind, readonly AnyObject[]]>,
): ObjectMap {
  const map: ObjectMap = {};
  for (const [kind, objects] of groups) {
    const entries = objects.map((object) => [nameIn(version, parent, object), withType(kind, object)] as const);
    map[kindAndVersion(kind)] = { ...map[kindAndVersion(kind)], ...Object.fromEntries(entries) };
  }
  return map;
}

/** Objects of a list have no apiVersion and kind; those of a request do. */
export function withType(kind: Kind, object: AnyObject): HookObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
}

/** A child that a hook wants. */
export interface DesiredObject extends KubernetesObject {
  readonly metadata: NonNullable<KubernetesObject["metadata"]> & { readonly name: string };
}

export interface Desired {
  readonly kind: Kind;
  readonly object: DesiredObject;
}

/** Checks the objects of a response, and adds the namespace of the parent. @throws TerminalError */
export function desiredObjects(parent: AnyObject, kinds: readonly Kind[], objects: readonly HookObject[]): readonly Desired[] {
  return objects.map((object) => {
    const kind = kinds.find((known) => known.kind === object.kind && apiVersionOf(known) === object.apiVersion);
    const what = `${object.kind ?? "object"} ${object.metadata?.name ?? "without a name"}`;
    if (kind === undefined)
      throw new TerminalError(
        `${what}: expected one of ${kinds.map(kindAndVersion).join(", ")}, found ${object.kind}.${object.apiVersion} → list it in the children of the controller`,
      );
    if (!isRecord(object.metadata) || typeof object.metadata.name !== "string")
      throw new TerminalError(`${kind.kind}: expected metadata.name in every object that a hook returns, found none`);
    return { kind, object: inNamespace(parent, kind, object as DesiredObject) };
  });
}

function inNamespace(parent: AnyObject, kind: Kind, object: DesiredObject): DesiredObject {
  const home = parent.metadata.namespace;
  if (!kind.namespaced) return object;
  const namespace = object.metadata.namespace ?? home;
  if (namespace === undefined || (home !== undefined && namespace !== home))
    throw new TerminalError(
      `${kind.kind} ${object.metadata.name}: expected ${home === undefined ? "a namespace" : `namespace ${home}`}, found ${namespace ?? "none"}`,
    );
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** The label that `generateSelector` adds to children, as Jobs have it. */
export const generatedLabel = "controller-uid";

/** The label selector of a parent. @throws TerminalError if it has none */
export function selectorOf(parent: AnyObject & { readonly spec?: unknown }, generate: boolean): LabelSelector {
  if (generate) return { matchLabels: { [generatedLabel]: parent.metadata.uid } };
  const { selector } = isRecord(parent.spec) ? parent.spec : {};
  const { matchLabels = {}, matchExpressions = [] } = (isRecord(selector) ? selector : {}) as LabelSelector;
  if (Object.keys(matchLabels).length + matchExpressions.length === 0)
    throw new TerminalError(
      `${parent.metadata.name}: expected spec.selector with matchLabels or matchExpressions, found none → set it, or use generateSelector`,
    );
  return { matchLabels, matchExpressions };
}
