// The commands that change pods: resize, createCopy, deletePod, evict. Each reads the pod live first, and each write carries the UID
// and resourceVersion of the pod that the decision was based on; the server rejects it for any other (409, 422).
//
// resize patches pods/resize with a strategic merge by container name that contains nothing but memory. Burstable pods get their
// limits first: limits need no room on the node, so they are neither deferred nor rejected for lack of it. The requests follow in a
// second step, and are reverted if the node has no room for them. Guaranteed pods get both in one step.
import { AlreadyExistsError, hasCondition, Pod, type Stored } from "@memhog/runtime";
import { evict, InternalError } from "@memhog/runtime/client";
import type { Container, ResourceList, Volume } from "@memhog/runtime/kinds";
import { isSubset } from "@memhog/runtime/objects";
import { appAnnotation, copyOfLabel } from "../api/names.ts";
import type { AppName } from "../model/observed-app.ts";
import type { Change, Command, ShrinkPlan } from "../model/plan.ts";
import { alreadySo, changed, done, type Ending, harmless, isEnding, livePod, type Server } from "./outcome.ts";
import { grown, growth, type Part, setTo, takenBack } from "./resources.ts";

type ShrinkCommand = NonNullable<ShrinkPlan["command"]>;
type Resize = Extract<Command, { readonly do: "resize" }>;

const parts: Readonly<Record<Resize["step"], readonly Part[]>> = {
  limits: ["limits"],
  requests: ["requests"],
  both: ["limits", "requests"],
};

export async function resize(server: Server, namespace: string, { intent, resourceVersion, step }: Resize): Promise<Ending> {
  const { name, uid } = intent.pod;
  const pod = await livePod(server, { namespace, name }, uid);
  if (isEnding(pod)) return pod;
  const more = growth(pod.spec, intent.changes, parts[step]);
  const spec = more === undefined && step === "requests" ? takenBack(pod.spec, intent.changes) : more;
  // Checked before the version: after a lost answer, the new version is our own (C2).
  if (spec === undefined) return alreadySo(name);
  if (pod.metadata.resourceVersion !== resourceVersion) return changed(name);
  const body = { metadata: { uid, resourceVersion }, spec };
  await server.patch(Pod, { namespace, name }, { type: "strategic", body }, { subresource: "resize" });
  return done(`${step} of pod ${name} set`);
}

/** Lowers one container (spec.shrink), or sets it back if the kubelet cannot apply it. Only for the version that was decided on (W1). */
export async function shrinkPod(server: Server, namespace: string, { shrink, resourceVersion }: ShrinkCommand): Promise<Ending> {
  const { container, from, to, state } = shrink;
  const { name, uid } = shrink.pod;
  const pod = await livePod(server, { namespace, name }, uid);
  if (isEnding(pod)) return pod;
  // What was raised meanwhile is kept.
  const back = () => growth(pod.spec, [{ container, from: to, to: from }], parts.both);
  const spec = state === "Reverting" ? back() : setTo(pod.spec, { container, to });
  if (spec === undefined) return alreadySo(name);
  if (pod.metadata.resourceVersion !== resourceVersion) return changed(name);
  const body = { metadata: { uid, resourceVersion }, spec };
  await server.patch(Pod, { namespace, name }, { type: "strategic", body }, { subresource: "resize" });
  return done(`${container} of pod ${name} ${state === "Reverting" ? "set back" : "lowered"}`);
}

// createCopy creates a copy of a bare pod with more memory and otherwise the same labels, annotations, volumes and service account.
// It leaves out what the server or the node added, which would be rejected or wrong for another pod:
//
//   metadata   everything but labels, annotations and owners that are not controllers (a controller would delete a second pod)
//   status     all of it
//   spec       nodeName, the computed priority (priorityClassName stays), ephemeral containers (they cannot be created), and the
//              injected kube-api-access-… volume with its mounts (the server injects it again)
//
// The intent has the name of the copy, and the copy has the UID of the original: after a crash it is found again (C4).

type CreateCopy = Extract<Command, { readonly do: "createCopy" }>;

