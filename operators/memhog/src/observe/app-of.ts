// From a pod to its app, and from an app to its name. An app is the top-most owner of a pod that we know how to deal with:
//
//     pod ← ReplicaSet ← Deployment        Deployment/web
//     pod ← ReplicaSet                     ReplicaSet/web
//     pod ← StatefulSet                    StatefulSet/db       (whoever made the StatefulSet)
//     pod ← Job ← CronJob                  CronJob/report
//     pod ← Job                            Job/report-1
//     pod                                  Pod/hungry           (and its bigger copies hungry-autoscaled, …)
//     pod ← ReplicaSet ← Rollout           Other/Rollout.argoproj.io/web
//
// A ReplicaSet or a Job that somebody else made is not ours to edit: its maker decides what is in it.
import {
  type CachedObjects,
  controllerOf,
  dnsSubdomain,
  type KubernetesObject,
  type ObjectRef,
  type OwnerReference,
  type Stored,
} from "@memhog/runtime";
import type { AppKind, AppName } from "../model/seen.ts";
import { barePodApp, JobView, ReplicaSetView } from "./kinds.ts";

/** Owners between a pod and its app. */
type Owners = Pick<CachedObjects, "get">;

const appKinds: Readonly<Record<string, AppKind>> = {
  "Deployment.apps": "Deployment",
  "StatefulSet.apps": "StatefulSet",
  "DaemonSet.apps": "DaemonSet",
  "ReplicaSet.apps": "ReplicaSet",
  "CronJob.batch": "CronJob",
  "Job.batch": "Job",
};

/** The app of a pod; undefined while its owner is not in the cache: what is seen later is looked at later. */
export function appOf(pod: Stored<KubernetesObject>, owners: Owners): AppName | undefined {
  const { namespace = "" } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner === undefined) return { kind: "Pod", namespace, name: barePodApp(pod) };
  const kind = kindOf(owner);
  if (kind === "ReplicaSet" || kind === "Job") {
    const ref = { namespace, name: owner.name };
    const found = kind === "ReplicaSet" ? owners.get(ReplicaSetView, ref) : owners.get(JobView, ref);
    return found?.metadata.uid === owner.uid ? appOfOwner(found, kind) : undefined;
  }
  return appNamed(namespace, owner, kind);
}

/** The app that a ReplicaSet or a Job is, or is a part of. */
export function appOfOwner(object: Stored<KubernetesObject>, own: "ReplicaSet" | "Job"): AppName {
  const { namespace = "", name } = object.metadata;
  const above = controllerOf(object);
  if (above === undefined) return { kind: own, namespace, name };
  const kind = kindOf(above);
  const isMaker = own === "ReplicaSet" ? kind === "Deployment" : kind === "CronJob";
  return appNamed(namespace, above, isMaker ? kind : undefined);
}

function appNamed(namespace: string, owner: OwnerReference, kind: AppKind | undefined): AppName {
  if (kind !== undefined) return { kind, namespace, name: owner.name };
  return { kind: "Other", namespace, name: `${qualified(owner)}/${owner.name}` };
}

function kindOf(owner: OwnerReference): AppKind | undefined {
  const name = qualified(owner);
  return Object.hasOwn(appKinds, name) ? appKinds[name] : undefined;
}

/** "Rollout.argoproj.io": kinds of different groups may have one name. */
function qualified({ kind, apiVersion }: OwnerReference): string {
  return apiVersion.includes("/") ? `${kind}.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : kind;
}

/** "Deployment/web", as AppMemory.spec.app has it. */
export function appText({ kind, name }: AppName): string {
  return `${kind}/${name}`;
}

/** The inverse of `appText`; undefined for what it would not have written. */
export function parseApp(namespace: string, text: string): AppName | undefined {
  const slash = text.indexOf("/");
  const prefix = text.slice(0, Math.max(0, slash));
  const kind = kindsByPrefix.get(prefix.toLowerCase());
  const name = text.slice(slash + 1);
  return kind === undefined || kind !== prefix || name === "" ? undefined : { kind, namespace, name };
}

/** The name of an app's AppMemory: the same each time, and different for different apps. */
export function appMemoryName({ kind, name }: AppName): string {
  return dnsSubdomain(kind.toLowerCase(), name);
}

/** The key under which an app is reconciled. */
export function appRef(app: AppName): ObjectRef {
  return { namespace: app.namespace, name: appMemoryName(app) };
}

/** The app of a key, if its name could be written as it is ("deployment-web"). Kinds have no dash, so it is read one way only. */
export function appNamedBy({ namespace = "", name }: ObjectRef): AppName | undefined {
  const dash = name.indexOf("-");
  const kind = kindsByPrefix.get(name.slice(0, Math.max(0, dash)));
  return kind === undefined ? undefined : { kind, namespace, name: name.slice(dash + 1) };
}

const kindsByPrefix: ReadonlyMap<string, AppKind> = new Map(
  (["Pod", "Other", ...Object.values(appKinds)] as const).map((kind) => [kind.toLowerCase(), kind]),
);
