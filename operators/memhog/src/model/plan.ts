// What decide() answers: a verdict for every container with its reason, the record to be stored before anything is done, and the
// commands that the open intents of that record call for now. A command names everything it changes and what it rests on; whoever
// carries it out adds no judgement, and may do so twice.
import type { Bytes } from "./bytes.ts";
import type { HoldReason, RaiseReason } from "./reasons.ts";
import type { ActionOutcome, AppRecord, Change, Intent, Memory } from "./record.ts";
import type { AppSeen } from "./seen.ts";

export interface Plan {
  readonly verdicts: readonly Verdict[];
  readonly record: AppRecord;
  readonly commands: readonly Command[];
  /** Intents that ended with this plan, for Events and metrics: they are among record.actions. */
  readonly settled: readonly { readonly intent: Intent; readonly outcome: ActionOutcome; readonly detail?: string }[];
  /** In one word and one sentence, for columns and conditions. */
  readonly summary: Summary;
  /** Look again after this even if nothing changes: a cooldown ends, a copy has had its time. */
  readonly againInMs: number | undefined;
}

export type Phase = "Watching" | "Raising" | "Waiting" | "Stopped";

export interface Summary {
  readonly phase: Phase;
  readonly reason: RaiseReason | HoldReason;
  readonly message: string;
  /** Of the container that matters most: the one that is changed, or else the one nearest to its limit. */
  readonly container: string | undefined;
  readonly limit: Bytes | undefined;
  readonly wanted: Bytes | undefined;
  readonly applied: Bytes | undefined;
  /** Whom we share the memory with, or leave it to. */
  readonly rival: AppSeen["rival"];
}

export interface Verdict {
  readonly pod: { readonly name: string; readonly uid: string };
  readonly container: string;
  readonly decision: Decision;
  readonly inputs: Inputs;
}

/** A decision is a value with a reason; `detail` is the sentence with the numbers in it. */
export type Decision =
  | {
      readonly kind: "hold";
      readonly reason: HoldReason;
      readonly detail: string;
      readonly wanted?: Memory;
      readonly cap?: string;
    }
  | {
      readonly kind: "raise";
      readonly reason: RaiseReason;
      readonly detail: string;
      readonly from: Memory;
      readonly wanted: Memory;
      readonly granted: Memory;
      readonly cappedBy?: string;
    };

/** What the decision rests on, for `explain` and -v4. */
export interface Inputs {
  readonly usage: Bytes | undefined;
  readonly sampleAgeMs: number | undefined;
  readonly limit: Bytes | undefined;
  readonly request: Bytes | undefined;
  readonly thresholdBytes: Bytes | undefined;
  /** Bytes per second; undefined where the samples show none. */
  readonly growth: number | undefined;
  /** Until the trend meets the limit. */
  readonly runsOutInMs: number | undefined;
  readonly cooldownLeftMs: number;
  readonly raisesLastHour: number;
  /** Every cap that was looked at, the tightest first. */
  readonly caps: readonly Cap[];
}

export interface Cap {
  /** "maxMemory", "LimitRange/small", "ResourceQuota/team", "Node/n1". */
  readonly name: string;
  readonly of: "limit" | "request";
  /** The most it allows this container. */
  readonly most: Bytes;
}

export type Command =
  /** PATCH pods/resize. `step`: limits alone (Burstable, they need no room), then requests; both at once for Guaranteed. */
  | {
      readonly do: "resize";
      readonly intent: Intent;
      readonly resourceVersion: string;
      readonly step: "limits" | "requests" | "both";
    }
  /** Create the bigger copy of a bare pod. */
  | { readonly do: "createCopy"; readonly intent: Intent; readonly copy: string }
  /** Delete the original (its bigger copy is Ready), or a copy that never became Ready. By UID. */
  | {
      readonly do: "deletePod";
      readonly intent: Intent;
      readonly name: string;
      readonly uid: string;
      readonly why: "Replaced" | "NotReady";
    }
  /** Apply the changes to the pod template of the owner. */
  | {
      readonly do: "patchTemplate";
      readonly intent: Intent;
      readonly resourceVersion: string;
      readonly changes: readonly Change[];
    }
  /** Evict one pod that is still of the old template. By UID and resourceVersion. */
  | {
      readonly do: "evict";
      readonly intent: Intent;
      readonly name: string;
      readonly uid: string;
      readonly resourceVersion: string;
    };
