// What is under way, held against the world: how far is each intent, and is it over? The first part of every decision, so that
// the verdicts after it rest on what is, not on what was meant.
import type { Command, Plan } from "../../model/plan.ts";
import type { AppRecord, Intent, Road } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";
import { countReverts, forgetLiftedContest, isContested } from "./contest.ts";
import { copyProgress } from "./copy-pod.ts";
import { isOff, policyInCharge } from "./gate.ts";
import { inPlaceProgress } from "./in-place.ts";
import { ended, isInfeasible, neverFits, type Progress, podOf } from "./progress.ts";
import { withAction, withGiven, withRaise } from "./remember.ts";
import { roadTo } from "./roads.ts";
import { templateProgress } from "./template.ts";

export interface Settlement {
  readonly record: AppRecord;
  readonly settled: Plan["settled"];
  /** Whose memory was seen to have arrived. */
  readonly arrived: readonly Intent[];
}

export function settle(seen: AppSeen): Settlement {
  const start = settleReverts(seen);
  const now = { ...seen, record: start.record };
  return start.record.intents.reduce((sum, intent) => add(now, sum, intent), start);
}

function settleReverts(seen: AppSeen): Settlement {
  const policy = policyInCharge(seen);
  if (policy === undefined) return { record: seen.record, settled: [], arrived: [] };
  const { record, lost } = countReverts(seen, forgetLiftedContest(seen.record, policy), policy);
  return lost.reduce((sum, intent) => end(seen, sum, ended(intent, "Abandoned", "somebody took it back")), {
    record,
    settled: [],
    arrived: [],
  } as Settlement);
}

function add(seen: AppSeen, sum: Settlement, intent: Intent): Settlement {
  const progress = orInfeasible(seen, sum.record, progressOf(seen, intent));
  const intents = sum.record.intents.flatMap((one) => (one !== intent ? [one] : progress.open ? [progress.intent] : []));
  const given = withGiven({ ...sum.record, intents }, progress.given ?? []);
  const record = progress.arrived ? withRaise(given, progress.intent, learnedAt(seen)) : given;
  const arrived = progress.arrived ? [...sum.arrived, progress.intent] : sum.arrived;
  return end(seen, { ...sum, record, arrived }, progress);
}

// What does not fit its node stays open until another road is taken (plan/intents.ts). Where none leads on, it is over.
function orInfeasible(seen: AppSeen, record: AppRecord, progress: Progress): Progress {
  const { intent } = progress;
  const pod = podOf(seen, intent.pod.uid);
  if (!progress.open || pod === undefined || !isInfeasible(intent) || isOff(seen, intent)) return progress;
  const over = { ...progress, ...ended(intent, "Infeasible", neverFits) };
  const after = withAction(record, intent, { nowMs: seen.nowMs, outcome: "Infeasible" });
  const { changes, reason } = intent;
  return "hold" in roadTo(seen, after, { pod, changes, reason }) ? over : progress;
}

/** Writes down how an intent ended, if it did. */
export function end<T extends Pick<Settlement, "record" | "settled">>(seen: AppSeen, sum: T, progress: Progress): T {
  const { intent, outcome, detail } = progress;
  if (outcome === undefined) return sum;
  const record = withAction(sum.record, intent, { nowMs: seen.nowMs, outcome, detail });
  return { ...sum, record, settled: [...sum.settled, { intent, outcome, ...(detail === undefined ? {} : { detail }) }] };
}

const byRoad: Readonly<Record<Road, (seen: AppSeen, intent: Intent) => Progress>> = {
  InPlace: inPlaceProgress,
  CopyPod: copyProgress,
  Template: templateProgress,
};

/** What the road says, as far as we may go on. Of what we may not touch only one thing is noted: that it is gone. */
export function progressOf(seen: AppSeen, intent: Intent): Progress {
  const progress = byRoad[intent.road](seen, intent);
  if (isOff(seen, intent)) return progress.outcome === "Abandoned" ? progress : { intent, open: true };
  const strategy = policyInCharge(seen)?.strategy;
  const allowed = strategy !== "Recommend" && (strategy !== "InPlace" || intent.road === "InPlace");
  if (progress.command === undefined) return progress;
  if (isFirst(progress.command) && isContested(seen)) return ended(intent, "Abandoned", "somebody takes back what is given");
  if (allowed) return progress;
  // The strategy was changed meanwhile. What has not begun does not begin; what has begun is brought to its end, or is let be.
  if (isFirst(progress.command)) return ended(intent, "Abandoned", `the strategy is ${strategy} now`);
  const { command, ...rest } = progress;
  return strategy === "Recommend" ? rest : { ...rest, command };
}

function isFirst(command: Command): boolean {
  if (command.do === "resize") return command.step !== "requests";
  return command.do === "createCopy" || command.do === "patchTemplate";
}

/** Pods that are there are not made later, whatever our clock says: an hour behind, it would take all of them for new ones (M5). */
const learnedAt = ({ nowMs, pods }: AppSeen): number => Math.max(nowMs, ...pods.map(({ createdAtMs }) => createdAtMs));
