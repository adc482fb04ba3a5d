// The built-in kinds. A kind is a value and a type of the same name: the value `Pod` has the group, version and resource
// name; the type `Pod` describes the objects.
//
//     import { Pod } from "@memhog/runtime";
//     const pod = await client.get(Pod, { namespace: "default", name: "web" }); // pod: Stored<Pod>
//
// The types list the fields that operators use. `kubectl explain` documents them, so the comments here do not repeat
// their meaning. Objects keep every field that the server sends, whether or not the type declares it. All fields are
// readonly because caches and reconcilers share objects; to change an object, make a copy.
import type { Kind, KubernetesObject } from "../object.ts";

/** An object of a kind without a static type: metadata and any other fields. */
export interface DynamicObject extends KubernetesObject {
  readonly [field: string]: unknown;
}

/**
 * Declares a kind without a static type.
 *
 *     const Certificate = dynamicKind({ group: "cert-manager.io", version: "v1", kind: "Certificate", plural: "certificates", namespaced: true });
 */
export function dynamicKind<T extends KubernetesObject = DynamicObject>(spelling: Omit<Kind, "objectType">): Kind<T> {
  const { group, version, kind, plural, namespaced } = spelling;
  return Object.freeze({ group, version, kind, plural, namespaced });
}

export function namespacedKind<T extends KubernetesObject>(apiVersion: string, kind: string, plural: string): Kind<T> {
  return dynamicKind<T>({ ...groupAndVersion(apiVersion), kind, plural, namespaced: true });
}

export function clusterKind<T extends KubernetesObject>(apiVersion: string, kind: string, plural: string): Kind<T> {
  return dynamicKind<T>({ ...groupAndVersion(apiVersion), kind, plural, namespaced: false });
}

/** Splits an apiVersion: "apps/v1" into group and version; "v1" has the empty group. The inverse of `apiVersionOf`. */
export function groupAndVersion(apiVersion: string): Pick<Kind, "group" | "version"> {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

/** A timestamp in RFC 3339 format, in UTC. */
export type Time = string;

/** A resource quantity as in the API ("500m", "1.5Gi"); parse it with `parseQuantity`. The API also accepts plain numbers. */
export type QuantityText = string | number;

/** A number, a name or a percentage: ports, `maxUnavailable`. */
export type IntOrString = number | string;

/** `metav1.Condition`. Pods and older kinds omit some fields. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: Time;
  readonly observedGeneration?: number;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** Quantities by resource name: cpu, memory, ephemeral-storage, … */
export type ResourceList = Readonly<Record<string, QuantityText>>;

export interface ResourceRequirements {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
  readonly claims?: readonly { readonly name: string; readonly request?: string }[];
}

export interface LocalObjectReference {
  readonly name: string;
}

/** A reference to any object, as in Events and EndpointSlices. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Metadata that a template gives to the objects created from it. */
export interface TemplateMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}
