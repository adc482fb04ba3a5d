// Which objects are watched, and what is kept of each: only what a decision can rest on. Of 5,000 pods the whole objects would
// take 70 MiB; an autoscaler of memory should not need that (promises: idle ≤ 110 MiB, 5,000 pods ≤ 128 MiB).
//
// Every view has the same shape: the metadata that identity and ownership need, and `facts`, the few values we read out of the
// object (facts/). Two states of an object with equal facts are the same to us, whatever else changed: that is how the
// heartbeats of nodes and the counters of statuses wake nobody (watches.ts).
//
// Reading is by index, never by walking: see the end of this file.
import {
  CronJob,
  controllerOf,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  indexBy,
  Job,
  type Kind,
  type KubernetesObject,
  LimitRange,
  Node,
  type ObjectOf,
  type OwnerReference,
  Pod,
  ReplicaSet,
  ResourceQuota,
  StatefulSet,
  type Stored,
  type ViewOf,
  view,
} from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { appAnnotation } from "../api/names.ts";
import { autoscalerFacts, quotaFacts, rangeFacts } from "./facts/namespace-facts.ts";
import { nodeFacts } from "./facts/node-facts.ts";
import {
  cronJobFacts,
  daemonSetFacts,
  deploymentFacts,
  replicaSetFacts,
  statefulSetFacts,
  type TemplateFacts,
} from "./facts/owner-facts.ts";
import { type PodFacts, podFacts, podMetadata } from "./facts/pod-facts.ts";

/** An object of which only some facts are kept. */
export interface Kept<F> extends KubernetesObject {
  readonly facts: F;
}

/** What is kept of a kind; metadata as far as identity and ownership go, unless told otherwise. */
function kept<K extends Kind, F>(kind: K, factsOf: (object: Stored<ObjectOf<K>>) => F): ViewOf<K, Kept<F>> {
  return view<K, Kept<F>>(kind, {
    project: (object) => ({ metadata: identity(object), facts: factsOf(object) }) as Stored<Kept<F>>,
  });
}

function identity(object: Stored<KubernetesObject>): Stored<KubernetesObject>["metadata"] {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const owner = controllerOf(object);
  return {
    ...{ name, uid, resourceVersion },
    ...(namespace !== undefined && { namespace }),
    ...(owner !== undefined && { ownerReferences: [owner] }),
  };
}

export const PodView: ViewOf<typeof Pod, Kept<PodFacts>> = view(Pod, {
  project: (pod) => ({ metadata: podMetadata(pod), facts: podFacts(pod) }) as Stored<Kept<PodFacts>>,
});
export const NodeView = kept(Node, nodeFacts);
export const DeploymentView = kept(Deployment, deploymentFacts);
export const StatefulSetView = kept(StatefulSet, statefulSetFacts);
export const DaemonSetView = kept(DaemonSet, daemonSetFacts);
/** There are ten of them for every Deployment; only one that stands on its own has a template that matters. */
export const ReplicaSetView = kept(ReplicaSet, (set): { readonly template?: TemplateFacts } =>
  controllerOf(set) === undefined ? { template: replicaSetFacts(set) } : {},
);
export const JobView = kept(Job, () => ({ isJob: true }) as const);
export const CronJobView = kept(CronJob, cronJobFacts);
export const LimitRangeView = kept(LimitRange, rangeFacts);
export const ResourceQuotaView = kept(ResourceQuota, quotaFacts);
export const AutoscalerView = kept(HorizontalPodAutoscaler, autoscalerFacts);

// Indexes.

const namespaceOf = ({ metadata }: Stored<KubernetesObject>) => metadata.namespace;

/** "namespace/ReplicaSet.apps/web-1": who controls an object, by name; a bare pod is controlled by the app it began as. */
export function controllerKey(
  namespace: string,
  { apiVersion, kind, name }: Pick<OwnerReference, "apiVersion" | "kind" | "name">,
): string {
  const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
  return `${namespace}/${kind}${group}/${name}`;
}

/** The name a bare pod's app goes by: its own, or that of the pod it is a bigger copy of. */
export function barePodApp({ metadata }: Stored<KubernetesObject>): string {
  return metadata.annotations?.[appAnnotation] ?? metadata.name;
}

const controllerOfPod = (pod: Stored<KubernetesObject>): string => {
  const owner = controllerOf(pod) ?? { apiVersion: "v1", kind: "Pod", name: barePodApp(pod) };
  return controllerKey(pod.metadata.namespace ?? "", owner);
};
const controllerOfOwner = (object: Stored<KubernetesObject>): string | undefined => {
  const owner = controllerOf(object);
  return owner && controllerKey(object.metadata.namespace ?? "", owner);
};

export const podsByController = indexBy(PodView, controllerOfPod);
export const podsByNode = indexBy(PodView, ({ facts }) => (facts.requested > 0 ? facts.node : undefined));
/** Only pods that carry our annotation, whatever it says. */
export const watchedPods = indexBy(PodView, (pod) => (pod.facts.watched === undefined ? undefined : namespaceOf(pod)));
export const replicaSetsByController = indexBy(ReplicaSetView, controllerOfOwner);
export const jobsByController = indexBy(JobView, controllerOfOwner);
export const monitorsByNamespace = indexBy(AppMonitor, namespaceOf);
export const rangesByNamespace = indexBy(LimitRangeView, namespaceOf);
export const quotasByNamespace = indexBy(ResourceQuotaView, namespaceOf);
/** "namespace/Deployment/web": by what they scale, if they scale it by memory utilisation. */
export const autoscalersByTarget = indexBy(AutoscalerView, ({ metadata, facts }) =>
  facts.byMemoryUtilization ? `${metadata.namespace}/${facts.target}` : undefined,
);
/** All under one value: the few apps of which something is being changed. */
export const memoriesUnderWay = indexBy(AppMemory, ({ status }) =>
  (status?.intents?.length ?? 0) > 0 ? "under way" : undefined,
);
