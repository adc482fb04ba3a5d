// The built-in kinds in the order of discovery. Requests for a kind that is not listed here get 404.
import { accessKinds } from "./access.ts";
import { controllerRevisions, daemonSets, deployments, replicaSets, statefulSets } from "./apps.ts";
import { cronJobs, jobs } from "./batch.ts";
import { configMaps, limitRanges, namespaces, nodes, resourceQuotas, secrets, serviceAccounts } from "./core/cluster.ts";
import { coreEvents, events } from "./core/events.ts";
import { pods } from "./core/pod.ts";
import { services } from "./core/service.ts";
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "./core/volumes.ts";
import type { KindEntry } from "./kind-entry.ts";
import { endpointSlices, endpoints, ingresses, networkPolicies } from "./network.ts";
import { horizontalPodAutoscalers, leases, podDisruptionBudgets, priorityClasses } from "./policy.ts";

export const builtInKinds: readonly KindEntry[] = [
  configMaps,
  endpoints,
  coreEvents,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  resourceQuotas,
  secrets,
  serviceAccounts,
  services,
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
  events,
  horizontalPodAutoscalers,
  cronJobs,
  jobs,
  networkPolicies,
  ingresses,
  podDisruptionBudgets,
  storageClasses,
  priorityClasses,
  leases,
  endpointSlices,
  ...accessKinds,
];
