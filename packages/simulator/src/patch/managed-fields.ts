// metadata.managedFields: which manager owns which fields of an object. Manager, operation (Apply or Update), subresource, and,
// for updates, apiVersion identify an entry.
import { isObject, type JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { decodeSet, encodeSet, fieldElement, type PathSet, setOf, without } from "./path-set.ts";

export interface Manager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
}

export interface Ownership extends Manager {
  readonly fields: PathSet;
  /** "2026-01-02T03:04:05Z" */
  readonly time?: string | undefined;
}

/** Keyed by `idOf`. */
export type Managed = Map<string, Ownership>;

/** Identifies a manager. Formatted as in Go, because conflicts are sorted by it. */
export function idOf({ manager, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify({
    ...(manager && { manager }),
    operation,
    ...(operation === "Update" && { apiVersion }),
    ...(subresource && { subresource }),
  });
}

/** Returns undefined for entries that the API server could not decode. */
export function decodeManaged(entries: unknown): Managed | undefined {
  if (entries === undefined || entries === null) return new Map();
  if (!Array.isArray(entries)) return undefined;
  const managed: Managed = new Map();
  for (const entry of entries) {
    const ownership = decodeEntry(entry);
    if (ownership === undefined) return undefined;
    managed.set(idOf(ownership), ownership);
  }
  return managed;
}

/** Caches decoded and encoded entries, because most writes leave most entries unchanged. A PathSet is immutable once cached. */
const decoded = new WeakMap<object, PathSet>();
const encoded = new WeakMap<PathSet, JsonObject>();

function fieldsIn(fieldsV1: unknown): PathSet | undefined {
  const known = isObject(fieldsV1) ? decoded.get(fieldsV1) : undefined;
  if (known !== undefined) return known;
  const fields = decodeSet(fieldsV1 ?? {});
  if (fields === undefined || !isObject(fieldsV1) || !Object.isFrozen(fieldsV1)) return fields;
  decoded.set(fieldsV1, fields);
  encoded.set(fields, fieldsV1);
  return fields;
}

function decodeEntry(entry: unknown): Ownership | undefined {
  if (!isObject(entry) || entry.fieldsType !== "FieldsV1") return undefined;
  const { operation, apiVersion, subresource, time } = entry as Record<string, string | undefined>;
  const fields = fieldsIn(entry.fieldsV1);
  if ((operation !== "Apply" && operation !== "Update") || !apiVersion || fields === undefined) return undefined;
  return { manager: String(entry.manager ?? ""), operation, apiVersion, subresource, time, fields };
}

/** Encodes entries as stored: Apply before Update, oldest first. Returns undefined if no field has an owner. */
export function encodeManaged(managed: Managed): readonly JsonObject[] | undefined {
  if (managed.size === 0) return undefined;
  return [...managed.values()].sort(inOrder).map(encodeEntry);
}

function encodeEntry({ manager, operation, apiVersion, subresource, time, fields }: Ownership): JsonObject {
  return {
    ...(manager && { manager }),
    operation,
    apiVersion,
    ...(time && { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encoded.get(fields) ?? encodeSet(fields),
    ...(subresource && { subresource }),
  };
}

function inOrder(a: Ownership, b: Ownership): number {
  const keys = (entry: Ownership) => [
    entry.operation,
    entry.time ?? "",
    entry.manager,
    entry.apiVersion,
    entry.subresource ?? "",
  ];
  const [left, right] = [keys(a), keys(b)];
  for (const [at, key] of left.entries()) {
    const other = right[at] ?? "";
    if (key !== other) return key < other ? -1 : 1;
  }
  return 0;
}

/** A request with `[]` or `[{}]` resets managedFields. */
export function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false;
  return entries.length === 0 || (entries.length === 1 && isObject(entries[0]) && Object.keys(entries[0]).length === 0);
}

// Fields without an owner: those that the server sets, and those that a request to this endpoint cannot write.

const paths = (...all: readonly string[]) => setOf(...all.map((path) => path.split(".").map(fieldElement)));

/** For all kinds. Longer paths below these, such as metadata.labels, can have owners. */
export const identity: PathSet = paths(
  "apiVersion",
  "kind",
  "metadata",
  "metadata.name",
  "metadata.namespace",
  "metadata.creationTimestamp",
  "metadata.selfLink",
  "metadata.uid",
  "metadata.generation",
  "metadata.managedFields",
  "metadata.resourceVersion",
);

const status = paths("status");
const spec = paths("spec");

/** Fields outside spec that a write to the status cannot change, by kind. */
const outsideSpec: Readonly<Record<string, PathSet>> = {
  "pods.": paths("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
  "deployments.apps": paths("spec", "metadata.labels"),
};

/** Keeps the paths that a request to this subresource can write. pods/resize can own any field, as on the real server. */
export function onlyWritable(set: PathSet, kind: KindEntry, subresource: string | undefined): PathSet {
  if (subresource === "status") {
    const custom = kind.customResource && paths("metadata", "spec");
    return without(set, custom ?? outsideSpec[`${kind.plural}.${kind.group}`] ?? spec);
  }
  return subresource !== undefined || kind.subresources?.status === undefined ? set : without(set, status);
}

// The empty object of a built-in kind. In Go, nested structs always exist, so the creator of a Deployment owns
// `f:spec.f:replicas` but not `f:spec`, while the creator of a custom resource owns its spec as well.

const template: JsonObject = { metadata: {}, spec: { containers: null } };
const specAndStatus: JsonObject = { metadata: {}, spec: {}, status: {} };
const rules: JsonObject = { metadata: {}, rules: null };
const binding: JsonObject = { metadata: {}, roleRef: { apiGroup: "", kind: "", name: "" } };

/** By group and kind. Other kinds have only metadata. */
const emptyObjects: Readonly<Record<string, JsonObject>> = {
  Pod: { metadata: {}, spec: { containers: null }, status: {} },
  PodTemplate: { metadata: {}, template },
  Node: { metadata: {}, spec: {}, status: { daemonEndpoints: { kubeletEndpoint: {} }, nodeInfo: {} } },
  Namespace: specAndStatus,
  Service: { metadata: {}, spec: {}, status: { loadBalancer: {} } },
  Event: {
    ...{ metadata: {}, involvedObject: {}, source: {}, reportingComponent: "", reportingInstance: "" },
    ...{ firstTimestamp: null, lastTimestamp: null, eventTime: null },
  },
  PersistentVolumeClaim: { metadata: {}, spec: { resources: {} }, status: {} },
  PersistentVolume: specAndStatus,
  LimitRange: { metadata: {}, spec: { limits: null } },
  ResourceQuota: specAndStatus,
  ReplicationController: { metadata: {}, spec: {}, status: {} },
  "apps/Deployment": { metadata: {}, spec: { selector: null, strategy: {}, template }, status: {} },
  "apps/ReplicaSet": { metadata: {}, spec: { selector: null, template }, status: {} },
  "apps/StatefulSet": { metadata: {}, spec: { selector: null, template, updateStrategy: {} }, status: {} },
  "apps/DaemonSet": { metadata: {}, spec: { selector: null, template, updateStrategy: {} }, status: {} },
  "batch/Job": { metadata: {}, spec: { template }, status: {} },
  "batch/CronJob": { metadata: {}, spec: { jobTemplate: { metadata: {}, spec: { template } } }, status: {} },
  "policy/PodDisruptionBudget": specAndStatus,
  "autoscaling/HorizontalPodAutoscaler": { metadata: {}, spec: { scaleTargetRef: {} }, status: {} },
  "coordination.k8s.io/Lease": { metadata: {}, spec: {} },
  "discovery.k8s.io/EndpointSlice": { metadata: {}, endpoints: null, ports: null },
  "events.k8s.io/Event": {
    ...{ metadata: {}, eventTime: null, regarding: {}, deprecatedSource: {} },
    ...{ deprecatedFirstTimestamp: null, deprecatedLastTimestamp: null },
  },
  "networking.k8s.io/Ingress": { metadata: {}, spec: {}, status: { loadBalancer: {} } },
  "networking.k8s.io/NetworkPolicy": { metadata: {}, spec: { podSelector: {} } },
  "rbac.authorization.k8s.io/Role": rules,
  "rbac.authorization.k8s.io/ClusterRole": rules,
  "rbac.authorization.k8s.io/RoleBinding": binding,
  "rbac.authorization.k8s.io/ClusterRoleBinding": binding,
  "apiextensions.k8s.io/CustomResourceDefinition": {
    metadata: {},
    spec: { names: {}, versions: null },
    status: { conditions: null, acceptedNames: {}, storedVersions: null },
  },
};

export function emptyObject({ group, version, kind, customResource }: KindEntry): JsonObject {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  if (customResource !== undefined) return { apiVersion, kind };
  return { apiVersion, kind, ...(emptyObjects[nameOf({ group, kind })] ?? { metadata: {} }) };
}

/** The key of a kind in the tables of this folder: "Pod", "apps/Deployment". */
export function nameOf({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return group === "" ? kind : `${group}/${kind}`;
}
