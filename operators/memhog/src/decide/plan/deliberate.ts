// Verdicts, intents and what is remembered of them, round by round until nothing is added any more.
//
// One round is not always enough. Room is shared: pods are judged in their order, begun in order of urgency, and some are held back
// (Busy), so after a round the room that is left may be more or less than each verdict took it to be. And a kill that was counted is
// not there for the next verdict. Whatever a second look would find belongs into this decision; else the next pass, on the same
// world, would decide something else, and a crash in between would make a difference (C1).
import type { Plan, Verdict } from "../../model/plan.ts";
import type { AppRecord } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";
import { verdictsOn } from "../verdict.ts";
import { policyInCharge } from "./gate.ts";
import { heldVerdicts } from "./held.ts";
import { intend } from "./intents.ts";
import { countKills } from "./kills.ts";
import type { Braked } from "./pace.ts";
import { storeStops } from "./stops.ts";

export interface Round {
  readonly record: AppRecord;
  readonly verdicts: readonly Verdict[];
  readonly settled: Plan["settled"];
  readonly held: ReadonlyMap<string, Braked>;
}

/** Every round adds an intent, a kill or a stop, and there are bounds on each; this one is only against our own mistakes. */
const mostRounds = 20;

export function deliberate(seen: AppSeen): Round {
  let all = judge(seen);
  for (let round = 1; round < mostRounds; round++) {
    const next = judge({ ...seen, record: all.record });
    if (next.record === all.record) break;
    all = {
      ...next,
      verdicts: all.verdicts.map((verdict, i) => newsOf(verdict, next.verdicts[i])),
      settled: [...all.settled, ...next.settled],
    };
  }
  return all;
}

// The first word on a container is the news; "in progress" is only its echo. Unless a later round has found something to do.
const newsOf = (first: Verdict, later: Verdict | undefined): Verdict => (later?.decision.kind === "raise" ? later : first);

function judge(seen: AppSeen): Round {
  const judged = verdictsOn(seen);
  const { record, settled, held } = intend(seen, judged);
  const verdicts = heldVerdicts(seen, judged, held);
  const policy = policyInCharge(seen);
  if (policy === undefined) return { record, verdicts, settled, held };
  const counted = countKills(seen, record, verdicts);
  return { record: storeStops(seen, counted, verdicts, policy), verdicts, settled, held };
}
