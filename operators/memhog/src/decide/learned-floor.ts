// A pod that is made anew from its old template starts small again. What the app was seen to need is given to it in place, as soon
// as it runs: at once, without a cooldown, because it is nothing new. Pods that were there before are left alone: of six replicas
// only the hot one grows. No pod is ever replaced for this; where it cannot be done in place, its use decides, as for any other.
import { readable } from "../model/bytes.ts";
import type { Due, Facts } from "./facts.ts";
import { grantOf, isWorthwhile } from "./grant.ts";
import { resizesInPlace } from "./in-place-able.ts";
import { asLearned, learnedFor } from "./wanted.ts";

export function learnedBefore(facts: Facts): Due | undefined {
  const { seen, pod, container, has } = facts;
  const learned = learnedFor(facts);
  if (learned === undefined || !container.running || !resizesInPlace(seen, pod, container) || failedBefore(facts))
    return undefined;
  const wanted = asLearned(facts, learned);
  // Nobody knows yet that this pod needs it: a cap in the way is no news.
  if (!isWorthwhile(grantOf(facts, wanted), has)) return undefined;
  return {
    reason: "LearnedBefore",
    detail: `other pods of ${seen.app.name} were seen to need ${readable(learned.limit)}`,
    wanted,
  };
}

/** It was infeasible, or refused: that is no reason to try anything else. */
function failedBefore({ seen, pod }: Facts): boolean {
  return seen.record.actions.some(
    ({ reason, outcome, pod: { uid } }) => uid === pod.uid && reason === "LearnedBefore" && outcome !== "Applied",
  );
}
