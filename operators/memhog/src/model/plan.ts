// What decide() returns: a verdict on every container, the record to store before anything is changed, and the commands to run now.
// A command names what it changes and what the decision was based on. It is safe to run twice.
import type { Bytes } from "./bytes.ts";
import type { ObservedApp } from "./observed-app.ts";
import type { ActionCause, HoldReason, RaiseReason, ShrinkHoldReason, WaitReason } from "./reasons.ts";

export interface Plan {
  readonly verdicts: readonly Verdict[];
  readonly record: AppRecord;
  readonly commands: readonly Command[];
  /** Intents that ended with this plan, for Events and metrics. They are also in record.actions. */
  readonly settled: readonly { readonly intent: Intent; readonly outcome: ActionOutcome; readonly message?: string }[];
  /** For columns and conditions. */
  readonly summary: Summary;
  /** What is taken back, and why not. Unset unless the AppMonitor asks for it (decide/shrink.ts). */
  readonly shrinks?: ShrinkPlan;
  /** Reconcile again after this time even without an event: a cooldown ends, or a copy times out. */
  readonly requeueAfterMs: number | undefined;
}

export type Phase = "Watching" | "Raising" | "Waiting" | "Stopped";

export interface Summary {
  readonly phase: Phase;
  readonly reason: RaiseReason | HoldReason;
  readonly message: string;
  /** The container that is raised, otherwise the one nearest to its limit. */
  readonly container: string | undefined;
  readonly limit: Bytes | undefined;
  readonly wanted: Bytes | undefined;
  readonly applied: Bytes | undefined;
  /** The autoscaler that also manages the app. */
  readonly otherAutoscaler: ObservedApp["otherAutoscaler"];
}

export interface Verdict {
  readonly pod: { readonly name: string; readonly uid: string };
  readonly container: string;
  readonly decision: Decision;
  readonly inputs: Inputs;
}

/** `reason` is for programs, `detail` is for people. */
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

/** The numbers that the decision is based on, for `explain` and -v4. */
export interface Inputs {
  readonly usage: Bytes | undefined;
  readonly sampleAgeMs: number | undefined;
  readonly limit: Bytes | undefined;
  readonly request: Bytes | undefined;
  readonly thresholdBytes: Bytes | undefined;
  /** Bytes per second; undefined if the samples show none. */
  readonly growth: number | undefined;
  /** Until usage reaches the limit at this rate. */
  readonly runsOutInMs: number | undefined;
  readonly cooldownLeftMs: number;
  readonly raisesLastHour: number;
  /** Every cap that applies, the lowest first. */
  readonly caps: readonly Cap[];
}

export interface Cap {
  /** "maxMemory", "DefaultCap/Multiple", "LimitRange/small", "ResourceQuota/team", "Node/n1". */
  readonly name: string;
  readonly of: "limit" | "request";
  /** The most it allows this container, in bytes. */
  readonly most: Bytes;
}

export type Command =
  /** PATCH pods/resize. Burstable pods get their limits first, then their requests; Guaranteed pods get both at once. */
  | {
      readonly do: "resize";
      readonly intent: Intent;
      readonly resourceVersion: string;
      readonly step: "limits" | "requests" | "both";
    }
  /** Create the larger copy of a bare pod. */
  | { readonly do: "createCopy"; readonly intent: Intent; readonly copy: string }
  /** Delete the original, whose larger copy is Ready, or a copy that never became Ready or is no longer asked for. */
  | {
      readonly do: "deletePod";
      readonly intent: Intent;
      readonly name: string;
      readonly uid: string;
      readonly why: "Replaced" | "NotReady" | "Withdrawn";
    }
  /** Apply the changes to the pod template of the owner. */
  | {
      readonly do: "patchTemplate";
      readonly intent: Intent;
      readonly resourceVersion: string;
      readonly changes: readonly Change[];
    }
  /** Set the memory in the pod template back to what it was before these changes, where it is still what memhog wrote. */
  | {
      readonly do: "restoreTemplate";
      readonly intent: Intent;
      readonly resourceVersion: string;
      readonly changes: readonly Change[];
    }
  /** Evict one pod of the old size, or one of a rollout that was undone. */
  | {
      readonly do: "evict";
      readonly intent: Intent;
      readonly name: string;
      readonly uid: string;
      readonly resourceVersion: string;
    };

// What memhog knows about an app beyond what the cluster shows. It is stored in the AppMemory of the app, so that no safety decision
// depends on process memory (C1, C3). decide/ computes the next record from the present one; api/stored-record.ts reads and writes it.

export interface Memory {
  readonly limit: Bytes;
  readonly request: Bytes | undefined;
}

export interface AppRecord {
  /** Per container and revision of the template: the largest size that was applied. New pods start with it. */
  readonly learned: readonly Learned[];
  /** Raises in progress, at most one per pod and one per template. Stored before anything is changed. */
  readonly intents: readonly Intent[];
  /** The last 50 raises that ended, oldest first. */
  readonly actions: readonly Action[];
  /** OOM kills that were counted: the highest restart count per pod and container. */
  readonly kills: readonly CountedKill[];
  /** Limits that memhog gave to pods and templates. A lower limit in the spec means that another client reverted it. */
  readonly given: readonly Given[];
  /** How often another client reverted a raise since the AppMonitor was last edited. */
  readonly reverts: number;
  /** Pods and apps that are not raised until the AppMonitor is edited (its generation changes) or the pod is replaced. */
  readonly stops: readonly Stop[];
  /** Decreases: the last one of each container, and one per container that had to be undone. */
  readonly shrinks: readonly Shrink[];
  /** Totals. */
  readonly raises: number;
  readonly oomKills: number;
}

