// What an object of a built-in kind is before anything is said about it: in Go the fields of a struct that are structs are
// always there. Whoever creates a Deployment therefore owns `f:spec.f:replicas` and not `f:spec` itself, while the creator of
// a custom resource owns its spec as well, for nothing was there before.
import type { JsonObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";

const template: JsonObject = { metadata: {}, spec: { containers: null } };
const specAndStatus: JsonObject = { metadata: {}, spec: {}, status: {} };
const rules: JsonObject = { metadata: {}, rules: null };
const binding: JsonObject = { metadata: {}, roleRef: { apiGroup: "", kind: "", name: "" } };

/** By group and kind. A kind that is not here has nothing but metadata. */
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

/** How the tables of this folder name kinds: "Pod", "apps/Deployment". */
export function nameOf({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return group === "" ? kind : `${group}/${kind}`;
}
