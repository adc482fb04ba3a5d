// The facts of workloads: the memory in their pod templates and the progress of their rollouts.
import type { Deployment, StatefulSet, Stored } from "@memhog/runtime";
import type { CronJob, DaemonSet, PodTemplateSpec, ReplicaSet } from "@memhog/runtime/kinds";
import type { ObservedTemplate } from "../model/observed-app.ts";
import { isSidecar, memoryIn } from "./pod-facts.ts";

export type TemplateFacts = Omit<ObservedTemplate, "uid" | "resourceVersion">;

type Stage = Pick<TemplateFacts, "replicas" | "readyReplicas"> & {
  /** Pods with the newest template. */
  readonly updated: number;
  /** All pods. */
  readonly existing: number;
};

export function deploymentFacts({ metadata, spec, status = {} }: Stored<Deployment>): TemplateFacts {
  const replicas = spec.replicas ?? 1;
  const stage = {
    replicas,
    readyReplicas: status.readyReplicas ?? 0,
    updated: status.updatedReplicas ?? 0,
    existing: status.replicas ?? 0,
  };
  return facts(spec.template, stage, {
    isSeen: isSeen(metadata.generation, status.observedGeneration),
    held: spec.paused === true ? "the Deployment is paused" : undefined,
    stalled: saidBy(status.conditions, "Progressing", "False"),
    failing: saidBy(status.conditions, "ReplicaFailure", "True"),
    deadlineMs: Math.min((spec.progressDeadlineSeconds ?? 600) * 1000, longestDeadlineMs),
    replacesPods: true,
    maxUnavailable: maxUnavailableOfDeployment(spec, replicas),
    surge: surgeOfDeployment(spec, replicas),
  });
}

export function statefulSetFacts({ metadata, spec, status = {} }: Stored<StatefulSet>): TemplateFacts {
  const replicas = spec.replicas ?? 1;
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  const updated = status.updateRevision === status.currentRevision ? status.replicas : status.updatedReplicas;
  const stage = {
    replicas,
    readyReplicas: status.readyReplicas ?? 0,
    updated: updated ?? 0,
    existing: status.replicas ?? 0,
  };
  return facts(spec.template, stage, {
    isSeen: isSeen(metadata.generation, status.observedGeneration),
    // Pods below the partition keep the old template until a user changes the partition.
    held: partition > 0 ? `its partition holds back every pod below ${partition}` : undefined,
    replacesPods: spec.updateStrategy?.type !== "OnDelete",
    maxUnavailable: maxUnavailableOfStatefulSet(spec, replicas),
  });
}

export function daemonSetFacts({ metadata, spec, status }: Stored<DaemonSet>): TemplateFacts {
  const replicas = status?.desiredNumberScheduled ?? 0;
  const stage = {
    replicas,
    readyReplicas: status?.numberReady ?? 0,
    updated: status?.updatedNumberScheduled ?? 0,
    existing: status?.currentNumberScheduled ?? 0,
  };
  return facts(spec.template, stage, {
    isSeen: isSeen(metadata.generation, status?.observedGeneration),
    replacesPods: spec.updateStrategy?.type !== "OnDelete",
    maxUnavailable: maxUnavailableOfDaemonSet(spec, replicas),
    surge: surgeOfDaemonSet(spec, replicas),
  });
}

/** The status does not distinguish old and new pods: `templateOf` (observe.ts) compares the pods themselves. */
export function replicaSetFacts({ metadata, spec, status = {} }: Stored<ReplicaSet>): TemplateFacts {
  const replicas = spec.replicas ?? 1;
  const existing = status.replicas ?? 0;
  return facts(
    spec.template,
    { replicas, existing, updated: existing, readyReplicas: status.readyReplicas ?? 0 },
    { isSeen: isSeen(metadata.generation, status.observedGeneration), replacesPods: false, maxUnavailable: 1 },
  );
}

/** The next Job uses the new template; running Jobs are not touched. Its replicas are the pods of one Job. */
export function cronJobFacts({ spec }: Stored<CronJob>): TemplateFacts {
  const { parallelism: pods = 1, template } = spec.jobTemplate.spec;
  const stage = { replicas: pods, readyReplicas: pods, updated: pods, existing: pods };
  return facts(template, stage, { isSeen: true, replacesPods: true, maxUnavailable: 0 });
}

/** As the default of a Deployment. Other owners have no deadline of their own. */
const usualDeadlineMs = 600_000;
/** Deployments use the largest number for none. */
const longestDeadlineMs = 3_600_000;

