// What a node provides to its pods: time, randomness, programs, event recording, images, addresses.

import { createHash } from "node:crypto";
import type { Environment, Pod, Stored } from "@memhog/runtime";
import type { Amounts } from "./amounts.ts";
import type { ContainerRun } from "./container-run.ts";
import type { ProgramOf } from "./program.ts";

/** Durations of the steps of a pod, in milliseconds. */
export interface Timing {
  /** Creating the pod sandbox. @default 300 */
  readonly sandboxMs: number;
  /** Creating and starting a container. @default 400 */
  readonly createMs: number;
  /** From an admitted resize to the new limit. @default 100 */
  readonly resizeMs: number;
  /** From the termination of the last container to the end of the cleanup. @default 500 */
  readonly cleanUpMs: number;
}

export const defaultTiming: Timing = { sandboxMs: 300, createMs: 400, resizeMs: 100, cleanUpMs: 500 };

/** The content of an Event. */
export interface NodeRemark {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Set if the event is about one container. */
  readonly container?: ContainerRun;
}

/** The resources of the node. */
export interface Room {
  readonly allocatable: Amounts;
  /** Allocated to all other pods. */
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
  /** The resources of the node without those of this pod. */
  readonly roomFor: (pod: Stored<Pod>) => Room;
}

// Images. None is pulled: an image is present, takes time or fails, as the test specifies. By default all images are present.

interface PullOutcome {
  /** Duration of the pull in milliseconds. @default 0: the image is present */
  readonly tookMs?: number;
  /** The error of the pull. Every attempt fails. */
  readonly error?: string;
}

/** The result of an image pull. Undefined: the image is present. */
export type Pull = (image: string) => PullOutcome | undefined;

/** The error of containerd for an image that no registry has. */
export function notFound(image: string): PullOutcome {
  const name = canonicalImage(image);
  return {
    error: `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${name}: not found`,
  };
}

/** "busybox" → "docker.io/library/busybox:latest". */
export function canonicalImage(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const named = hasRegistry ? image : `docker.io/${rest.length > 0 ? "" : "library/"}${image}`;
  const last = named.slice(named.lastIndexOf("/") + 1);
  return /[:@]/.test(last) ? named : `${named}:latest`;
}

export function imageId(image: string): string {
  return `sha256:${createHash("sha256").update(canonicalImage(image)).digest("hex")}`;
}

// Pod addresses: each node has 254.

const perNode = 254;

/** 10.244.0.2 … on the first node, 10.244.1.2 … on the second, 10.245.0.2 … on the 257th. */
export function podAddresses(nodeIndex: number): Addresses {
  const prefix = `10.${244 + (nodeIndex >> 8)}.${nodeIndex & 255}`;
  const taken = new Map<string, number>();
  let last = 0;
  return {
    take(uid) {
      const known = taken.get(uid);
      if (known !== undefined) return `${prefix}.${known + 1}`;
      const used = new Set(taken.values());
      if (used.size >= perNode - 1) throw new RangeError(`expected a free address in ${prefix}.0/24, found none`);
      do last = (last % (perNode - 1)) + 1;
      while (used.has(last));
      taken.set(uid, last);
      return `${prefix}.${last + 1}`;
    },
    giveBack: (uid) => void taken.delete(uid),
  };
}
