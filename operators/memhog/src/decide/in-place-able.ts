// Could this container be resized where it is? Which road is taken in the end is not decided here.
import type { AppSeen, ContainerSeen, PodSeen } from "../model/seen.ts";

export function resizesInPlace(seen: AppSeen, pod: PodSeen, container: ContainerSeen): boolean {
  if (!seen.cluster.inPlace || seen.policies.some(({ strategy }) => strategy === "Redeploy")) return false;
  if (pod.notResizable !== undefined || pod.qos === "BestEffort" || hasEnded(pod)) return false;
  return container.running || (container.oomKill?.stillDown === true && seen.cluster.resizeAfterOomKill);
}

/** Nothing in it will ever run again. */
export function hasEnded({ phase }: PodSeen): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