interface Rollout {
  /** The controller has observed the newest template. */
  readonly isSeen: boolean;
  readonly held?: string | undefined;
  readonly stalled?: string | undefined;
  readonly failing?: string | undefined;
  /** @default 10 minutes */
  readonly deadlineMs?: number;
  readonly replacesPods: boolean;
  readonly maxUnavailable: number;
  /** @default 0 */
  readonly surge?: number;
}

function facts(template: PodTemplateSpec | undefined, stage: Stage, rollout: Rollout): TemplateFacts {
  const { isSeen, held, stalled, failing, deadlineMs = usualDeadlineMs, replacesPods, maxUnavailable, surge = 0 } = rollout;
  const { replicas, readyReplicas, updated, existing } = stage;
  const rolledOut = isSeen && updated >= replicas && existing === replicas && readyReplicas >= replicas;
  const containers = templateContainers(template);
  return {
    containers,
    replicas,
    readyReplicas,
    rolledOut,
    replacesPods,
    maxUnavailable,
    surge,
    deadlineMs,
    ...(held !== undefined && { held }),
    // Until the controller has observed the template, its conditions are about the previous one.
    ...(isSeen && stalled !== undefined && { stalled }),
    ...(isSeen && failing !== undefined && { failing }),
  };
}

function isSeen(generation = 0, observed = 0): boolean {
  return observed >= generation;
}

function templateContainers(template: PodTemplateSpec | undefined): TemplateFacts["containers"] {
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  return [...initContainers.filter(isSidecar), ...containers].map(({ name, resources }) => ({
    name,
    limit: memoryIn(resources?.limits),
    request: memoryIn(resources?.requests),
  }));
}

/** What a Deployment says in a condition, if it has this status. */
function saidBy(
  conditions: NonNullable<Deployment["status"]>["conditions"] = [],
  type: string,
  status: string,
): string | undefined {
  const found = conditions.find((each) => each.type === type && each.status === status);
  return found && (found.message || found.reason || found.type);
}

// How many pods a rollout may remove before their replacements are Ready (D2), computed as the controllers do:
//
//   Deployment    RollingUpdate   maxUnavailable, rounded down; 1 if there is no surge either. By default 25 %: none of 1 to 3
//                 Recreate        all of them
//   StatefulSet   RollingUpdate   maxUnavailable, rounded up; 1 by default
//   DaemonSet     RollingUpdate   maxUnavailable, rounded up; 1 by default; none where it surges
//   OnDelete, ReplicaSet          1: memhog evicts them one at a time
//   CronJob                       none: running Jobs are not touched

export function maxUnavailableOfDeployment({ strategy }: Deployment["spec"], replicas: number): number {
  if (strategy?.type === "Recreate") return replicas;
  const { maxSurge = "25%", maxUnavailable = "25%" } = strategy?.rollingUpdate ?? {};
  const missing = resolve(maxUnavailable, replicas, Math.floor);
  return missing === 0 && resolve(maxSurge, replicas, Math.ceil) === 0 ? 1 : missing;
}

export function maxUnavailableOfStatefulSet({ updateStrategy }: StatefulSet["spec"], replicas: number): number {
  if (updateStrategy?.type === "OnDelete") return 1;
  return Math.max(1, resolve(updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicas, Math.ceil));
}

export function maxUnavailableOfDaemonSet({ updateStrategy }: DaemonSet["spec"], nodes: number): number {
  if (updateStrategy?.type === "OnDelete") return 1;
  const { maxSurge = 0, maxUnavailable = 1 } = updateStrategy?.rollingUpdate ?? {};
  if (resolve(maxSurge, nodes, Math.ceil) > 0) return 0;
  return Math.max(1, resolve(maxUnavailable, nodes, Math.ceil));
}

// How many pods a rollout may create beyond the replicas (D5), rounded up: 25 % of a Deployment by default, none of a DaemonSet.
// StatefulSets and evictions remove the old pod first.

function surgeOfDeployment({ strategy }: Deployment["spec"], replicas: number): number {
  return strategy?.type === "Recreate" ? 0 : resolve(strategy?.rollingUpdate?.maxSurge ?? "25%", replicas, Math.ceil);
}

function surgeOfDaemonSet({ updateStrategy }: DaemonSet["spec"], nodes: number): number {
  return updateStrategy?.type === "OnDelete" ? 0 : resolve(updateStrategy?.rollingUpdate?.maxSurge ?? 0, nodes, Math.ceil);
}

/** A malformed bound counts as all pods, which is the safe assumption. */
function resolve(bound: number | string, of: number, round: (share: number) => number): number {
  if (typeof bound === "number") return bound;
  const percent = /^(\d+)%$/.exec(bound)?.[1];
  return percent === undefined ? of : round((Number(percent) / 100) * of);
}
