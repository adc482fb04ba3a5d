// StatefulSets: pods with a stable ordinal, name and storage.
import {
  AlreadyExistsError,
  allow,
  type CacheReader,
  controller,
  done,
  type ObjectRef,
  type Outcome,
  Pod,
  requeueAfter,
  StatefulSet,
  type Stored,
} from "@memhog/runtime";
import { PersistentVolumeClaim, type PodTemplateSpec } from "@memhog/runtime/kinds";
import { controllerOf } from "@memhog/runtime/objects";
import { adoptersOf, claimOwned, type MergePatch, orphanPods } from "../adoption.ts";
import {
  ControllerRevision,
  decideRevisions,
  isBeingDeleted,
  nextAvailableInMs,
  rejectionOf,
  rejectionRetry,
  report,
} from "../workload.ts";
import { decideSet, decideStatus, ordinalOf, revisionOf } from "./decide.ts";
import { claimOwners, claimsOf, isClaimLeaving, podOf } from "./pod-of.ts";

export const statefulSets = controller(
  StatefulSet,
  {
    name: "statefulset",
    owns: [Pod, ControllerRevision],
    watches: [
      {
        kind: Pod,
        predicate: ({ object }) => controllerOf(object) === undefined,
        map: (pod, cached) => adoptersOf(StatefulSet, pod, cached),
      },
      { kind: PersistentVolumeClaim, predicate: ({ type }) => type === "removed", map: setsThatMayUse },
    ],
    permissions: [
      allow(StatefulSet, "get"),
      allow(StatefulSet, "update", { subresource: "status" }),
      allow(Pod, "patch"),
      allow(PersistentVolumeClaim, "create", "patch"),
    ],
  },
  async (ref, ctx): Promise<Outcome> => {
    const set = ctx.get(StatefulSet, ref);
    if (set === undefined || isBeingDeleted(set)) return done();
    const orphans = ctx.lookup(orphanPods, set.metadata.namespace ?? "");
    const owned = ctx.list(Pod, { ownedBy: set });
    const family = {
      owned,
      orphans,
      patch: (pod: ObjectRef, patch: MergePatch) => ctx.client.patch(Pod, pod, patch),
      readOwner: () => ctx.client.find(StatefulSet, ref),
    };
    const pods = await claimOwned(set, StatefulSet, family, ({ metadata }) => isNameOfPod(set, metadata.name));
    const known = ctx.list(ControllerRevision, { ownedBy: set });
    const revisions = decideRevisions(optionsFor(set, pods), known);
    const update = revisions.update.metadata.name;
    if (revisions.write === "create") await ctx.client.create(ControllerRevision, revisions.update);
    if (revisions.write === "renumber") {
      await ctx.client.patch(ControllerRevision, revisions.update.metadata, {
        type: "merge",
        body: { revision: revisions.update.revision },
      });
    }

    const existing = (claim: { readonly metadata: { readonly name: string } }) =>
      ctx.get(PersistentVolumeClaim, { namespace: set.metadata.namespace ?? "", name: claim.metadata.name });
    for (const pod of pods) {
      for (const { claim } of claimsOf(set, ordinalOf(pod))) {
        const found = existing(claim);
        const ownerReferences = found && claimOwners(set, pod, found);
        if (found === undefined || ownerReferences === undefined) continue;
        const { uid, resourceVersion } = found.metadata;
        const body = { metadata: { uid, resourceVersion, ownerReferences: ownerReferences.length > 0 ? ownerReferences : null } };
        await ctx.client.patch(PersistentVolumeClaim, found.metadata, { type: "merge", body });
      }
    }

    const now = ctx.clock.now();
    const { create, remove } = decideSet(set, pods, update, now);
    let rejected = false;
    const make = async (number: number) => {
      for (const { claim } of claimsOf(set, number)) {
        if (await isNew(ctx.client.create(PersistentVolumeClaim, claim))) {
          const message = `create Claim ${claim.metadata.name} Pod ${set.metadata.name}-${number} in StatefulSet ${set.metadata.name} success`;
          ctx.event(set, { reason: "SuccessfulCreate", message });
        }
      }
      const pod = podOf(set, { number, ...templateFor(set, number, update, known) });
      await ctx.client.create(Pod, pod);
      ctx.event(set, {
        reason: "SuccessfulCreate",
        message: `create Pod ${pod.metadata?.name} in StatefulSet ${set.metadata.name} successful`,
      });
    };
    for (const number of create) {
      if (rejected) break;
      const podName = `${set.metadata.name}-${number}`;
      const leaving = claimsOf(set, number).map(({ claim }) => existing(claim));
      if (leaving.some((found) => found !== undefined && isClaimLeaving(podName, found))) continue;
      await make(number).catch((error: unknown) => {
        rejected = true;
        const message = `create Pod ${set.metadata.name}-${number} in StatefulSet ${set.metadata.name} failed error: ${rejectionOf(error).message}`;
        ctx.event(set, { type: "Warning", reason: "FailedCreate", message });
      });
    }
    for (const { metadata } of remove) {
      await ctx.client.delete(Pod, metadata, { uid: metadata.uid });
      ctx.event(set, {
        reason: "SuccessfulDelete",
        message: `delete Pod ${metadata.name} in StatefulSet ${set.metadata.name} successful`,
      });
    }
    for (const { metadata } of revisions.forget) await ctx.client.delete(ControllerRevision, metadata, { uid: metadata.uid });

    const status = decideStatus(set, pods, update, now);
    await report(set, status, (next) => ctx.client.update(StatefulSet, next, { subresource: "status" }));
    if (rejected) return requeueAfter(rejectionRetry, "pods were refused");
    const inMs = nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, now);
    return inMs === undefined ? done() : requeueAfter(inMs, "a ready pod counts as available later");
  },
);

