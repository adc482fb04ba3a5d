// Storage: binds claims to volumes, provisions volumes for storage classes, and keeps both while something uses them.
//
//     claimBinder        binds a claim to the smallest volume that fits, or provisions one; grows it when the claim grows
//     volumePhases       Available, Bound, Released; deletes a released volume if its policy says so
//     claimProtection    lets a deleted claim go once no pod uses it
//
// No storage is behind a volume: the simulator answers for every provisioner except kubernetes.io/no-provisioner, at once.
import {
  AlreadyExistsError,
  allow,
  controller,
  done,
  dynamicKind,
  type EventInput,
  indexBy,
  type Kind,
  type KubernetesObject,
  type ObjectRef,
  type Outcome,
  Pod,
  parseQuantity,
  type Stored,
} from "@memhog/runtime";
import { PersistentVolumeClaim, type ResourceList } from "@memhog/runtime/kinds";
import { equals } from "@memhog/runtime/objects";
import { hasEnded, isBeingDeleted } from "./workload.ts";

/** `v1` `persistentvolumes`. */
export interface PersistentVolume extends KubernetesObject {
  readonly spec: {
    readonly capacity?: ResourceList;
    readonly accessModes?: PersistentVolumeClaim["spec"]["accessModes"];
    readonly claimRef?: ObjectRef & { readonly apiVersion?: string; readonly kind?: string; readonly uid?: string };
    readonly persistentVolumeReclaimPolicy?: "Retain" | "Delete" | "Recycle";
    readonly storageClassName?: string;
    readonly volumeMode?: "Filesystem" | "Block";
    readonly hostPath?: { readonly path: string };
  };
  readonly status?: { readonly phase?: "Pending" | "Available" | "Bound" | "Released" | "Failed" };
}
export const PersistentVolume: Kind<PersistentVolume> = dynamicKind({
  ...{ group: "", version: "v1", kind: "PersistentVolume", plural: "persistentvolumes", namespaced: false },
});

/** `storage.k8s.io/v1` `storageclasses`. */
export interface StorageClass extends KubernetesObject {
  readonly provisioner: string;
  readonly reclaimPolicy?: "Retain" | "Delete";
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
  readonly allowVolumeExpansion?: boolean;
}
export const StorageClass: Kind<StorageClass> = dynamicKind({
  ...{ group: "storage.k8s.io", version: "v1", kind: "StorageClass", plural: "storageclasses", namespaced: false },
});

type Claim = Stored<PersistentVolumeClaim>;
type Volume = Stored<PersistentVolume>;

/** The claims that a pod mounts. */
export function claimsMountedBy({ metadata, spec }: Stored<Pod>): readonly ObjectRef[] {
  const home = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [{ ...home, name: claim.claimName }],
  );
}

const keyOf = ({ namespace = "", name }: ObjectRef) => `${namespace}/${name}`;
const podsByClaim = indexBy(Pod, (pod) => claimsMountedBy(pod).map(keyOf));
const isPending = ({ spec, status }: Claim) => spec.volumeName === undefined || status?.phase !== "Bound";

// Protection.

const claimFinalizer = "kubernetes.io/pvc-protection";
const volumeFinalizer = "kubernetes.io/pv-protection";

export const claimProtection = controller(
  PersistentVolumeClaim,
  {
    name: "persistentvolumeclaim-protection",
    predicate: ({ object }) => isBeingDeleted(object),
    watches: [{ kind: Pod, predicate: ({ type, object }) => type === "removed" || hasEnded(object), map: claimsMountedBy }],
    permissions: [allow(PersistentVolumeClaim, "patch")],
  },
  async (ref, ctx): Promise<Outcome> => {
    const claim = ctx.get(PersistentVolumeClaim, ref);
    if (claim === undefined || !isBeingDeleted(claim)) return done();
    // A pod without a node does not use its claims yet.
    const isUsed = ctx.lookup(podsByClaim, keyOf(ref)).some((pod) => pod.spec.nodeName !== undefined && !hasEnded(pod));
    const body = withoutFinalizer(claim, claimFinalizer);
    if (!isUsed && body !== undefined) await ctx.client.patch(PersistentVolumeClaim, ref, { type: "merge", body });
    return done();
  },
);

function withoutFinalizer({ metadata }: Stored<KubernetesObject>, name: string): object | undefined {
  const { uid, resourceVersion, finalizers = [] } = metadata;
  if (!finalizers.includes(name)) return undefined;
  const left = finalizers.filter((each) => each !== name);
  return { metadata: { uid, resourceVersion, finalizers: left.length > 0 ? left : null } };
}

// Binding.