export async function createCopy(
  server: Server,
  { namespace, name: app }: AppName,
  { intent, copy }: CreateCopy,
): Promise<Ending> {
  const original = await livePod(server, { namespace, name: intent.pod.name }, intent.pod.uid);
  if (isEnding(original)) return original;
  const ref = { namespace, name: copy };
  const existing = (pod: Stored<Pod>): Ending =>
    isCopyOf(pod, original)
      ? { ...alreadySo(copy), copyUid: pod.metadata.uid }
      : {
          outcome: "refused",
          cause: "NameTaken",
          message: `the name ${copy} is taken by a pod that is not a copy of ${intent.pod.name}`,
        };
  // Read before the write: an operator that crashes after every write would otherwise create again and never store the UID (C1).
  const before = await server.find(Pod, ref);
  if (before !== undefined) return existing(before);
  try {
    const made = await server.create(Pod, copyOf(original, { name: copy, app, changes: intent.changes }));
    return { ...done(`pod ${copy} created`), copyUid: made.metadata.uid };
  } catch (error) {
    const there = error instanceof AlreadyExistsError ? await server.find(Pod, ref) : undefined;
    if (there === undefined) throw error;
    return existing(there);
  }
}

/**
 * Whether a pod is the copy that we made, possibly before a crash. Anybody can set its label, and a stored copyUid can be forged
 * (T2), so its spec must also be the original's, except for memory and for fields that admission adds.
 */
function isCopyOf({ metadata, spec }: Stored<Pod>, original: Stored<Pod>): boolean {
  if (metadata.labels?.[copyOfLabel] !== original.metadata.uid) return false;
  return isSubset(withoutMemory(copyable(original.spec)), withoutMemory(copyable(spec)));
}

interface CopyOptions {
  readonly name: string;
  /** The app that both belong to. */
  readonly app: string;
  readonly changes: readonly Change[];
}

/** The larger copy of a pod. */
export function copyOf(original: Stored<Pod>, { name, app, changes }: CopyOptions): Pod {
  const more = growth(original.spec, changes, ["limits", "requests"]);
  const spec = copyable(original.spec);
  const { initContainers } = spec;
  return {
    metadata: metadataOf(original, name, app),
    spec: {
      ...spec,
      containers: grown(spec.containers, more?.containers),
      ...(initContainers !== undefined && { initContainers: grown(initContainers, more?.initContainers) }),
    },
  };
}

type Spec = Pod["spec"];

/** What of a spec another pod can have. */
function copyable(whole: Spec): Spec {
  const { nodeName: _, priority: __, preemptionPolicy: ___, ephemeralContainers: ____, ...spec } = whole;
  const injected = (spec.volumes ?? []).filter(isTokenVolume).map((volume) => volume.name);
  const clean = (containers: readonly Container[]) => containers.map((container) => withoutMounts(container, injected));
  const { volumes, initContainers } = spec;
  return {
    ...spec,
    containers: clean(spec.containers),
    ...(initContainers !== undefined && { initContainers: clean(initContainers) }),
    ...(volumes !== undefined && { volumes: volumes.filter((volume) => !isTokenVolume(volume)) }),
  };
}

function withoutMemory(spec: Spec): Spec {
  const less = ({ memory: _, ...rest }: ResourceList) => rest;
  const of = (containers: readonly Container[]) =>
    containers.map(({ resources: { limits = {}, requests = {}, ...more } = {}, ...container }) => ({
      ...container,
      resources: { ...more, limits: less(limits), requests: less(requests) },
    }));
  const { initContainers } = spec;
  return {
    ...spec,
    containers: of(spec.containers),
    ...(initContainers !== undefined && { initContainers: of(initContainers) }),
  };
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function metadataOf({ metadata }: Stored<Pod>, name: string, app: string): NonNullable<Pod["metadata"]> {
  const { namespace, labels, annotations = {}, ownerReferences = [] } = metadata;
  // It describes a pod of another name, and `kubectl apply` would compare the copy with it.
  const { [lastApplied]: _, ...kept } = annotations;
  const owners = ownerReferences.filter(({ controller }) => controller !== true);
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { ...labels, [copyOfLabel]: metadata.uid },
    annotations: { ...kept, [appAnnotation]: app },
    ...(owners.length > 0 && { ownerReferences: owners }),
  };
}

/** Injected at admission. A volume that a person wrote has another name or another source. */
function isTokenVolume({ name, projected }: Volume): boolean {
  return name.startsWith("kube-api-access-") && (projected?.sources ?? []).some((source) => "serviceAccountToken" in source);
}

function withoutMounts(container: Container, volumes: readonly string[]): Container {
  if (container.volumeMounts === undefined) return container;
  return { ...container, volumeMounts: container.volumeMounts.filter(({ name }) => !volumes.includes(name)) };
}

