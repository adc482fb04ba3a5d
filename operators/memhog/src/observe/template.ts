// What new pods of an app are made from.
import type { CachedObjects, Stored } from "@memhog/runtime";
import type { AppName, PodSeen, TemplateSeen } from "../model/seen.ts";
import type { TemplateFacts } from "./facts/owner-facts.ts";
import { CronJobView, DaemonSetView, DeploymentView, type Kept, ReplicaSetView, StatefulSetView } from "./kinds.ts";

type Cached = Pick<CachedObjects, "get">;

/** Undefined for bare pods, Jobs (theirs cannot be changed) and owners we do not know; and for an owner that is gone. */
export function templateOf(app: AppName, pods: readonly PodSeen[], cached: Cached): TemplateSeen | undefined {
  const ref = { namespace: app.namespace, name: app.name };
  switch (app.kind) {
    case "Deployment":
      return seen(cached.get(DeploymentView, ref));
    case "StatefulSet":
      return seen(cached.get(StatefulSetView, ref));
    case "DaemonSet":
      return seen(cached.get(DaemonSetView, ref));
    case "CronJob":
      return seen(cached.get(CronJobView, ref));
    case "ReplicaSet":
      return ofReplicaSet(cached.get(ReplicaSetView, ref), pods);
    default:
      return undefined;
  }
}

function seen(owner: Stored<Kept<TemplateFacts>> | undefined): TemplateSeen | undefined {
  if (owner === undefined) return undefined;
  const { uid, resourceVersion } = owner.metadata;
  return { uid, resourceVersion, ...owner.facts };
}

/** A ReplicaSet does not say which of its pods are of the newest template. One that has as much memory is as good. */
function ofReplicaSet(
  owner: Stored<Kept<{ readonly template?: TemplateFacts }>> | undefined,
  pods: readonly PodSeen[],
): TemplateSeen | undefined {
  const template = owner?.facts.template;
  if (owner === undefined || template === undefined) return undefined;
  const { uid, resourceVersion } = owner.metadata;
  const rolledOut = template.rolledOut && pods.every((pod) => pod.deleting || isAsLarge(pod, template));
  return { uid, resourceVersion, ...template, rolledOut };
}

function isAsLarge({ containers }: PodSeen, template: TemplateFacts): boolean {
  return containers.every(({ name, limit = 0 }) => {
    const wanted = template.containers.find((container) => container.name === name)?.limit ?? 0;
    return limit >= wanted;
  });
}
