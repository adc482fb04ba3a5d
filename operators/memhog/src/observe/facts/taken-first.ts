// How many pods a rollout may take away before others are Ready in their place (promise D2), as the controllers count it:
//
//   Deployment    RollingUpdate   maxUnavailable, rounded down; 1 if there is no surge either. By default 25 %: none of 1 to 3
//                 Recreate        all of them
//   StatefulSet   RollingUpdate   maxUnavailable, rounded up; 1 by default
//   DaemonSet     RollingUpdate   maxUnavailable, rounded up; 1 by default; none where it surges
//   OnDelete, ReplicaSet          1: it is we who evict them, one at a time
//   CronJob                       none: what runs is left to end
import type { DaemonSet, Deployment, StatefulSet } from "@memhog/runtime";

export function takenFirstByDeployment({ strategy }: Deployment["spec"], replicas: number): number {
  if (strategy?.type === "Recreate") return replicas;
  const { maxSurge = "25%", maxUnavailable = "25%" } = strategy?.rollingUpdate ?? {};
  const missing = resolve(maxUnavailable, replicas, Math.floor);
  return missing === 0 && resolve(maxSurge, replicas, Math.ceil) === 0 ? 1 : missing;
}

export function takenFirstByStatefulSet({ updateStrategy }: StatefulSet["spec"], replicas: number): number {
  if (updateStrategy?.type === "OnDelete") return 1;
  return Math.max(1, resolve(updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicas, Math.ceil));
}

export function takenFirstByDaemonSet({ updateStrategy }: DaemonSet["spec"], nodes: number): number {
  if (updateStrategy?.type === "OnDelete") return 1;
  const { maxSurge = 0, maxUnavailable = 1 } = updateStrategy?.rollingUpdate ?? {};
  if (resolve(maxSurge, nodes, Math.ceil) > 0) return 0;
  return Math.max(1, resolve(maxUnavailable, nodes, Math.ceil));
}

/** What cannot be read counts as all of them: whoever does not know takes no risk. */
function resolve(bound: number | string, of: number, round: (share: number) => number): number {
  if (typeof bound === "number") return bound;
  const percent = /^(\d+)%$/.exec(bound)?.[1];
  return percent === undefined ? of : round((Number(percent) / 100) * of);
}
