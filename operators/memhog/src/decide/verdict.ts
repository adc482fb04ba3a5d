// The verdict on one container: raise or hold, always with a reason, from values alone. Who asks twice gets the same answer.
//
// A verdict is the first answer in a list of questions. The order is the policy, so it stands here and nowhere else:
//
//   1. Is it ours to judge?      The plainest facts first. Whoever reads "Paused" need not wonder about thresholds.
//   2. Should we keep off?       Stops, a VPA, a raise that is still under way. They come before a kill: a second hand would only
//                                pull at the same rope.
//   3. Is more memory due?       Kills come first, they need no metrics. Then what the app was known to need. Then a running
//                                container with a fresh sample; without one nothing is due, ever.
//   4. What speaks against it?   Brakes that let go by themselves come before those that people have to lift.
//   5. Otherwise: raise, by as much as the caps allow.
//
// The road that the raise takes, and how many go at once, is for decide.ts: it may still turn a raise into a hold.
import type { Decision, Verdict } from "../model/plan.ts";
import type { AppSeen, ContainerSeen, PodSeen } from "../model/seen.ts";
import type { Braking } from "./brakes.ts";
import * as brakes from "./brakes.ts";
import * as due from "./due.ts";
import { type Due, type Facts, factsOf, type Hold, inputsOf, type Looked, memoryOf } from "./facts.ts";
import { grantOf } from "./grant.ts";
import * as handsOff from "./hands-off.ts";
import * as inCharge from "./in-charge.ts";
import { learnedBefore } from "./learned-floor.ts";
import { outOfMemory } from "./out-of-memory.ts";
import { promisedBy, promiseOf } from "./promised.ts";
import { horizontalAutoscaler } from "./rivals.ts";

const isItOurs: readonly ((looked: Looked) => Hold | undefined)[] = [
  inCharge.terminating, // whatever else is true of it, it is over
  inCharge.notMonitored, // nobody asked; or somebody wrote "false" to stop us
  inCharge.ambiguousMonitor, // before "paused": one of two being paused does not make the other ours to obey
  inCharge.paused,
];

const shouldWeKeepOff: readonly ((facts: Facts) => Hold | undefined)[] = [
  handsOff.stoppedBefore, // people have to lift it; nothing below may talk us out of that
  handsOff.verticalAutoscaler,
  handsOff.underWay, // ours, and not confirmed
  handsOff.resizePending, // the kubelet's word on it, or on somebody else's resize
];

const isMoreDue: readonly ((facts: Facts) => Due | Hold | undefined)[] = [
  outOfMemory, // works while Prometheus is down, and while the container is
  learnedBefore, // needs no metrics either: it was measured on others
  due.notRunning,
  due.metricsUnavailable, // before "no sample": it is why there is none
  due.noSample,
  due.sampleStale,
  due.thresholdCrossed,
  due.runningOut,
];

const whatSpeaksAgainst: readonly ((braking: Braking) => Hold | undefined)[] = [
  (braking) => horizontalAutoscaler(braking, braking.due), // we may never do it
  brakes.coolingDown, // not yet
  brakes.atCeiling, // nothing left to give: says who to ask
  brakes.recommendOnly, // everything above is worth reporting under Recommend, what is below cannot happen there
  brakes.raisesFutile, // before the leak: it says more, and both may be true
  brakes.suspectedLeak,
];

/** `promised`: room that others were promised in the same pass, or before; by default by the open intents of the app. */
export function verdictOn(seen: AppSeen, pod: PodSeen, container: ContainerSeen, promised = promisedBy(seen)): Verdict {
  const looked: Looked = { seen, pod, container, promised };
  const [policy, another] = seen.policies;
  const has = memoryOf(container);
  const facts = policy && !another && has ? factsOf(looked, policy, has) : undefined;
  return {
    pod: { name: pod.name, uid: pod.uid },
    container: container.name,
    decision: first(isItOurs, looked) ?? (facts ? judge(facts) : policy ? inCharge.noLimit(looked) : inCharge.noMonitor(looked)),
    inputs: inputsOf(looked, facts),
  };
}

/** On every container of the app, in order; what one is granted is not granted to the next once more. */
export function verdictsOn(seen: AppSeen): readonly Verdict[] {
  const promised = [...promisedBy(seen)];
  return seen.pods.flatMap((pod) =>
    pod.containers.map((container) => {
      const verdict = verdictOn(seen, pod, container, promised);
      if (verdict.decision.kind === "raise") promised.push(promiseOf(pod, container, verdict.decision.granted));
      return verdict;
    }),
  );
}

function judge(facts: Facts): Decision {
  const found = first(shouldWeKeepOff, facts) ?? first(isMoreDue, facts) ?? due.belowThreshold(facts);
  if ("kind" in found) return found;
  const { reason, detail, wanted } = found;
  const grant = grantOf(facts, wanted);
  return (
    first(whatSpeaksAgainst, { ...facts, due: found, grant }) ?? {
      kind: "raise",
      reason,
      detail,
      from: facts.has,
      wanted,
      ...grant,
    }
  );
}

function first<In, Out>(rules: readonly ((about: In) => Out | undefined)[], about: In): Out | undefined {
  for (const rule of rules) {
    const answer = rule(about);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
