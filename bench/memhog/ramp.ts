// One hog that takes more and more memory, followed in the files of the kernel ten times a second: when it crossed the threshold,
// when it was allowed more, and how that ended.
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
  /** "10Mi/s" */
  readonly rate: string;
  /** Bytes in use at which it is over; it must have been allowed more by then, or it has been killed. */
  readonly goal: number;
}

export interface RampResult {
  readonly name: string;
  readonly killed: boolean;
  /** Seconds from the crossing of 75 % to a larger limit in the cgroup; negative: before it. NaN: it was killed first. */
  readonly reaction: number;
  /** Limit ÷ use at the end. NaN: it was killed. */
  readonly grantedPerUse: number;
}

/** Runs it to its goal or its end; the pod goes then. */
export async function runRamp(cluster: Cluster, { name, namespace, rate, goal }: RampOptions): Promise<RampResult> {
  const pod = hogPod({ name, args: ["--ramp", rate], limit: "384Mi", request: "256Mi", monitored: true });
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

/** Until it uses as much as is wanted and both moments are known, or its cgroup has gone. */
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

/** A container that ended for another reason than ours would be counted as what it is not. */
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
