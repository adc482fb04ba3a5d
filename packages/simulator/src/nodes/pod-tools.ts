// What the pods of a node are given by it: time and chance, what their containers do, and somebody to tell.
import type { Environment, Pod, Stored } from "@memhog/runtime";
import type { Amounts } from "./amounts.ts";
import type { ContainerRun } from "./container-run.ts";
import type { Pull } from "./images.ts";
import type { ProgramOf } from "./program/program.ts";

/** How long things take on a node, in milliseconds. */
export interface Timing {
  /** Until a pod has its network. @default 300 */
  readonly sandboxMs: number;
  /** Until a container that was decided to start runs. @default 400 */
  readonly createMs: number;
  /** From a resize that was admitted to the new limit. @default 100 */
  readonly resizeMs: number;
  /** From the end of the last container to nothing left. @default 500 */
  readonly cleanUpMs: number;
}

export const defaultTiming: Timing = { sandboxMs: 300, createMs: 400, resizeMs: 100, cleanUpMs: 500 };

/** Something worth an Event. */
export interface NodeRemark {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** If it is about one of the containers. */
  readonly container?: ContainerRun;
}

/** What there is on the node. */
export interface Room {
  readonly allocatable: Amounts;
  /** What is allocated to all other pods. */
  readonly usedByOthers: Amounts;
}

export interface Addresses {
  take(uid: string): string;
  giveBack(uid: string): void;
}

export interface PodTools {
  readonly environment: Environment;
  readonly timing: Timing;
  readonly pull: Pull;
  readonly programOf: ProgramOf | undefined;
  readonly addresses: Addresses;
  readonly tell: (remark: NodeRemark) => void;
  /** How full the node is, as this pod sees it. */
  readonly roomFor: (pod: Stored<Pod>) => Room;
}
