// Objects that cases start from, as small as an API server allows.
import * as kinds from "@memhog/runtime";
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
export const Job = loose(kinds.Job);
export const LimitRange = loose(kinds.LimitRange);
export const ResourceQuota = loose(kinds.ResourceQuota);
export const PodDisruptionBudget = loose(kinds.PodDisruptionBudget);
export const CustomResourceDefinition = loose(kinds.CustomResourceDefinition);

export const container = (more: object = {}) => ({ name: "main", image: "example.com/none", ...more });

export const memory = (request: string, limit: string) => ({ requests: { memory: request }, limits: { memory: limit } });

/** A pod that nobody schedules: it stays as it was made. */
export const pod = (more: Loose = {}): Loose => ({
  metadata: more.metadata ?? {},
  spec: { schedulerName: "nobody", containers: [container()], ...more.spec },
});

/** A Deployment of nothing. */
export const deployment = (more: Loose = {}): Loose => ({
  metadata: more.metadata ?? {},
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "x" } },
    template: { metadata: { labels: { app: "x" } }, spec: { containers: [container()] } },
    ...more.spec,
  },
});