// deletePod ends a replacement: it deletes the original once its larger copy is Ready, or the copy if it never became Ready. Both
// are read live first, so there is always one, and never two for long (C4, D2). It does not evict: the copy is Ready before the
// original is deleted, and a PodDisruptionBudget with maxUnavailable never allows the eviction of a bare pod.

type DeletePod = Extract<Command, { readonly do: "deletePod" }>;

export async function deletePod(server: Server, namespace: string, command: DeletePod): Promise<Ending> {
  const { name, uid, why } = command;
  // A withdrawn copy goes even if somebody removed its annotation: that may be why it is withdrawn.
  const pod = await livePod(server, { namespace, name }, uid, { monitored: why !== "Withdrawn" });
  if (isEnding(pod)) return pod;
  const objection =
    why === "Replaced"
      ? await keepOriginal(server, pod, command)
      : why === "Withdrawn"
        ? await keepWithdrawn(server, pod, command)
        : keepCopy(pod, command);
  if (objection !== undefined) return objection;
  await server.delete(Pod, { namespace, name }, { uid, resourceVersion: pod.metadata.resourceVersion });
  return done(`pod ${name} deleted: ${why}`);
}

async function keepOriginal(server: Server, original: Stored<Pod>, { intent }: DeletePod): Promise<Ending | undefined> {
  const { name: originalName, uid, namespace = "" } = original.metadata;
  const name = intent.copy;
  if (uid !== intent.pod.uid || name === undefined) return notNow("it is not the pod that was copied");
  const copy = await server.find(Pod, { namespace, name });
  if (copy === undefined || copy.metadata.uid !== intent.copyUid) return notNow(`its copy ${name} is not there`);
  // Stored, so that it is tried again rarely and shown to people: only an edit of either pod can have led to this, or a forgery.
  if (!isCopyOf(copy, original))
    return { outcome: "refused", message: `pod ${name} is not a copy of ${originalName}: its label or its spec differs` };
  const serves = isReady(copy) && copy.metadata.deletionTimestamp === undefined;
  return serves ? undefined : notNow(`its copy ${name} is not Ready`);
}

function keepCopy(pod: Stored<Pod>, { intent }: DeletePod): Ending | undefined {
  if (pod.metadata.uid !== intent.copyUid) return notNow(`${pod.metadata.name} is not the copy that was made`);
  return isReady(pod) ? notNow(`${pod.metadata.name} is Ready now`) : undefined;
}

/** The copy goes only while the original is there. Without a recorded UID its label and its spec must be those of the copy (T2). */
async function keepWithdrawn(server: Server, pod: Stored<Pod>, { intent }: DeletePod): Promise<Ending | undefined> {
  const { namespace = "", name } = pod.metadata;
  const original = await livePod(server, { namespace, name: intent.pod.name }, intent.pod.uid, { monitored: false });
  if (isEnding(original)) return notNow(`${intent.pod.name} is gone, so ${name} stays`);
  if (pod.metadata.uid === intent.copyUid || (intent.copyUid === undefined && isCopyOf(pod, original))) return undefined;
  return notNow(`${name} is not the copy that was made`);
}

const notNow = (message: string): Ending => ({ outcome: "changed", message });

const isReady = ({ status }: Stored<Pod>) => hasCondition(status?.conditions, "Ready");

// evict removes one pod of the old size where no controller replaces it. The Eviction API respects PodDisruptionBudgets (D1). Without
// a budget it always succeeds, so decide/ makes sure first that the other pods are Ready.

type Evict = Extract<Command, { readonly do: "evict" }>;

export async function evictPod(server: Server, namespace: string, { name, uid, resourceVersion }: Evict): Promise<Ending> {
  const pod = await livePod(server, { namespace, name }, uid);
  if (isEnding(pod)) return pod;
  if (pod.metadata.resourceVersion !== resourceVersion) return changed(name);
  try {
    await evict(server, { namespace, name }, { uid, resourceVersion });
    return done(`pod ${name} evicted`);
  } catch (error) {
    if (!isMisconfigured(error)) throw error;
    return { outcome: "refused", message: harmless(error.serverMessage) };
  }
}

/** The Eviction API answers a bare 500 if several budgets cover the pod. A real internal error has a reason. */
const isMisconfigured = (error: unknown): error is InternalError => error instanceof InternalError && error.reason === "";
