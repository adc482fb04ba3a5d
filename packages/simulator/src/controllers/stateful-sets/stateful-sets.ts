// StatefulSets: pods with a number, a name and storage of their own, one after the other.
import {
  AlreadyExistsError,
  checkAgainIn,
  controller,
  done,
  may,
  type Outcome,
  PersistentVolumeClaim,
  Pod,
  type PodTemplateSpec,
  StatefulSet,
  type Stored,
} from "@memhog/runtime";
import { isGoing, nextAvailableInMs } from "../pods.ts";
import { ControllerRevision, decideRevisions } from "../revisions.ts";
import { report } from "../status.ts";
import { decideSet, revisionOf } from "./decide.ts";
import { claimsOf, podOf } from "./pod-of.ts";
import { decideStatus } from "./status.ts";

export const statefulSets = controller(
  StatefulSet,
  {
    name: "statefulset",
    owns: [Pod, ControllerRevision],
    may: [may(StatefulSet, "update", { subresource: "status" }), may(PersistentVolumeClaim, "create")],
  },
  async (ref, ctx): Promise<Outcome> => {
    const set = ctx.get(StatefulSet, ref);
    if (set === undefined || isGoing(set)) return done();
    const pods = ctx.list(Pod, { ownedBy: set });
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

    const now = ctx.clock.now();
    const { create, remove } = decideSet(set, pods, update, now);
    for (const number of create) {
      for (const { claim } of claimsOf(set, number)) {
        if (await isNew(ctx.client.create(PersistentVolumeClaim, claim))) {
          const note = `create Claim ${claim.metadata.name} Pod ${set.metadata.name}-${number} in StatefulSet ${set.metadata.name} success`;
          ctx.event(set, { reason: "SuccessfulCreate", note });
        }
      }
      const pod = podOf(set, { number, ...templateFor(set, number, update, known) });
      await ctx.client.create(Pod, pod);
      ctx.event(set, {
        reason: "SuccessfulCreate",
        note: `create Pod ${pod.metadata?.name} in StatefulSet ${set.metadata.name} successful`,
      });
    }
    for (const { metadata } of remove) {
      await ctx.client.delete(Pod, metadata, { uid: metadata.uid });
      ctx.event(set, {
        reason: "SuccessfulDelete",
        note: `delete Pod ${metadata.name} in StatefulSet ${set.metadata.name} successful`,
      });
    }
    for (const { metadata } of revisions.forget) await ctx.client.delete(ControllerRevision, metadata, { uid: metadata.uid });

    const status = decideStatus(set, pods, update, now);
    await report(set, status, (next) => ctx.client.update(StatefulSet, next, { subresource: "status" }));
    const inMs = nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, now);
    return inMs === undefined ? done() : checkAgainIn(inMs, "a ready pod counts as available later");
  },
);

function optionsFor(set: Stored<StatefulSet>, pods: readonly Stored<Pod>[]) {
  const inUse = new Set([...pods.map(revisionOf), set.status?.currentRevision].filter((name) => name !== undefined));
  return { owner: set, kind: StatefulSet, template: set.spec.template, limit: set.spec.revisionHistoryLimit, inUse };
}

/** Below the partition pods are still made from the template they had. */
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

/** False: there was one of this name, and it is kept. */
async function isNew(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if (error instanceof AlreadyExistsError) return false;
    throw error;
  }
}