export const emptyRecord: AppRecord = {
  learned: [],
  intents: [],
  actions: [],
  kills: [],
  given: [],
  reverts: 0,
  stops: [],
  shrinks: [],
  raises: 0,
  oomKills: 0,
};

export interface Learned {
  readonly container: string;
  /** Only pods of this revision get it: another version of the program may need less. */
  readonly revision?: string;
  readonly limit: Bytes;
  readonly request: Bytes | undefined;
  /** Pods created after this get it from the start; older ones only when they need it. */
  readonly atMs: number;
}

/** How a pod gets more memory. */
export type Method = "InPlace" | "CopyPod" | "Template";

export interface Change {
  readonly container: string;
  readonly from: Memory;
  readonly to: Memory;
  /** The cap that reduced it: "maxMemory", "LimitRange/small", "ResourceQuota/team", "Node/n1". */
  readonly cappedBy?: string;
  /** The newest sample at the time of the decision. One sample is answered by one raise. */
  readonly measured?: Measured;
}

export interface Measured {
  readonly usage: Bytes;
  /** When it was measured, on the clock that the raise was recorded with. */
  readonly atMs: number;
  /** Restart count of the container. */
  readonly restart: number;
  /** Usage did not grow at that time. */
  readonly still?: boolean;
  /** Usage has been lower by a quarter since. Usage that falls back is not a leak. */
  readonly fellBack?: boolean;
}

export interface Intent {
  /** Deterministic: two leaders make the same one. */
  readonly id: string;
  readonly method: Method;
  /** The pod that is raised. For Template: the pod that caused the raise. */
  readonly pod: { readonly name: string; readonly uid: string };
  readonly changes: readonly Change[];
  readonly reason: RaiseReason;
  readonly atMs: number;
  readonly attempt: number;
  /** CopyPod: the name of the larger copy. */
  readonly copy?: string;
  /** CopyPod: the UID of the copy, once it is created. No other pod is taken for the copy: anybody can write labels. */
  readonly copyUid?: string;
  /** InPlace: the limits are applied, and the requests follow when the node has room. */
  readonly limitsApplied?: boolean;
  /** Why it makes no progress. */
  readonly waiting?: Waiting;
}

export interface Waiting {
  readonly reason: WaitReason;
  /** For people, for example the message of the API server. No decision depends on it. */
  readonly message?: string;
}

export type ActionOutcome = "Applied" | "Abandoned" | "Infeasible" | "Refused" | "NotReady";

export interface Action {
  readonly atMs: number;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly changes: readonly Change[];
  readonly method: Method;
  readonly reason: RaiseReason;
  readonly outcome: ActionOutcome;
  readonly cause?: ActionCause;
  /** For people; no decision depends on it. */
  readonly message?: string;
}

export interface CountedKill {
  readonly uid: string;
  readonly container: string;
  readonly restart: number;
}

export interface Given {
  readonly uid: string;
  readonly container: string;
  readonly limit: Bytes;
}

export interface Stop {
  readonly reason: "SuspectedLeak" | "UsageFollowsLimit" | "RaisesIneffective" | "Contested";
  readonly atMs: number;
  /** The pod; undefined for the whole app. */
  readonly uid?: string;
  /** The container; undefined for all of them. The others are still raised. */
  readonly container?: string;
  /** The AppMonitor at the time of the stop. */
  readonly monitorUid: string;
  readonly monitorGeneration: number;
}

/** A decrease of the memory of one container, in place. */
export interface Shrink {
  readonly pod: { readonly name: string; readonly uid: string };
  readonly container: string;
  readonly from: Memory;
  readonly to: Memory;
  readonly atMs: number;
  /**
   * Pending: stored, and not confirmed by the kubelet. Reverting: the kubelet cannot apply it, and the spec is set back. Undone: usage
   * came near, and this container is never lowered again. Refused: the API server rejected it; tried again after a day.
   */
  readonly state: "Pending" | "Applied" | "Reverting" | "Undone" | "Refused";
}

export type ShrinkDecision =
  | { readonly kind: "hold"; readonly reason: ShrinkHoldReason; readonly detail: string }
  | {
      readonly kind: "shrink";
      readonly reason: "ShrinkDue";
      readonly detail: string;
      readonly from: Memory;
      readonly to: Memory;
    };

export interface ShrinkVerdict {
  readonly pod: { readonly name: string; readonly uid: string };
  readonly container: string;
  readonly decision: ShrinkDecision;
}

export interface ShrinkPlan {
  readonly verdicts: readonly ShrinkVerdict[];
  /** PATCH pods/resize to `to`, or back to `from` while Reverting. */
  readonly command?: { readonly shrink: Shrink; readonly resourceVersion: string };
}

/** How many past actions are kept: enough to count the raises of an hour, and to see the shape of years. */
export const keptActions = 50;
