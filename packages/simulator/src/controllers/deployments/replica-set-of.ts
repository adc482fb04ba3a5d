// How a Deployment finds its ReplicaSets: by template, hash and revision.
import { Deployment, ownerReferenceTo, type Stored } from "@memhog/runtime";
import type { PodTemplateSpec, ReplicaSet } from "@memhog/runtime/kinds";
import { equals, parseTime } from "@memhog/runtime/objects";
import { resolveBound, templateHash } from "../workload.ts";

const hashLabel = "pod-template-hash";
export const revisionAnnotation = "deployment.kubernetes.io/revision";
const desiredAnnotation = "deployment.kubernetes.io/desired-replicas";
const maxAnnotation = "deployment.kubernetes.io/max-replicas";
/** Annotations that are not copied to ReplicaSets. */
const notCopied = new Set([
  ...["kubectl.kubernetes.io/last-applied-configuration", revisionAnnotation, desiredAnnotation, maxAnnotation],
  ...["deployment.kubernetes.io/revision-history", "deprecated.deployment.rollback.to"],
]);

export interface Bounds {
  /** Pods above the desired number, during a rollout. */
  readonly maxSurge: number;
  /** Pods below the desired number. */
  readonly maxUnavailable: number;
}

/** maxSurge rounds up and maxUnavailable down; if both are 0, one pod may be unavailable. */
export function boundsOf({ spec }: Stored<Deployment>): Bounds {
  if (spec.strategy?.type === "Recreate") return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = "25%", maxUnavailable = "25%" } = spec.strategy?.rollingUpdate ?? {};
  const surge = resolveBound(maxSurge, replicasOf({ spec }), "up");
  const unavailable = resolveBound(maxUnavailable, replicasOf({ spec }), "down");
  return { maxSurge: surge, maxUnavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, replicasOf({ spec })) };
}

export function replicasOf({ spec }: { readonly spec: { readonly replicas?: number } }): number {
  return spec.replicas ?? 1;
}

export interface Generations {
  /** The ReplicaSet of the current template, if it exists. */
  readonly current: Stored<ReplicaSet> | undefined;
  /** The others, oldest first. */
  readonly old: readonly Stored<ReplicaSet>[];
}

export function generationsOf({ spec }: Stored<Deployment>, replicaSets: readonly Stored<ReplicaSet>[]): Generations {
  const byAge = [...replicaSets].sort((a, b) => ageOf(a) - ageOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  const current = byAge.find((set) => equals(withoutHash(set.spec.template), withoutHash(spec.template)));
  return { current, old: byAge.filter((set) => set !== current) };
}

const ageOf = ({ metadata }: Stored<ReplicaSet>) => parseTime(metadata.creationTimestamp) ?? 0;

function withoutHash(template: PodTemplateSpec | undefined): unknown {
  const { [hashLabel]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}

export function revisionOf({ metadata }: Stored<ReplicaSet>): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0) || 0;
}

/** The size annotations of the last resize; fields are undefined if there was none. */
export function sizeAnnotations({ metadata }: Stored<ReplicaSet>): { readonly desired?: number; readonly max?: number } {
  const { [desiredAnnotation]: desired, [maxAnnotation]: max } = metadata.annotations ?? {};
  return { ...(desired !== undefined && { desired: Number(desired) }), ...(max !== undefined && { max: Number(max) }) };
}

export function sizeAnnotationsFor(deployment: Stored<Deployment>): Readonly<Record<string, string>> {
  const wanted = replicasOf(deployment);
  return { [desiredAnnotation]: `${wanted}`, [maxAnnotation]: `${wanted + boundsOf(deployment).maxSurge}` };
}

/** The annotations of the current ReplicaSet: those of its Deployment, and its revision. */
export function annotationsFor({ metadata }: Stored<Deployment>, revision: number): Readonly<Record<string, string>> {
  const copied = Object.entries(metadata.annotations ?? {}).filter(([key]) => !notCopied.has(key));
  return { ...Object.fromEntries(copied), [revisionAnnotation]: `${revision}` };
}

/** A ReplicaSet for the current template. */
export function replicaSetFor(deployment: Stored<Deployment>, replicas: number, revision: number): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const { name, namespace } = deployment.metadata;
  return {
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels,
      annotations: { ...annotationsFor(deployment, revision), ...sizeAnnotationsFor(deployment) },
      ownerReferences: [ownerReferenceTo(deployment, Deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}
