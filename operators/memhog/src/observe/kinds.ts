// The watched kinds and the part of each object that the cache keeps. The whole objects of 5,000 pods would take 70 MiB; the budget is
// 110 MiB when idle and 128 MiB with 5,000 pods.
//
// Every view has the same shape: the metadata for identity and ownership, and `facts`, the values that decisions use. A change that
// leaves the facts equal triggers nothing (watches.ts), so node heartbeats and status counters cause no reconciles.
import {
  Deployment,
  indexBy,
  Job,
  type Kind,
  type KubernetesObject,
  Node,
  type ObjectOf,
  Pod,
  StatefulSet,
  type Stored,
  view,
} from "@memhog/runtime";
import type { ViewOf } from "@memhog/runtime/cache";
import { CronJob, DaemonSet, HorizontalPodAutoscaler, LimitRange, ReplicaSet, ResourceQuota } from "@memhog/runtime/kinds";
import { controllerOf, type OwnerReference } from "@memhog/runtime/objects";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { appAnnotation } from "../api/names.ts";
import { autoscalerFacts, nodeFacts, quotaFacts, rangeFacts } from "./namespace-facts.ts";
import {
  cronJobFacts,
  daemonSetFacts,
  deploymentFacts,
  replicaSetFacts,
  statefulSetFacts,
  type TemplateFacts,
} from "./owner-facts.ts";
import { type PodFacts, podFacts, podMetadata } from "./pod-facts.ts";

/** An object reduced to its facts. */
export interface Kept<F> extends KubernetesObject {
  readonly facts: F;
}

/** A view that keeps the facts and the metadata for identity and ownership. */
function kept<K extends Kind, F>(kind: K, factsOf: (object: Stored<ObjectOf<K>>) => F): ViewOf<K, Kept<F>> {
  return view<K, Kept<F>>(kind, {
    project: (object) => ({ metadata: identity(object), facts: factsOf(object) }) as Stored<Kept<F>>,
  });
}

export const PodView: ViewOf<typeof Pod, Kept<PodFacts>> = view(Pod, {
  project: (pod) => ({ metadata: podMetadata(pod), facts: podFacts(pod) }) as Stored<Kept<PodFacts>>,
});
/**
 * memhog's own kinds are kept with spec and status, whose size the CRDs bound, and with reduced metadata. Because of that, only
 * update their status subresource, which does not replace metadata.
 */
export const AppMonitorView: ViewOf<typeof AppMonitor, AppMonitor> = view(AppMonitor, {
  project: (monitor) => ({ ...monitor, metadata: ownMetadata(monitor) }),
});
export const AppMemoryView: ViewOf<typeof AppMemory, AppMemory> = view(AppMemory, {
  project: (memory) => ({ ...memory, metadata: ownMetadata(memory) }),
});
export const NodeView = kept(Node, nodeFacts);
export const DeploymentView = kept(Deployment, deploymentFacts);
export const StatefulSetView = kept(StatefulSet, statefulSetFacts);
export const DaemonSetView = kept(DaemonSet, daemonSetFacts);
/** A Deployment keeps up to ten ReplicaSets. Only the template of a ReplicaSet without a controller matters. */
export const ReplicaSetView = kept(ReplicaSet, (set): { readonly template?: TemplateFacts } =>
  controllerOf(set) === undefined ? { template: replicaSetFacts(set) } : {},
);
export const JobView = kept(Job, () => ({ isJob: true }) as const);
export const CronJobView = kept(CronJob, cronJobFacts);
export const LimitRangeView = kept(LimitRange, rangeFacts);
export const ResourceQuotaView = kept(ResourceQuota, quotaFacts);
export const AutoscalerView = kept(HorizontalPodAutoscaler, autoscalerFacts);

const namespaceOf = ({ metadata }: Stored<KubernetesObject>) => metadata.namespace;

/** "namespace/ReplicaSet.apps/web-1": the controller of an object. For a bare pod, the pod that its app is named after. */
export function controllerKey(
  namespace: string,
  { apiVersion, kind, name }: Pick<OwnerReference, "apiVersion" | "kind" | "name">,
): string {
  const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
  return `${namespace}/${kind}${group}/${name}`;
}

