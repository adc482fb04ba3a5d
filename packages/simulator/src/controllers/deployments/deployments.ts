// Deployments: a template becomes a ReplicaSet, a changed template another one, and pods move from the old to the new.
//
//     replica-set-of.ts   which ReplicaSet is which generation
//     decide.ts           what to do next (proportional.ts: when resized on the way)
//     status.ts           what to say about it
import {
  checkAgainIn,
  controller,
  controllerOf,
  Deployment,
  done,
  may,
  type Outcome,
  Pod,
  ReplicaSet,
  type Stored,
} from "@memhog/runtime";
import { isGoing } from "../pods.ts";
import { report } from "../status.ts";
import { decideRollout, type Step } from "./decide.ts";
import { annotationsFor, replicasOf, revisionAnnotation, sizeAnnotationsFor } from "./replica-set-of.ts";
import { decideStatus, overdueInMs } from "./status.ts";

export const deployments = controller(
  Deployment,
  {
    name: "deployment",
    owns: [ReplicaSet],
    // Only Recreate asks for pods: it waits until the last old one is gone.
    watches: [
      {
        kind: Pod,
        when: ({ type }) => type === "removed",
        map: (pod, all) => [...all.objects(pod.metadata.namespace)].filter(isOwnerOf(pod)).map(({ metadata }) => metadata),
      },
    ],
    may: [may(Deployment, "update", { subresource: "status" })],
    concurrency: 4,
  },
  async (ref, ctx): Promise<Outcome> => {
    const deployment = ctx.get(Deployment, ref);
    if (deployment === undefined || isGoing(deployment)) return done();
    const replicaSets = ctx.list(ReplicaSet, { ownedBy: deployment }).filter((set) => !isGoing(set));
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
      const note = describe(step);
      if (note !== undefined) ctx.event(deployment, { reason: "ScalingReplicaSet", note });
    };
    for (const step of plan.steps) await carryOut(step);

    const annotations = annotationsFor(deployment, plan.revision);
    if (plan.steps.length === 0 && plan.current !== undefined && differs(plan.current.metadata.annotations, annotations)) {
      await ctx.client.patch(ReplicaSet, plan.current.metadata, { type: "merge", body: { metadata: { annotations } } });
    }
    const created = plan.steps.find((step) => step.kind === "create")?.set.metadata?.name;
    const status = decideStatus(deployment, { ...plan, created }, ctx.clock.now());
    // The revision is an annotation, but written with the status: that way it does not count as a change by the user.
    const write = (next: Stored<Deployment>) =>
      ctx.client.update(Deployment, withRevision(next, plan.revision), { subresource: "status" });
    const reported = await report(deployment, status, write);
    if (!reported && withRevision(deployment, plan.revision) !== deployment) await write(deployment);
    const inMs = overdueInMs({ ...deployment, status }, ctx.clock.now());
    return inMs === undefined ? done() : checkAgainIn(Math.max(inMs, 0) + 1_000, "by then the rollout should have made progress");
  },
);

/** Whether a pod may be one of a Deployment's, as far as names tell: its ReplicaSet may be gone already. */
function isOwnerOf(pod: Stored<Pod>): (deployment: Stored<Deployment>) => boolean {
  const owner = controllerOf(pod);
  return ({ metadata }) => owner?.kind === "ReplicaSet" && owner.name.startsWith(`${metadata.name}-`);
}

/** What is told to people: "Scaled up replica set web-5d7 from 0 to 3". */
function describe(step: Step): string | undefined {
  if (step.kind === "forget") return undefined;
  const from = step.kind === "create" ? 0 : replicasOf(step.set);
  const to = step.kind === "create" ? replicasOf(step.set) : step.to;
  const direction = to > from ? "up" : "down";
  return from === to ? undefined : `Scaled ${direction} replica set ${step.set.metadata?.name} from ${from} to ${to}`;
}

/** The very same object if it has the revision already. */
function withRevision(deployment: Stored<Deployment>, revision: number): Stored<Deployment> {
  const { annotations } = deployment.metadata;
  const wanted = { [revisionAnnotation]: `${revision}` };
  if (!differs(annotations, wanted)) return deployment;
  return { ...deployment, metadata: { ...deployment.metadata, annotations: { ...annotations, ...wanted } } };
}

function differs(actual: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).some(([key, value]) => actual[key] !== value);
}
