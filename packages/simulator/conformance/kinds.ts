// Minimal valid objects for the tests.
import * as kinds from "@memhog/runtime/kinds";
import { type Loose, loose } from "./world.ts";

export const ConfigMap = loose(kinds.ConfigMap);
export const Secret = loose(kinds.Secret);
export const Pod = loose(kinds.Pod);
export const Node = loose(kinds.Node);
export const Namespace = loose(kinds.Namespace);
export const Service = loose(kinds.Service);
export const ServiceAccount = loose(kinds.ServiceAccount);
export const Deployment = loose(kinds.Deployment);
export const ReplicaSet = loose(kinds.ReplicaSet);
export const StatefulSet = loose(kinds.StatefulSet);
export const Event = loose(kinds.Event);
export const PersistentVolumeClaim = loose(kinds.PersistentVolumeClaim);
export const PersistentVolume = loose(
  kinds.dynamicKind({ group: "", version: "v1", kind: "PersistentVolume", plural: "persistentvolumes", namespaced: false }),
);
export const StorageClass = loose(
  kinds.dynamicKind({
    ...{ group: "storage.k8s.io", version: "v1", kind: "StorageClass", plural: "storageclasses", namespaced: false },
  }),
);
export const Job = loose(kinds.Job);
export const LimitRange = loose(kinds.LimitRange);
export const ResourceQuota = loose(kinds.ResourceQuota);
export const PodDisruptionBudget = loose(kinds.PodDisruptionBudget);
export const CustomResourceDefinition = loose(kinds.CustomResourceDefinition);

export const container = (more: object = {}) => ({ name: "main", image: "example.com/none", ...more });

export const memory = (request: string, limit: string) => ({ requests: { memory: request }, limits: { memory: limit } });

/** A pod that no scheduler handles, so it stays unchanged. */
export const pod = (more: Loose = {}): Loose => ({
  metadata: more.metadata ?? {},
  spec: { schedulerName: "nobody", containers: [container()], ...more.spec },
});

/** A Deployment with zero replicas. */
export const deployment = (more: Loose = {}): Loose => ({
  metadata: more.metadata ?? {},
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "x" } },
    template: { metadata: { labels: { app: "x" } }, spec: { containers: [container()] } },
    ...more.spec,
  },
});