/** The app that a bare pod claims to belong to: itself, or the pod it is a copy of. Anybody can claim that (`barePodApp`). */
export function claimedApp({ metadata }: Stored<KubernetesObject>): string {
  return metadata.annotations?.[appAnnotation] ?? metadata.name;
}

const controllerOfPod = (pod: Stored<KubernetesObject>): string => {
  const owner = controllerOf(pod) ?? { apiVersion: "v1", kind: "Pod", name: claimedApp(pod) };
  return controllerKey(pod.metadata.namespace ?? "", owner);
};
const controllerOfOwner = (object: Stored<KubernetesObject>): string | undefined => {
  const owner = controllerOf(object);
  return owner && controllerKey(object.metadata.namespace ?? "", owner);
};

export const podsByController = indexBy(PodView, controllerOfPod);
export const podsByNode = indexBy(PodView, ({ facts }) => (facts.requested > 0 ? facts.node : undefined));
/** Pods with the monitor annotation, whatever its value. */
export const watchedPods = indexBy(PodView, (pod) => (pod.facts.watched === undefined ? undefined : namespaceOf(pod)));
export const replicaSetsByController = indexBy(ReplicaSetView, controllerOfOwner);
export const jobsByController = indexBy(JobView, controllerOfOwner);
export const monitorsByNamespace = indexBy(AppMonitorView, namespaceOf);
export const rangesByNamespace = indexBy(LimitRangeView, namespaceOf);
export const quotasByNamespace = indexBy(ResourceQuotaView, namespaceOf);
/** HPAs on memory utilization by target, for example "namespace/Deployment/web". */
export const autoscalersByTarget = indexBy(AutoscalerView, ({ metadata, facts }) =>
  facts.byMemoryUtilization ? `${metadata.namespace}/${facts.target}` : undefined,
);
/** The apps with intents, all under one key. */
export const memoriesUnderWay = indexBy(AppMemoryView, ({ status }) =>
  (status?.intents?.length ?? 0) > 0 ? "under way" : undefined,
);

// Tenants control most of the metadata: 400 AppMonitors with 250 kB of annotations each took 261 MiB and crashed the process. So each
// view lists the fields it keeps, and drops strings above a maximum length. They are dropped instead of truncated because V8 keeps the
// whole string alive behind a substring.

type Metadata = Stored<KubernetesObject>["metadata"];

/** The maximum length of an object name. Kubernetes does not validate names in owner references. */
const longestName = 253;
/** memhog sets at most five owners on an AppMemory (execute/persist-plan.ts). */
const mostOwners = 20;
/** Kubernetes limits the size of labels only by the size of the object. */
const mostLabelCharacters = 16_384;

export const isName = (text: string | undefined): text is string => text !== undefined && text.length <= longestName;

/** The metadata for identity and ownership. */
export function identity(object: Stored<KubernetesObject>): Metadata {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const owner = controllerIn(object);
  return {
    ...{ name, uid, resourceVersion },
    ...(namespace !== undefined && { namespace }),
    ...(owner !== undefined && { ownerReferences: [owner] }),
  };
}

/** The metadata of reconciled kinds: also generation, deletion and all owners. */
export function ownMetadata({ metadata }: Stored<KubernetesObject>): Metadata {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp, ownerReferences = [] } = metadata;
  const owners = ownerReferences.filter(isShort).slice(0, mostOwners);
  return {
    ...{ name, uid, resourceVersion },
    ...(namespace !== undefined && { namespace }),
    ...(generation !== undefined && { generation }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(owners.length > 0 && { ownerReferences: owners }),
  };
}

/** The controller of an object; undefined if the reference is longer than any valid one. */
export function controllerIn(object: Stored<KubernetesObject>): OwnerReference | undefined {
  const owner = controllerOf(object);
  return owner !== undefined && isShort(owner) ? owner : undefined;
}

const isShort = ({ apiVersion, kind, name, uid }: OwnerReference): boolean => [apiVersion, kind, name, uid].every(isName);

/** Whether all labels can be kept. Keeping some is not an option: a selector may require that a label is absent. */
export function hasSensibleLabels({ metadata: { labels = {} } }: Stored<KubernetesObject>): boolean {
  let characters = 0;
  for (const [key, value] of Object.entries(labels)) characters += key.length + value.length;
  return characters <= mostLabelCharacters;
}
