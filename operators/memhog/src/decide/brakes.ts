// More memory is due; what speaks against it? The order is that of verdict.ts. The last two are stops: whoever carries the plan out
// stores them, and people have to lift them. So they come when a raise would otherwise have been made, and not before.
import { quantityText } from "../model/bytes.ts";
import { type Due, type Facts, type Hold, hold } from "./facts.ts";
import { type Grant, isWorthwhile } from "./grant.ts";
import { raisesOf } from "./history.ts";

export interface Braking extends Facts {
  readonly due: Due;
  readonly grant: Grant;
}

/** A trend that meets the limit this soon after the cooldown would be a narrow escape: samples are 15 s old, loops 15 s apart. */
const narrowEscapeMs = 30_000;
/** So many times a kill was answered within an hour, and then came another. */
const futileRaises = 3;

/** A kill cannot wait, what was learned before is nothing new, and who would not live through the cooldown is let off. */
export function coolingDown({ due, cooldownLeftMs, cooldownSurelyLeftMs, trend }: Braking): Hold | undefined {
  if (cooldownLeftMs === 0 || due.reason === "OutOfMemory" || due.reason === "LearnedBefore") return undefined;
  if (trend !== undefined && trend.runsOutInMs <= cooldownSurelyLeftMs + narrowEscapeMs) return undefined;
  const left = Math.ceil(cooldownLeftMs / 1000);
  return hold("CoolingDown", `${due.detail}; the next raise may follow in ${left} s`, { wanted: due.wanted });
}

export function atCeiling({ due, grant, has }: Braking): Hold | undefined {
  if (isWorthwhile(grant, has)) return undefined;
  const by = grant.cappedBy ?? "the largest number";
  return hold("AtCeiling", `${due.detail}; ${by} leaves no more than ${quantityText(grant.granted.limit)}`, {
    wanted: due.wanted,
    cap: by,
  });
}

export function recommendOnly({ due, grant, policy }: Braking): Hold | undefined {
  if (policy.strategy !== "Recommend") return undefined;
  const cap = grant.cappedBy === undefined ? {} : { cap: grant.cappedBy };
  return hold("RecommendOnly", `${due.reason}: ${due.detail}`, { wanted: due.wanted, ...cap });
}

/** Whoever is killed at any size is not short of memory (promise G2). */
export function raisesFutile({ due, seen, pod, container }: Braking): Hold | undefined {
  if (due.reason !== "OutOfMemory") return undefined;
  const answers = raisesOf(seen, pod, container).filter(({ of }) => of.reason === "OutOfMemory").length;
  if (answers < futileRaises) return undefined;
  return hold("RaisesFutile", `${due.detail}; ${answers} raises within an hour did not help`, { wanted: due.wanted });
}

/** More memory only hides a leak, and takes it from others (promise G1). */
export function suspectedLeak({ due, seen, pod, container, policy }: Braking): Hold | undefined {
  const raises = raisesOf(seen, pod, container).length;
  if (due.reason === "LearnedBefore" || raises < policy.maxRaisesPerHour) return undefined;
  const detail = `${due.detail}; it was raised ${raises} times within an hour, and maxRaisesPerHour is ${policy.maxRaisesPerHour}`;
  return hold("SuspectedLeak", detail, { wanted: due.wanted });
}