export const claimBinder = controller(
  PersistentVolumeClaim,
  {
    name: "persistentvolume-binder",
    watches: [
      {
        kind: PersistentVolume,
        map: (volume, cached) =>
          cached
            .list(PersistentVolumeClaim)
            .filter((claim) => concerns(volume, claim))
            .map(({ metadata }) => metadata),
      },
      {
        kind: StorageClass,
        map: (_class, cached) =>
          cached
            .list(PersistentVolumeClaim)
            .filter(isPending)
            .map(({ metadata }) => metadata),
      },
      { kind: Pod, predicate: ({ type }) => type === "added", map: claimsMountedBy },
    ],
    permissions: [
      allow(PersistentVolumeClaim, "patch"),
      allow(PersistentVolumeClaim, "patch", { subresource: "status" }),
      allow(PersistentVolume, "create", "patch"),
    ],
  },
  async (ref, ctx): Promise<Outcome> => {
    const claim = ctx.get(PersistentVolumeClaim, ref);
    if (claim === undefined || isBeingDeleted(claim)) return done();
    const name = claim.spec.storageClassName;
    const decision = decideBinding(claim, {
      volumes: ctx.list(PersistentVolume),
      storageClass: name ? ctx.get(StorageClass, { name }) : undefined,
      isMounted: ctx.lookup(podsByClaim, keyOf(ref)).some((pod) => !hasEnded(pod)),
    });
    if (decision.kind === "wait") {
      if (decision.event !== undefined) ctx.event(claim, decision.event);
      return done();
    }
    if (decision.kind === "provision") {
      // The event of the new volume causes the reconcile that binds the claim.
      await ctx.client.create(PersistentVolume, decision.volume).catch((error: unknown) => {
        if (!(error instanceof AlreadyExistsError)) throw error;
      });
      const message = `Successfully provisioned volume ${decision.volume.metadata?.name}`;
      ctx.event(claim, { reason: "ProvisioningSucceeded", message });
      return done();
    }
    const { volume } = decision;
    const { uid, resourceVersion } = volume.metadata;
    const annotations = volume.spec.claimRef === undefined ? { "pv.kubernetes.io/bound-by-controller": "yes" } : {};
    const bound = { metadata: { uid, resourceVersion, annotations }, spec: boundSpec(claim, volume) };
    if (!equals(volume.spec, { ...volume.spec, ...bound.spec })) {
      await ctx.client.patch(PersistentVolume, { name: volume.metadata.name }, { type: "merge", body: bound });
    }
    if (claim.spec.volumeName === undefined) {
      const marks = { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" };
      const body = { metadata: { uid: claim.metadata.uid, annotations: marks }, spec: { volumeName: volume.metadata.name } };
      await ctx.client.patch(PersistentVolumeClaim, ref, { type: "merge", body });
    }
    const status = { phase: "Bound", accessModes: volume.spec.accessModes, capacity: bound.spec.capacity };
    if (!equals({ ...claim.status, ...status }, claim.status)) {
      await ctx.client.patch(PersistentVolumeClaim, ref, { type: "merge", body: { status } }, { subresource: "status" });
    }
    return done();
  },
);

/** Whether a change of a volume can affect a claim: one names the other, or the claim is unbound. */
function concerns({ metadata, spec }: Volume, claim: Claim): boolean {
  const isNamed = claim.spec.volumeName === metadata.name || (spec.claimRef !== undefined && isFor(spec.claimRef, claim));
  return isNamed || (isPending(claim) && spec.claimRef === undefined);
}

function isFor({ namespace, name, uid }: NonNullable<PersistentVolume["spec"]["claimRef"]>, { metadata }: Claim): boolean {
  return namespace === metadata.namespace && name === metadata.name && (uid === undefined || uid === metadata.uid);
}

/** The spec of a bound volume, expanded to the request of the claim. */
function boundSpec({ metadata, spec }: Claim, volume: Volume) {
  const { namespace = "", name, uid, resourceVersion } = metadata;
  const asked = parseQuantity(spec.resources?.requests?.storage ?? 0);
  const capacity = isLess(sizeOf(volume), asked) && isProvisioned(volume) ? `${asked}` : volume.spec.capacity?.storage;
  const claimRef =
    volume.spec.claimRef?.uid === uid
      ? volume.spec.claimRef
      : { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion };
  return { claimRef, ...(capacity !== undefined && { capacity: { ...volume.spec.capacity, storage: capacity } }) };
}

const provisionedBy = "pv.kubernetes.io/provisioned-by";
const isProvisioned = ({ metadata }: Volume) => metadata.annotations?.[provisionedBy] !== undefined;
const sizeOf = ({ spec }: Volume) => parseQuantity(spec.capacity?.storage ?? 0);
const isLess = (a: ReturnType<typeof parseQuantity>, b: ReturnType<typeof parseQuantity>) => a.compare(b) < 0;

export interface Storage {
  readonly volumes: readonly Volume[];
  /** The StorageClass of the claim, if it exists. */
  readonly storageClass: Stored<StorageClass> | undefined;
  /** A pod mounts the claim. */
  readonly isMounted: boolean;
}

type BindingDecision =
  | { readonly kind: "bind"; readonly volume: Volume }
  | { readonly kind: "provision"; readonly volume: PersistentVolume }
  | { readonly kind: "wait"; readonly event?: EventInput };

/** The messages of the real controller, which `kubectl describe pvc` shows. */
function decideBinding(claim: Claim, { volumes, storageClass, isMounted }: Storage): BindingDecision {
  const { volumeName, storageClassName } = claim.spec;
  if (volumeName !== undefined) {
    const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
    const isOurs = volume !== undefined && (volume.spec.claimRef === undefined || isFor(volume.spec.claimRef, claim));
    return isOurs ? { kind: "bind", volume } : { kind: "wait" };
  }
  const reserved = volumes.find(({ spec }) => spec.claimRef !== undefined && isFor(spec.claimRef, claim));
  if (reserved !== undefined) return { kind: "bind", volume: reserved };
  if (storageClass?.volumeBindingMode === "WaitForFirstConsumer" && !isMounted) {
    const message = "waiting for first consumer to be created before binding";
    return { kind: "wait", event: { reason: "WaitForFirstConsumer", message } };
  }
  const [smallest] = volumes.filter((volume) => fits(volume, claim)).sort((a, b) => sizeOf(a).compare(sizeOf(b)));
  if (smallest !== undefined) return { kind: "bind", volume: smallest };
  if (!storageClassName) {
    const message = "no persistent volumes available for this claim and no storage class is set";
    return { kind: "wait", event: { reason: "FailedBinding", message } };
  }
  if (storageClass === undefined) {
    const message = `storageclass.storage.k8s.io "${storageClassName}" not found`;
    return { kind: "wait", event: { type: "Warning", reason: "ProvisioningFailed", message } };
  }
  if (storageClass.provisioner === "kubernetes.io/no-provisioner") return { kind: "wait" };
  return { kind: "provision", volume: volumeFor(claim, storageClass) };
}

function fits({ metadata, spec, status }: Volume, claim: Claim): boolean {
  const { accessModes = [], resources, storageClassName = "", volumeMode = "Filesystem", selector } = claim.spec;
  const asked = parseQuantity(resources?.requests?.storage ?? 0);
  return (
    spec.claimRef === undefined &&
    status?.phase === "Available" &&
    metadata.deletionTimestamp === undefined &&
    selector === undefined &&
    (spec.storageClassName ?? "") === storageClassName &&
    (spec.volumeMode ?? "Filesystem") === volumeMode &&
    accessModes.every((mode) => spec.accessModes?.includes(mode)) &&
    !isLess(parseQuantity(spec.capacity?.storage ?? 0), asked)
  );
}

function volumeFor({ metadata, spec }: Claim, { metadata: { name: storageClassName }, ...storageClass }: Stored<StorageClass>) {
  const name = `pvc-${metadata.uid}`;
  const { uid, namespace = "", name: claimName } = metadata;
  return {
    metadata: { name, annotations: { [provisionedBy]: storageClass.provisioner } },
    spec: {
      capacity: { storage: spec.resources?.requests?.storage ?? "0" },
      accessModes: spec.accessModes ?? [],
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name: claimName, uid },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName,
      volumeMode: spec.volumeMode ?? "Filesystem",
      hostPath: { path: `/var/lib/simulator/${name}` },
    },
  } satisfies PersistentVolume;
}

