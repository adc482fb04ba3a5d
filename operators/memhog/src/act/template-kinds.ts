// The owners whose pod template is edited, and where it is in them.
import {
  CronJob,
  DaemonSet,
  Deployment,
  type Kind,
  type KubernetesObject,
  type PodTemplateSpec,
  ReplicaSet,
  StatefulSet,
} from "@memhog/runtime";
import type { AppKind } from "../model/seen.ts";

/** An owner as it is read here. */
export interface Templated extends KubernetesObject {
  readonly spec: { readonly template?: PodTemplateSpec; readonly jobTemplate?: { readonly spec: Templated["spec"] } };
}

type TemplatedKind = Extract<AppKind, "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "CronJob">;

const kinds: Readonly<Record<TemplatedKind, Kind<Templated>>> = { Deployment, StatefulSet, DaemonSet, ReplicaSet, CronJob };

export const templatedKinds: readonly Kind<Templated>[] = Object.values(kinds);

/** The kind of an app that has a template; bare pods, Jobs and owners we do not know have none that is edited. */
export function templatedKind(kind: AppKind): Kind<Templated> | undefined {
  return kind in kinds ? kinds[kind as TemplatedKind] : undefined;
}

/** A CronJob has it one storey deeper. */
export function templateOf({ jobTemplate, template }: Templated["spec"]): PodTemplateSpec | undefined {
  return jobTemplate === undefined ? template : templateOf(jobTemplate.spec);
}

/** The way to it, in the object and in managedFields. */
export function templatePath({ kind }: Pick<Kind, "kind">): readonly string[] {
  return kind === "CronJob" ? ["spec", "jobTemplate", "spec", "template", "spec"] : ["spec", "template", "spec"];
}