/** The next pod may be waiting for the deletion of a claim. */
function setsThatMayUse(claim: Stored<PersistentVolumeClaim>, cached: CacheReader): readonly ObjectRef[] {
  const { name, namespace } = claim.metadata;
  return cached
    .list(StatefulSet, { namespace })
    .filter(({ metadata, spec }) =>
      spec.volumeClaimTemplates?.some((template) => name.startsWith(`${template.metadata?.name}-${metadata.name}-`)),
    )
    .map(({ metadata }) => metadata);
}

/** "web-2" can be a pod of the StatefulSet "web"; pods with other names are not adopted. */
function isNameOfPod({ metadata }: Stored<StatefulSet>, name: string): boolean {
  return name.startsWith(`${metadata.name}-`) && /^\d+$/.test(name.slice(metadata.name.length + 1));
}

function optionsFor(set: Stored<StatefulSet>, pods: readonly Stored<Pod>[]) {
  const inUse = new Set([...pods.map(revisionOf), set.status?.currentRevision].filter((name) => name !== undefined));
  return { owner: set, kind: StatefulSet, template: set.spec.template, limit: set.spec.revisionHistoryLimit, inUse };
}

/** Pods below the partition are still created from the old template. */
function templateFor(
  { spec, status }: Stored<StatefulSet>,
  number: number,
  update: string,
  known: readonly Stored<ControllerRevision>[],
): { readonly template: PodTemplateSpec; readonly revision: string } {
  const { partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const before = known.find(({ metadata }) => metadata.name === status?.currentRevision && metadata.name !== update);
  if (number >= partition || before === undefined) return { template: spec.template, revision: update };
  const { template } = (before.data as { readonly spec: { readonly template: PodTemplateSpec & { readonly $patch?: string } } })
    .spec;
  const { $patch: _, ...plain } = template;
  return { template: plain, revision: before.metadata.name };
}

/** False: a claim of this name exists and is kept. */
async function isNew(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if (error instanceof AlreadyExistsError) return false;
    throw error;
  }
}
