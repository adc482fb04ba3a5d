// Deployments: each version of the pod template gets a ReplicaSet, and a rollout moves pods from the old to the new one.
//
//     replica-set-of.ts   which ReplicaSet belongs to which template
//     decide.ts           the next steps of a rollout
//     status.ts           counts and conditions
import { allow, controller, Deployment, done, type Outcome, Pod, requeueAfter, type Stored } from "@memhog/runtime";
import { ReplicaSet } from "@memhog/runtime/kinds";
import { controllerOf } from "@memhog/runtime/objects";
import { adoptersOf, claimOwned, orphanReplicaSets } from "../adoption.ts";
import { isBeingDeleted, report } from "../workload.ts";
import { decideRollout, type Step } from "./decide.ts";
import { annotationsFor, replicasOf, revisionAnnotation, sizeAnnotationsFor } from "./replica-set-of.ts";
import { decideStatus, overdueInMs } from "./status.ts";

export const deployments = controller(
  Deployment,
  {
    name: "deployment",
    owns: [ReplicaSet],
    // Only Recreate needs pods: it waits until the last old one is gone.
    watches: [
      {
        kind: ReplicaSet,
        predicate: ({ object }) => controllerOf(object) === undefined,
        map: (set, cached) => adoptersOf(Deployment, set, cached),
      },
      {
        kind: Pod,
        predicate: ({ type }) => type === "removed",
        map: (pod, cached) =>
          cached
            .list(Deployment, { namespace: pod.metadata.namespace })
            .filter(isOwnerOf(pod))
            .map(({ metadata }) => metadata),
      },
    ],
    permissions: [allow(Deployment, "get"), allow(Deployment, "update", { subresource: "status" })],
    concurrency: 4,
  },
  async (ref, ctx): Promise<Outcome> => {
    const deployment = ctx.get(Deployment, ref);
    if (deployment === undefined || isBeingDeleted(deployment)) return done();
    const orphans = ctx.lookup(orphanReplicaSets, deployment.metadata.namespace ?? "");
    const owned = ctx.list(ReplicaSet, { ownedBy: deployment });
    const belonging = await claimOwned(deployment, Deployment, {
      owned,
      orphans,
      patch: (set, patch) => ctx.client.patch(ReplicaSet, set, patch),
      readOwner: () => ctx.client.find(Deployment, ref),
    });
    const replicaSets = belonging.filter((set) => !isBeingDeleted(set));
    const recreates = deployment.spec.strategy?.type === "Recreate";
    const pods = recreates ? replicaSets.flatMap((set) => ctx.list(Pod, { ownedBy: set })) : [];
    const plan = decideRollout(deployment, replicaSets, pods);

    const carryOut = async (step: Step) => {
      if (step.kind === "forget") {
        const { uid } = step.set.metadata;
        await ctx.client.delete(ReplicaSet, step.set.metadata, { uid, propagationPolicy: "Background" });
        return;
      }
      if (step.kind === "create") {
        await ctx.client.create(ReplicaSet, step.set);
      } else {
        const { resourceVersion } = step.set.metadata;
        const metadata = { resourceVersion, annotations: sizeAnnotationsFor(deployment) };
        const body = { metadata, spec: { replicas: step.to } };
        await ctx.client.patch(ReplicaSet, step.set.metadata, { type: "merge", body });
      }
      const message = describe(step);
      if (message !== undefined) ctx.event(deployment, { reason: "ScalingReplicaSet", message });
    };
    for (const step of plan.steps) await carryOut(step);

    const annotations = annotationsFor(deployment, plan.revision);
    if (plan.steps.length === 0 && plan.current !== undefined && differs(plan.current.metadata.annotations, annotations)) {
      await ctx.client.patch(ReplicaSet, plan.current.metadata, { type: "merge", body: { metadata: { annotations } } });
    }
    const created = plan.steps.find((step) => step.kind === "create")?.set.metadata?.name;
    const status = decideStatus(deployment, { ...plan, created }, ctx.clock.now());
    // The revision annotation is written with the status, so that it does not change the generation.
    const write = (next: Stored<Deployment>) =>
      ctx.client.update(Deployment, withRevision(next, plan.revision), { subresource: "status" });
    const reported = await report(deployment, status, write);
    if (!reported && withRevision(deployment, plan.revision) !== deployment) await write(deployment);
    const inMs = overdueInMs({ ...deployment, status }, ctx.clock.now());
    return inMs === undefined ? done() : requeueAfter(Math.max(inMs, 0) + 1_000, "by then the rollout should have made progress");
  },
);

/** Whether a pod may belong to a Deployment, by name, because its ReplicaSet may already be deleted. */
function isOwnerOf(pod: Stored<Pod>): (deployment: Stored<Deployment>) => boolean {
  const owner = controllerOf(pod);
  return ({ metadata }) => owner?.kind === "ReplicaSet" && owner.name.startsWith(`${metadata.name}-`);
}

/** The message of the event: "Scaled up replica set web-5d7 from 0 to 3". */
function describe(step: Step): string | undefined {
  if (step.kind === "forget") return undefined;
  const from = step.kind === "create" ? 0 : replicasOf(step.set);
  const to = step.kind === "create" ? replicasOf(step.set) : step.to;
  const direction = to > from ? "up" : "down";
  return from === to ? undefined : `Scaled ${direction} replica set ${step.set.metadata?.name} from ${from} to ${to}`;
}

/** Returns the same object if it already has the revision. */
function withRevision(deployment: Stored<Deployment>, revision: number): Stored<Deployment> {
  const { annotations } = deployment.metadata;
  const wanted = { [revisionAnnotation]: `${revision}` };
  if (!differs(annotations, wanted)) return deployment;
  return { ...deployment, metadata: { ...deployment.metadata, annotations: { ...annotations, ...wanted } } };
}

function differs(actual: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).some(([key, value]) => actual[key] !== value);
}
