// The table of built-in kinds: what ours uses, and what kubectl needs to feel at home. A kind that is missing here is
// missing in discovery too, so clients hear 404 as from a cluster that does not serve it. Order is that of discovery.
import { accessKinds } from "./access.ts";
import { controllerRevisions, daemonSets, deployments, replicaSets, statefulSets } from "./apps.ts";
import { cronJobs, jobs } from "./batch.ts";
import { namespaces, nodes } from "./core/cluster.ts";
import { configMaps, secrets, serviceAccounts } from "./core/config.ts";
import { coreEvents, events } from "./core/events.ts";
import { limitRanges, resourceQuotas } from "./core/limits.ts";
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
