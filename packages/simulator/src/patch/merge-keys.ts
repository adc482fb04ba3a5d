// Merge rules of built-in kinds: the `x-kubernetes-list-type`, `-list-map-keys`, `-map-type`, and `-patch-merge-key` of
// Kubernetes 1.37.
//
// Strategic merge patch and apply differ in some places. Strategic merge patch identifies ports by number, apply by number and
// protocol. Strategic merge patch merges the conditions of a Job by type; for apply they are atomic.
import type { MergeSchema } from "./merge-schema.ts";

type Fields = Readonly<Record<string, MergeSchema>>;

const atomic: MergeSchema = { atomic: true };
const set: MergeSchema = { set: true };

const object = (fields: Fields): MergeSchema => ({ fields });
/** A missing key is an empty string, as in Go. */
const byKey = (key: string, items: MergeSchema = {}): MergeSchema => ({ keys: [key], keyDefaults: { [key]: "" }, items });
/** Several fields identify an element; strategic merge patch uses only the first. */
const byPort = (field: string): MergeSchema => ({
  keys: [field, "protocol"],
  keyDefaults: { [field]: 0, protocol: "TCP" },
  strategic: { key: field },
});

const conditions: Fields = { conditions: byKey("type") };

const metadata = object({ finalizers: set, ownerReferences: byKey("uid", atomic) });

const resources = object({ claims: { keys: ["name"], strategic: { replace: true } } });
const envVar = object({
  valueFrom: object({ configMapKeyRef: atomic, secretKeyRef: atomic, fieldRef: atomic, resourceFieldRef: atomic }),
});

const container = object({
  env: byKey("name", envVar),
  ports: byPort("containerPort"),
  resources,
  volumeDevices: byKey("devicePath"),
  volumeMounts: byKey("mountPath"),
});

const claimSpec = object({ dataSource: atomic, selector: atomic });
const claimTemplate = object({ metadata, spec: claimSpec });

const volume = object({
  csi: object({ nodePublishSecretRef: atomic }),
  ephemeral: object({ volumeClaimTemplate: claimTemplate }),
});

const podSpec = object({
  affinity: object({ nodeAffinity: object({ requiredDuringSchedulingIgnoredDuringExecution: atomic }) }),
  containers: byKey("name", container),
  ephemeralContainers: byKey("name", container),
  hostAliases: byKey("ip"),
  imagePullSecrets: byKey("name", atomic),
  initContainers: byKey("name", container),
  nodeSelector: atomic,
  resourceClaims: byKey("name"),
  resources,
  schedulingGates: byKey("name"),
  topologySpreadConstraints: {
    keys: ["topologyKey", "whenUnsatisfiable"],
    strategic: { key: "topologyKey" },
    items: object({ labelSelector: atomic }),
  },
  volumes: byKey("name", volume),
});

const podTemplate = object({ metadata, spec: podSpec });
const templated = object({ selector: atomic, template: podTemplate });
const replicated = object({ metadata, spec: templated, status: object(conditions) });

const webhooks = object({
  metadata,
  webhooks: byKey("name", object({ matchConditions: byKey("name"), namespaceSelector: atomic, objectSelector: atomic })),
});
const binding = object({ metadata, roleRef: atomic });

/** By group and kind: "Pod", "apps/Deployment". Other kinds have merge rules only for metadata. */
export const mergeKeys: Readonly<Record<string, MergeSchema>> = {
  Pod: object({
    metadata,
    spec: podSpec,
    status: object({
      ...conditions,
      hostIPs: { strategic: { key: "ip" } },
      podIPs: byKey("ip"),
      resourceClaimStatuses: byKey("name"),
    }),
  }),
  PodTemplate: object({ metadata, template: podTemplate }),
  Node: object({
    metadata,
    spec: object({ podCIDRs: set }),
    status: object({ ...conditions, addresses: byKey("type") }),
  }),
  Namespace: object({ metadata, status: object(conditions) }),
  Service: object({
    metadata,
    spec: object({ ports: byPort("port"), selector: atomic }),
    status: object(conditions),
  }),
  ServiceAccount: object({ metadata, secrets: byKey("name", atomic) }),
  Event: object({ metadata, involvedObject: atomic, related: atomic }),
  PersistentVolumeClaim: object({ metadata, spec: claimSpec, status: object(conditions) }),
  PersistentVolume: object({ metadata, spec: object({ nodeAffinity: object({ required: atomic }) }) }),
  ReplicationController: replicated,
  ResourceQuota: object({ metadata, spec: object({ scopeSelector: atomic }) }),
  "apps/Deployment": replicated,
  "apps/ReplicaSet": replicated,
  "apps/StatefulSet": replicated,
  "apps/DaemonSet": replicated,
  "batch/Job": object({
    metadata,
    spec: templated,
    status: object({
      conditions: { strategic: { key: "type" } },
      uncountedTerminatedPods: object({ failed: set, succeeded: set }),
    }),
  }),
  "batch/CronJob": object({ metadata, spec: object({ jobTemplate: object({ metadata, spec: templated }) }) }),
  "policy/PodDisruptionBudget": object({
    metadata,
    spec: object({ selector: { atomic: true, strategic: { replace: true } } }),
    status: object(conditions),
  }),
  "autoscaling/HorizontalPodAutoscaler": object({ metadata, status: object(conditions) }),
  "discovery.k8s.io/EndpointSlice": object({ metadata }),
  "events.k8s.io/Event": object({ metadata, regarding: atomic, related: atomic }),
  "rbac.authorization.k8s.io/RoleBinding": binding,
  "rbac.authorization.k8s.io/ClusterRoleBinding": binding,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhooks,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhooks,
  "apiextensions.k8s.io/CustomResourceDefinition": object({
    metadata,
    status: object({ conditions: { keys: ["type"], strategic: { replace: true } } }),
  }),
};

/** The rules that all kinds share. */
export const anyKind: MergeSchema = object({ metadata });
