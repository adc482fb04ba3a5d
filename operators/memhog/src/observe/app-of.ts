// Maps a pod to its app, and an app to the name of its AppMemory. An app is the top-most known owner of a pod:
//
//     pod ← ReplicaSet ← Deployment        Deployment/web
//     pod ← ReplicaSet                     ReplicaSet/web
//     pod ← StatefulSet                    StatefulSet/db       (whatever owns the StatefulSet)
//     pod ← Job ← CronJob                  CronJob/report
//     pod ← Job                            Job/report-1
//     pod                                  Pod/hungry           (and its larger copies hungry-autoscaled, …)
//     pod ← ReplicaSet ← Rollout           Other/Rollout.argoproj.io/web
//
// memhog does not edit a ReplicaSet or Job that has another controller, because that controller would revert the change.
import type { KubernetesObject, ObjectRef, Stored } from "@memhog/runtime";
import type { CacheReader } from "@memhog/runtime/controller";
import { controllerOf, dnsSubdomain, type OwnerReference } from "@memhog/runtime/objects";
import { copyOfLabel } from "../api/names.ts";
import type { AppKind, AppName } from "../model/observed-app.ts";
import { AppMemoryView, claimedApp, JobView, ReplicaSetView } from "./kinds.ts";

/** Owners between a pod and its app. */
type Owners = Pick<CacheReader, "get">;

const appKinds: Readonly<Record<string, AppKind>> = {
  "Deployment.apps": "Deployment",
  "StatefulSet.apps": "StatefulSet",
  "DaemonSet.apps": "DaemonSet",
  "ReplicaSet.apps": "ReplicaSet",
  "CronJob.batch": "CronJob",
  "Job.batch": "Job",
};

/** The app of a pod; undefined while its owner is not in the cache. The owner's own event enqueues the app later. */
export function appOf(pod: Stored<KubernetesObject>, owners: Owners): AppName | undefined {
  const { namespace = "" } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner === undefined) return { kind: "Pod", namespace, name: barePodApp(pod, owners) };
  const kind = kindOf(owner);
  if (kind === "ReplicaSet" || kind === "Job") {
    const ref = { namespace, name: owner.name };
    const found = kind === "ReplicaSet" ? owners.get(ReplicaSetView, ref) : owners.get(JobView, ref);
    return found?.metadata.uid === owner.uid ? appOfOwner(found, kind) : undefined;
  }
  return appNamed(namespace, owner, kind);
}

/**
 * The app name of a bare pod: its own name, or that of the pod it is a copy of. Anybody can write the annotation that claims this, so it
 * is believed only if memhog recorded the copy: as an owner of the AppMemory, or in an intent (T2). Between the creation of a copy and
 * the write of its UID, an intent that names it and its original is enough.
 */
export function barePodApp(pod: Stored<KubernetesObject>, owners: Owners): string {
  const { namespace = "", name, uid, labels } = pod.metadata;
  const claimed = claimedApp(pod);
  if (claimed === name) return name;
  const memory = owners.get(AppMemoryView, appRef({ kind: "Pod", namespace, name: claimed }));
  const isRecorded =
    memory?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true ||
    (memory?.status?.intents ?? []).some(
      (intent) =>
        intent.copyUid === uid ||
        (intent.copyUid === undefined && intent.copy === name && intent.pod.uid === labels?.[copyOfLabel]),
    );
  return isRecorded ? claimed : name;
}

/** The app that a ReplicaSet or Job is or belongs to. */
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

/** "Rollout.argoproj.io": kinds of different groups can have the same name. */
function qualified({ kind, apiVersion }: OwnerReference): string {
  return apiVersion.includes("/") ? `${kind}.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : kind;
}

/** "Deployment/web", the form of AppMemory.spec.app. */
export function appText({ kind, name }: AppName): string {
  return `${kind}/${name}`;
}

/** The inverse of `appText`; undefined for any other text. */
export function parseApp(namespace: string, text: string): AppName | undefined {
  const slash = text.indexOf("/");
  const prefix = text.slice(0, Math.max(0, slash));
  const kind = kindsByPrefix.get(prefix.toLowerCase());
  const name = text.slice(slash + 1);
  return kind === undefined || kind !== prefix || name === "" ? undefined : { kind, namespace, name };
}

/** The name of an app's AppMemory: deterministic and unique. */
export function appMemoryName({ kind, name }: AppName): string {
  return dnsSubdomain(kind.toLowerCase(), name);
}

/** The key under which an app is reconciled. */
export function appRef(app: AppName): ObjectRef {
  return { namespace: app.namespace, name: appMemoryName(app) };
}

/** The app of a key such as "deployment-web", if the name was not shortened. Kinds contain no dash, so the result is unambiguous. */
export function appNamedBy({ namespace = "", name }: ObjectRef): AppName | undefined {
  const dash = name.indexOf("-");
  const kind = kindsByPrefix.get(name.slice(0, Math.max(0, dash)));
  return kind === undefined ? undefined : { kind, namespace, name: name.slice(dash + 1) };
}

const kindsByPrefix: ReadonlyMap<string, AppKind> = new Map(
  (["Pod", "Other", ...Object.values(appKinds)] as const).map((kind) => [kind.toLowerCase(), kind]),
);