// Volumes.

export const volumePhases = controller(
  PersistentVolume,
  {
    name: "persistentvolume",
    watches: [
      {
        kind: PersistentVolumeClaim,
        map: ({ spec }) => (spec.volumeName === undefined ? [] : [{ name: spec.volumeName }]),
      },
    ],
    permissions: [
      allow(PersistentVolume, "patch", "delete"),
      allow(PersistentVolume, "patch", { subresource: "status" }),
      allow(PersistentVolumeClaim, "get"),
    ],
  },
  async (ref, ctx): Promise<Outcome> => {
    const volume = ctx.get(PersistentVolume, ref);
    if (volume === undefined) return done();
    const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec;
    // A claim that is missing in the cache may be new, so the server is asked before a volume is released.
    const claim =
      claimRef?.uid === undefined
        ? undefined
        : (ctx.get(PersistentVolumeClaim, claimRef) ?? (await ctx.client.find(PersistentVolumeClaim, claimRef)));
    const isHeld = claim !== undefined && claim.metadata.uid === claimRef?.uid;
    if (isBeingDeleted(volume)) {
      const body = withoutFinalizer(volume, volumeFinalizer);
      if (!isHeld && body !== undefined) await ctx.client.patch(PersistentVolume, ref, { type: "merge", body });
      return done();
    }
    const phase = claimRef?.uid === undefined ? "Available" : isHeld ? "Bound" : "Released";
    if (volume.status?.phase !== phase) {
      await ctx.client.patch(PersistentVolume, ref, { type: "merge", body: { status: { phase } } }, { subresource: "status" });
    }
    if (phase === "Released" && policy === "Delete") {
      await ctx.client.delete(PersistentVolume, ref, { uid: volume.metadata.uid });
    }
    return done();
  },
);
