// What to do about one app, from values alone: the whole judgement of the operator is in here, and none of it anywhere else.
//
//   1. settle      what is under way is held against the world: arrived? gone? deferred, refused, taken back?
//   2. deliberate  verdicts on every container, with what is known after that. Raises become intents, by the road that strategy,
//                  cluster and owner leave open; or holds, where none is, or enough is being done. Kills and stops are remembered.
//   3. commands    the next step of every open intent
//
// The record is stored before a command is carried out, and a command is derived from the stored intent and the world, never from
// the moment in which it was decided. So it does not matter where we crash, or who goes on: decide() on its own record and the
// same world gives the same record and the same commands, and does not grow (C1). An intent's id has no clock in it: two leaders
// make the same one, and only one of them stores it (L1).
//
// Paused means paused: not even the record moves (E4). The one write that remains is the line that says so.
import type { Plan } from "../model/plan.ts";
import type { AppSeen } from "../model/seen.ts";
import { againIn } from "./plan/again.ts";
import { deliberate } from "./plan/deliberate.ts";
import { countAnswered } from "./plan/kills.ts";
import { forgetGone } from "./plan/remember.ts";
import { progressOf, settle } from "./plan/settle.ts";
import { summarise } from "./plan/summary.ts";
import { verdictsOn } from "./verdict.ts";

export function decide(seen: AppSeen): Plan {
  if (seen.policies.some((policy) => policy.paused)) return nothing(seen);
  const before = settle(seen);
  const known = forgetGone(countAnswered(seen, before.record, before.arrived), seen);
  const { record, verdicts, settled, held } = deliberate({ ...seen, record: known });
  return {
    verdicts,
    record,
    commands: record.intents.flatMap((intent) => progressOf({ ...seen, record }, intent).command ?? []),
    settled: [...before.settled, ...settled],
    summary: summarise(seen, record, verdicts),
    againInMs: againIn(seen, record, verdicts, held.values()),
  };
}

function nothing(seen: AppSeen): Plan {
  const verdicts = verdictsOn(seen);
  const summary = summarise(seen, seen.record, verdicts);
  return { verdicts, record: seen.record, commands: [], settled: [], summary, againInMs: undefined };
}
