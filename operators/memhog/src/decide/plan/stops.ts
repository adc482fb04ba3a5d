// A verdict may say that enough is enough. That is stored, so that a restart of ours, or an hour that goes by, does not start it
// all over again: people lift it, by an edit of the AppMonitor.

import type { Verdict } from "../../model/plan.ts";
import type { Policy } from "../../model/policy.ts";
import type { AppRecord } from "../../model/record.ts";
import type { AppSeen } from "../../model/seen.ts";
import { stopOn } from "../history.ts";
import { resizesInPlace } from "../in-place-able.ts";
import { containerOf, podOf } from "./progress.ts";
import { withStop } from "./remember.ts";

export function storeStops(seen: AppSeen, record: AppRecord, verdicts: readonly Verdict[], policy: Policy): AppRecord {
  return verdicts.reduce((sum, { pod: { uid }, container, decision }) => {
    const pod = podOf(seen, uid);
    if (pod === undefined || (decision.reason !== "SuspectedLeak" && decision.reason !== "RaisesFutile")) return sum;
    if (stopOn({ ...seen, record: sum }, pod, policy) !== undefined) return sum;
    const found = containerOf(pod, container);
    // In place a pod has its own history; where pods are replaced, the stop must outlive them.
    const about = found !== undefined && resizesInPlace(seen, pod, found) ? { uid } : {};
    const by = { monitorUid: policy.uid, monitorGeneration: policy.generation };
    return withStop(sum, { reason: decision.reason, atMs: seen.nowMs, ...about, ...by });
  }, record);
}
