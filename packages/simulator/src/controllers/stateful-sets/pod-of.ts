// The pod with ordinal n of a StatefulSet, and its claims. Both are identified by name.
import { ownerReferenceTo, Pod, StatefulSet, type Stored } from "@memhog/runtime";
import type { PersistentVolumeClaim, PodTemplateSpec } from "@memhog/runtime/kinds";
import type { OwnerReference } from "@memhog/runtime/objects";
import { podFrom, revisionLabel } from "../workload.ts";
import { isWanted, ordinalOf } from "./decide.ts";

export interface Made {
  readonly number: number;
  readonly template: PodTemplateSpec;
  /** The name of the template's revision. */
  readonly revision: string;
}

export function podOf(set: Stored<StatefulSet>, { number, template, revision }: Made): Pod {
  const name = `${set.metadata.name}-${number}`;
  const labels = {
    ...template.metadata?.labels,
    "apps.kubernetes.io/pod-index": `${number}`,
    [revisionLabel]: revision,
    "statefulset.kubernetes.io/pod-name": name,
  };
  const pod = podFrom({ ...template, metadata: { ...template.metadata, labels } }, set, StatefulSet, { name });
  const { serviceName } = set.spec;
  const hostname = template.spec.hostname ?? name;
  const subdomain = template.spec.subdomain ?? serviceName;
  return { ...pod, spec: { ...withClaims(pod, set, number), hostname, ...(subdomain && { subdomain }) } };
}

/** Volumes named after claim templates use those claims, even if the pod template defines others. */
function withClaims({ spec }: Pod, set: Stored<StatefulSet>, number: number): Pod["spec"] {
  const claims = claimsOf(set, number).map(({ template, claim }) => ({
    name: template,
    persistentVolumeClaim: { claimName: claim.metadata.name },
  }));
  if (claims.length === 0) return spec;
  const others = (spec.volumes ?? []).filter(({ name }) => !claims.some((claim) => claim.name === name));
  return { ...spec, volumes: [...others, ...claims] };
}

type NamedClaim = PersistentVolumeClaim & { readonly metadata: { readonly name: string } };

/** "data-web-0", from the template "data". Its owner references determine when it is deleted. */
export function claimsOf(
  set: Stored<StatefulSet>,
  number: number,
): readonly { readonly template: string; readonly claim: NamedClaim }[] {
  const { name: setName, namespace } = set.metadata;
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata, spec }) => {
    const template = metadata?.name ?? "";
    const labels = { ...metadata?.labels, ...set.spec.selector.matchLabels };
    const home = namespace === undefined ? {} : { namespace };
    return { template, claim: { metadata: { ...metadata, ...home, name: `${template}-${setName}-${number}`, labels }, spec } };
  });
}

/**
 * The owners that a claim needs for the set's `persistentVolumeClaimRetentionPolicy`: the garbage collector then deletes it with
 * the set (whenDeleted), or with a pod that the set scales down (whenScaled). Undefined: leave the claim as it is, because its
 * owners are already correct or another controller owns it.
 */
export function claimOwners(
  set: Stored<StatefulSet>,
  pod: Stored<Pod>,
  claim: Stored<PersistentVolumeClaim>,
): readonly OwnerReference[] | undefined {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const before = claim.metadata.ownerReferences ?? [];
  const isOurs = ({ kind, name }: OwnerReference) =>
    (kind === "StatefulSet" && name === set.metadata.name) || (kind === "Pod" && name === pod.metadata.name);
  const isStale = (owner: OwnerReference) => isOurs(owner) && owner.uid !== set.metadata.uid && owner.uid !== pod.metadata.uid;
  const others = before.filter((owner) => !isOurs(owner));
  if (before.some(isStale) || others.some(({ controller }) => controller)) return undefined;
  const isScaledDown = !isWanted(set, ordinalOf(pod));
  const owner =
    whenScaled === "Delete" && isScaledDown
      ? [ownerReferenceTo(pod, Pod)]
      : whenDeleted === "Delete"
        ? [ownerReferenceTo(set, StatefulSet)]
        : [];
  const [ours, ...rest] = before.filter(isOurs);
  const isRight = rest.length === 0 && ours?.uid === owner[0]?.uid && (ours === undefined || ours.controller === true);
  return isRight ? undefined : [...others, ...owner];
}

/** A claim that is being deleted with its previous pod. The next pod of this name must wait, or it would lose its storage. */
export function isClaimLeaving(podName: string, { metadata }: Stored<PersistentVolumeClaim>): boolean {
  const ofEarlierPod = metadata.ownerReferences?.some(({ kind, name }) => kind === "Pod" && name === podName) === true;
  return metadata.deletionTimestamp !== undefined || ofEarlierPod;
}
