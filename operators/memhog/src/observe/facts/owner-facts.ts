// What is kept of the owners of pods: the memory in their templates, and how far a rollout has come.
import type { CronJob, DaemonSet, Deployment, PodTemplateSpec, ReplicaSet, StatefulSet, Stored } from "@memhog/runtime";
import type { TemplateSeen } from "../../model/seen.ts";
import { memoryIn } from "./amounts.ts";
import { isSidecar } from "./pod-request.ts";
import { takenFirstByDaemonSet, takenFirstByDeployment, takenFirstByStatefulSet } from "./taken-first.ts";

/** Identity is in the metadata. */
export type TemplateFacts = Omit<TemplateSeen, "uid" | "resourceVersion">;

type Stage = Pick<TemplateFacts, "replicas" | "readyReplicas"> & {
  /** Of the newest template. */
  readonly updated: number;
  /** All there are, old ones included. */
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
    stalled: spec.paused === true ? "the Deployment is paused" : stalledIn(status.conditions),
    replacesPods: true,
    takenFirst: takenFirstByDeployment(spec, replicas),
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
    // Pods below the partition keep the old template until a person moves it.
    stalled: partition > 0 ? `its partition holds back every pod below ${partition}` : undefined,
    replacesPods: spec.updateStrategy?.type !== "OnDelete",
    takenFirst: takenFirstByStatefulSet(spec, replicas),
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
    takenFirst: takenFirstByDaemonSet(spec, replicas),
  });
}

/** Its status does not tell old pods from new ones: who knows its pods has to look at them. */
export function replicaSetFacts({ metadata, spec, status = {} }: Stored<ReplicaSet>): TemplateFacts {
  const replicas = spec.replicas ?? 1;
  const existing = status.replicas ?? 0;
  return facts(
    spec.template,
    { replicas, existing, updated: existing, readyReplicas: status.readyReplicas ?? 0 },
    { isSeen: isSeen(metadata.generation, status.observedGeneration), replacesPods: false, takenFirst: 1 },
  );
}

/** The next run is made from the new template; what runs now is left to end. */
export function cronJobFacts({ spec }: Stored<CronJob>): TemplateFacts {
  const nothing = { replicas: 0, readyReplicas: 0, updated: 0, existing: 0 };
  return facts(spec.jobTemplate.spec.template, nothing, { isSeen: true, replacesPods: true, takenFirst: 0 });
}

interface Rollout {
  /** The controller has looked at the newest template. */
  readonly isSeen: boolean;
  readonly stalled?: string | undefined;
  readonly replacesPods: boolean;
  readonly takenFirst: number;
}

function facts(template: PodTemplateSpec | undefined, stage: Stage, rollout: Rollout): TemplateFacts {
  const { isSeen, stalled, replacesPods, takenFirst } = rollout;
  const { replicas, readyReplicas, updated, existing } = stage;
  const rolledOut = isSeen && updated >= replicas && existing === replicas && readyReplicas >= replicas;
  const containers = templateContainers(template);
  return { containers, replicas, readyReplicas, rolledOut, replacesPods, takenFirst, ...(stalled !== undefined && { stalled }) };
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

function stalledIn(conditions: NonNullable<Deployment["status"]>["conditions"] = []): string | undefined {
  const late = conditions.find(
    ({ type, status, reason }) => type === "Progressing" && status === "False" && reason !== "DeploymentPaused",
  );
  const failing = conditions.find(({ type, status }) => type === "ReplicaFailure" && status === "True");
  const found = failing ?? late;
  return found && (found.message || found.reason || found.type);
}
