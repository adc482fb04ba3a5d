// What we know about an app beyond what the cluster shows: kept in its AppMemory, so that a restart forgets nothing a safety
// decision rests on (promises C1, C3). decide/ computes the next record from the present one; api/record.ts reads and writes it.
import type { Bytes } from "./bytes.ts";
import type { RaiseReason } from "./reasons.ts";

export interface Memory {
  readonly limit: Bytes;
  readonly request: Bytes | undefined;
}

export interface AppRecord {
  /** Per container: the most that was applied, so that new pods start with it. */
  readonly learned: readonly Learned[];
  /** What is being done, at most one per pod (and one for the template). Written before anything is done. */
  readonly intents: readonly Intent[];
  /** What was done, oldest first; the last 50. */
  readonly actions: readonly Action[];
  /** Kills that were counted: the highest restart count per pod and container. Pods that are gone are dropped. */
  readonly kills: readonly CountedKill[];
  /** What a pod was seen to have been given by us: less than that in its spec means that somebody took it back. */
  readonly given: readonly Given[];
  /** How often somebody took back what we gave, since the AppMonitor was last edited. */
  readonly reverts: number;
  /** The app is left alone, until the AppMonitor is edited (its generation changes) or, for a pod, the pod is replaced. */
  readonly stops: readonly Stop[];
  /** Ever. */
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
  raises: 0,
  oomKills: 0,
};

export interface Learned {
  readonly container: string;
  readonly limit: Bytes;
  readonly request: Bytes | undefined;
  /** Pods made after this get it from the start; older ones only when they need it themselves. */
  readonly atMs: number;
}

/** How a raise reaches a pod. */
export type Road = "InPlace" | "CopyPod" | "Template";

export interface Change {
  readonly container: string;
  readonly from: Memory;
  readonly to: Memory;
  /** Which cap made it less than was wanted: "maxMemory", "LimitRange/small", "ResourceQuota/team", "Node/n1". */
  readonly cappedBy?: string;
}

export interface Intent {
  /** Deterministic: what the intent is about and how often it was tried; two of us make the same. */
  readonly id: string;
  readonly road: Road;
  /** The pod that is too small. For Template: the pod that gave reason to it. */
  readonly pod: { readonly name: string; readonly uid: string };
  readonly changes: readonly Change[];
  readonly reason: RaiseReason;
  readonly atMs: number;
  readonly attempt: number;
  /** CopyPod: the name of the bigger copy. */
  readonly copy?: string;
  /** In place: first the limits, then the requests where the node has room. Set once the limits are confirmed. */
  readonly limitsApplied?: boolean;
  /** Why it does not go on, if it does not: "Deferred", "Infeasible", "Refused: …". */
  readonly waitingFor?: string;
}

export type ActionOutcome = "Applied" | "Abandoned" | "Infeasible" | "Refused" | "NotReady";

export interface Action {
  readonly atMs: number;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly changes: readonly Change[];
  readonly road: Road;
  readonly reason: RaiseReason;
  readonly outcome: ActionOutcome;
  readonly detail?: string;
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
  readonly reason: "SuspectedLeak" | "RaisesFutile" | "Contested";
  readonly atMs: number;
  /** The pod it is about; undefined: the whole app. */
  readonly uid?: string;
  /** Of the AppMonitor when it was stopped. */
  readonly monitorUid: string;
  readonly monitorGeneration: number;
}
