// When to look again even if nothing is heard: something that only time brings about. Samples wake us every loop, so this is
// about the exact moment, and about times without samples.
import type { Verdict } from "../../model/plan.ts";
import type { AppRecord } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";
import { copyAge, copyFor, copyPatienceMs } from "./copy-pod.ts";
import type { Braked } from "./pace.ts";

export function againIn(
  seen: AppSeen,
  record: AppRecord,
  verdicts: readonly Verdict[],
  held: Iterable<Braked>,
): number | undefined {
  const cooldowns = verdicts.flatMap(({ decision, inputs }) =>
    decision.reason === "CoolingDown" ? [inputs.cooldownLeftMs] : [],
  );
  const brakes = [...held].flatMap(({ forMs }) => (forMs === undefined ? [] : [forMs]));
  const copies = record.intents.flatMap((intent) => {
    const copy = intent.road === "CopyPod" ? copyFor(seen, intent) : undefined;
    return copy === undefined || copy.ready || copy.deleting ? [] : [copyPatienceMs - copyAge(seen, intent, copy)];
  });
  const ahead = [...cooldowns, ...brakes, ...copies].filter((ms) => ms > 0);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}
