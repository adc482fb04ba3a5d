// From raises to intents: one per pod, whatever the number of its containers; one for a template, whatever the number of its pods.
// A raise that finds no road, or meets a brake, becomes a hold that says so.
import { larger, quantityText, smaller } from "../../model/bytes.ts";
import type { Plan, Verdict } from "../../model/plan.ts";
import type { RaiseReason } from "../../model/reasons.ts";
import type { Action, AppRecord, Change, Intent, Road } from "../../model/record.ts";
import type { AppSeen, PodSeen } from "../../model/seen.ts";
import { type Hold, hold } from "../facts.ts";
import { copyName } from "./copy-pod.ts";
import { isOff } from "./gate.ts";
import { type Braked, brakeOn, streak } from "./pace.ts";
import { ended, goingOn, isInfeasible, neverFits, podOf } from "./progress.ts";
import { type PodRaise, raisesIn } from "./raises.ts";
import { withGiven } from "./remember.ts";
import { roadTo } from "./roads.ts";
import { end, progressOf } from "./settle.ts";
import { templateChanges } from "./template-changes.ts";

export interface Intended {
  readonly record: AppRecord;
  readonly settled: Plan["settled"];
  /** Per pod UID: why its raises are not done now. */
  readonly held: ReadonlyMap<string, Braked>;
}

export function intend(seen: AppSeen, verdicts: readonly Verdict[]): Intended {
  const start: Intended = { record: seen.record, settled: [], held: new Map() };
  const all = [...infeasibleRaises(seen), ...raisesIn(seen, verdicts)];
  const onTheirWay = all.map((raise) => ({ raise, to: roadTo(seen, without(seen, seen.record, raise), raise) }));
  const single = onTheirWay.reduce((sum, { raise, to }) => {
    if ("hold" in to) return keep(sum, raise, { hold: to.hold });
    return to.road === "Template" ? sum : begin(seen, sum, [raise], to.road);
  }, start);
  const byTemplate = onTheirWay.flatMap(({ raise, to }) => ("road" in to && to.road === "Template" ? [raise] : []));
  return byTemplate.length === 0 ? single : begin(seen, single, byTemplate, "Template");
}

/** What did not fit its node is still wanted, though its spec may claim that it is there: no verdict would ask for it again. */
function infeasibleRaises(seen: AppSeen): readonly PodRaise[] {
  return seen.record.intents.flatMap((intent) => {
    const pod = podOf(seen, intent.pod.uid);
    if (pod === undefined || !isInfeasible(intent) || isOff(seen, intent)) return [];
    return [{ pod, changes: intent.changes, reason: intent.reason, instead: intent }];
  });
}

/** The record as it will be if this raise begins: what it takes the place of has ended. */
function without(seen: AppSeen, record: AppRecord, raise: PodRaise): AppRecord {
  return makeRoom(seen, { record, settled: [], held: new Map() }, raise).record;
}

function makeRoom(seen: AppSeen, sum: Intended, { pod, instead }: PodRaise): Intended {
  const prior = instead ?? sum.record.intents.find((one) => one.limitsApplied && one.pod.uid === pod.uid);
  if (prior === undefined || !sum.record.intents.includes(prior)) return sum;
  const record = { ...sum.record, intents: sum.record.intents.filter((one) => one !== prior) };
  const why = instead ? ended(prior, "Infeasible", neverFits) : ended(prior, "Applied", "the next raise followed");
  return end(seen, { ...sum, record }, why);
}

const keep = (sum: Intended, raise: PodRaise, braked: Braked): Intended => ({
  ...sum,
  held: new Map([...sum.held, [raise.pod.uid, braked]]),
});

function begin(seen: AppSeen, sum: Intended, raises: readonly PodRaise[], road: Road): Intended {
  const [first] = raises;
  if (first === undefined) return sum;
  const cleared = raises.reduce((all, raise) => makeRoom(seen, all, raise), sum);
  const holdAll = (braked: Braked) => raises.reduce((all, raise) => keep(all, raise, braked), sum);
  const changes = road === "Template" ? templateChanges(seen, raises) : withPriorRequests(sum.record, first);
  if (changes.length === 0) return holdAll({ hold: rollingOut });
  const braked = brakeOn(seen, cleared.record, { road, pod: first.pod, changes });
  if (braked !== undefined) return holdAll(braked);
  const progress = progressOf(seen, intentFor(seen, cleared.record, { road, pod: first.pod, changes, reason: first.reason }));
  // It would be over before it began: the template has it, and its rollout is stuck.
  if (!progress.open) return holdAll({ hold: rollingOut });
  const record = withGiven(cleared.record, progress.given ?? []);
  return { ...cleared, record: { ...record, intents: [...record.intents, progress.intent] } };
}

const rollingOut: Hold = hold("RolloutInProgress", "the template asks for it already; the pods have yet to follow");

/** A request that still waits for room is not forgotten over the next raise. */
function withPriorRequests(record: AppRecord, { pod, changes }: PodRaise): readonly Change[] {
  const prior = record.intents.find((one) => one.limitsApplied && one.pod.uid === pod.uid);
  return changes.map((change) => {
    const waits = prior?.changes.find(({ container }) => container === change.container)?.to.request;
    const { limit, request } = change.to;
    if (waits === undefined || request === undefined) return change;
    return { ...change, to: { limit, request: smaller(larger(request, waits), limit) } };
  });
}

interface New {
  readonly road: Road;
  readonly pod: PodSeen;
  readonly changes: readonly Change[];
  readonly reason: RaiseReason;
}

/** No clock in the id: two of us, or one of us twice, make the same (L1). */
function intentFor(seen: AppSeen, record: AppRecord, { road, pod, changes, reason }: New): Intent {
  const failed = (outcome: "Refused" | "NotReady") =>
    streak(record, (action) => action.pod.uid === pod.uid && action.road === road, outcome);
  const attempt = 1 + failed("Refused").length + failed("NotReady").length;
  const about = road === "Template" ? seen.template?.uid : pod.uid;
  const intent: Intent = {
    id: `${about}/${road}/${targetOf(changes)}/${attempt}`,
    road,
    pod: { name: pod.name, uid: pod.uid },
    changes,
    reason,
    atMs: seen.nowMs,
    attempt,
  };
  return goingOn(road === "CopyPod" ? { ...intent, copy: copyName(seen, failed("Refused").filter(nameTaken).length) } : intent)
    .intent;
}

// By a pod that is none of ours, so it is not among those we see: act/copy-pod.ts says so.
const nameTaken = ({ detail }: Action): boolean => detail?.includes("is taken by") ?? false;

function targetOf(changes: readonly Change[]): string {
  return quantityText(changes.map(({ to }) => to.limit).reduce((sum, limit) => (sum + limit) as typeof limit));
}
