// A kill for lack of memory needs no metrics: the pod's status tells. It is found by looking, not by listening, so a kill that
// happened while nobody watched is found too; and it is answered once, because the record counts it (promise G2).
import { readable } from "../model/bytes.ts";
import type { AppSeen, ContainerSeen, OomKillSeen, PodSeen } from "../model/seen.ts";
import { type Due, type Facts, type Hold, hold } from "./facts.ts";
import { hasEnded, resizesInPlace } from "./in-place-able.ts";
import { oneStepUp } from "./wanted.ts";

/**
 * Between the decision to raise and the new limit of the cgroup lies about a second, and the kubelet tells the time of a kill in
 * whole seconds. A kill in this span was one of the old limit: to answer it would be to raise twice for one need.
 */
const raisingTakesMs = 3_000;

/** The last kill, unless it was counted before. The record that holds the answer to it counts it. */
export function uncountedKill(seen: AppSeen, pod: PodSeen, container: ContainerSeen): OomKillSeen | undefined {
  const kill = container.oomKill;
  const counted = seen.record.kills.find((each) => each.uid === pod.uid && each.container === container.name);
  return kill && (counted === undefined || counted.restart < kill.restart) ? kill : undefined;
}

/** More memory is due because of a kill that nobody answered yet. */
export function outOfMemory(facts: Facts): Due | Hold | undefined {
  const { seen, pod, container, policy, has } = facts;
  // Where we only recommend, nobody answers a kill by counting it: the advice stands as long as the container.
  const kill = policy.strategy === "Recommend" ? container.oomKill : uncountedKill(seen, pod, container);
  if (kill === undefined || isAnswered(facts, kill)) return undefined;
  // The next run of a CronJob can still be helped.
  if (hasEnded(pod) && seen.app.kind !== "CronJob") return undefined;
  const killed = `killed for lack of memory at ${readable(has.limit)}, after ${kill.restart} restarts`;
  if (!hasEnded(pod) && !resizesInPlace(seen, pod, container) && !mayBeReplaced(facts)) {
    return hold("NotRunning", `${killed}; it can be resized as soon as it runs again`);
  }
  return { reason: "OutOfMemory", detail: killed, wanted: oneStepUp(facts) };
}

/** It has been given more since: here, or in the template that the next pods are made from. */
function isAnswered({ seen, pod, container, has }: Facts, kill: OomKillSeen): boolean {
  const { actions, intents } = seen.record;
  const done = [...actions.filter(({ outcome }) => outcome === "Applied"), ...intents.filter((intent) => intent.limitsApplied)];
  const here = done.some(
    (raise) =>
      raise.pod.uid === pod.uid &&
      raise.changes.some((change) => change.container === container.name) &&
      raise.atMs + raisingTakesMs >= kill.atMs,
  );
  if (here || !hasEnded(pod)) return here;
  const next = seen.template?.containers.find(({ name }) => name === container.name);
  return next?.limit !== undefined && next.limit > has.limit;
}

/** Nobody edits a Job, or an owner of a kind we do not know; and InPlace means that no pod is replaced. */
function mayBeReplaced({ seen, policy, container }: Facts): boolean {
  if (container.running) return true;
  return policy.strategy !== "InPlace" && seen.app.kind !== "Job" && seen.app.kind !== "Other";
}
