// Follows one hog with growing memory in its cgroup, ten times a second: when it crossed the threshold, when its limit
// was raised, and how it ended.
import { hogPod } from "@memhog/hog";
import type { Cluster, KubernetesObject } from "@memhog/localcluster";
import { type CgroupReader, cgroupOf } from "./cgroup.ts";
import { pause } from "./operator-process.ts";

const mib = 2 ** 20;
const limit = 384 * mib;
const threshold = 0.75 * limit;

export interface RampOptions {
  readonly name: string;
  readonly namespace: string;
  /** For example "10Mi/s". */
  readonly rate: string;
  /** The run ends at this usage in bytes. The limit must have been raised by then, or the hog has been OOM-killed. */
  readonly goal: number;
}

export interface RampResult {
  readonly name: string;
  readonly killed: boolean;
  /**
   * Seconds from crossing 75 % to a larger limit in the cgroup; negative if the raise came first; NaN if it was
   * OOM-killed first.
   */
  readonly reaction: number;
  /** Limit ÷ usage at the end; NaN if it was OOM-killed. */
  readonly grantedPerUse: number;
}

/** Runs the hog until its goal or its end, then deletes the pod. */
export async function runRamp(cluster: Cluster, { name, namespace, rate, goal }: RampOptions): Promise<RampResult> {
  const pod = hogPod({ name, args: ["--idle", "60s", "--ramp", rate], limit: "384Mi", request: "256Mi", monitored: true });
  const [applied] = await cluster.apply({ ...pod, metadata: { ...pod.metadata, namespace } });
  try {
    const seen = await follow(await cgroupOfPod(cluster, name, namespace), goal);
    if (seen.gone) await mustBeKilled(cluster, name, namespace);
    const reaction = (seen.largerAt - seen.crossedAt) / 1000;
    return { name, killed: seen.gone, reaction, grantedPerUse: seen.gone ? Number.NaN : seen.limit / seen.workingSet };
  } finally {
    if (applied !== undefined) await cluster.delete(applied);
  }
}

async function cgroupOfPod(cluster: Cluster, name: string, namespace: string): Promise<CgroupReader> {
  const find = async () => {
    const id = (await cluster.pod(name, namespace))?.status.containerStatuses?.[0]?.containerID?.replace("containerd://", "");
    return id === undefined ? undefined : cgroupOf(id);
  };
  const found = await cluster.eventually(find, (reader) => reader !== undefined, { timeoutMs: 240_000, what: `${name} runs` });
  if (found === undefined) throw new Error(`${name} has no cgroup`);
  return found;
}

/** Reads until the usage reaches the goal and both times are known, or the cgroup no longer exists. */
async function follow(read: CgroupReader, goal: number) {
  let [crossedAt, largerAt] = [Number.NaN, Number.NaN];
  let last = { limit: Number.NaN, workingSet: Number.NaN };
  for (;;) {
    const seen = read();
    const now = performance.now();
    if (seen === undefined) return { ...last, crossedAt, largerAt, gone: true };
    last = seen;
    if (Number.isNaN(crossedAt) && seen.workingSet >= threshold) crossedAt = now;
    if (Number.isNaN(largerAt) && seen.limit > limit) largerAt = now;
    const isKnown = !Number.isNaN(crossedAt) && !Number.isNaN(largerAt);
    if (seen.workingSet >= goal && isKnown) return { ...last, crossedAt, largerAt, gone: false };
    await pause(100);
  }
}

/** Fails if the container ended for another reason than an OOM kill, which would otherwise be counted as one. */
async function mustBeKilled(cluster: Cluster, name: string, namespace: string): Promise<void> {
  const reasonOf = (pod: KubernetesObject | undefined) => {
    const [status] = pod?.status.containerStatuses ?? [];
    return status?.lastState?.terminated?.reason ?? status?.state?.terminated?.reason;
  };
  const reason = await cluster.eventually(
    async () => reasonOf(await cluster.pod(name, namespace)),
    (found) => found !== undefined,
    { timeoutMs: 60_000, what: `${name} has ended` },
  );
  if (reason !== "OOMKilled") throw new Error(`expected ${name} to run or to be killed for its memory, found ${reason}`);
}
