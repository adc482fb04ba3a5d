// Why a real node cannot work here, said before anything is started and all at once: whoever has to ask for rights does not
// want to ask three times.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { NodeImpossibleError, type Obstacle, reasonOf, UnsupportedPlatformError } from "../errors.ts";
import { controllersOf, hierarchies } from "./hierarchies.ts";

/** What we look at. */
export interface Machine {
  readonly platform: string;
  readonly uid: number;
  /** The effective capabilities of this process: the bits of CapEff in /proc/self/status. */
  readonly capabilities: bigint;
  /** Of every hierarchy. */
  readonly controllers: readonly string[];
  /** One hierarchy for all of them: version 2. */
  readonly isUnified: boolean;
  readonly hasKernelLog: boolean;
  /** Why no sandbox can be made; undefined if one was, on trial. */
  readonly namespaceProblem: string | undefined;
}

/** Bits of /proc/self/status. CAP_SYS_RESOURCE is not among them: a node works without it. */
const capabilities = { CAP_KILL: 5n, CAP_NET_ADMIN: 12n, CAP_SYS_CHROOT: 18n, CAP_SYS_ADMIN: 21n, CAP_MKNOD: 27n };

/** Throws a NodeImpossibleError that names every obstacle. */
export async function checkNodeIsPossible(): Promise<void> {
  if (process.platform !== "linux") throw new UnsupportedPlatformError(process.platform);
  const obstacles = obstaclesOn(await readMachine());
  if (obstacles.length > 0) throw new NodeImpossibleError(obstacles);
}

export function obstaclesOn(machine: Machine): readonly Obstacle[] {
  if (machine.uid !== 0) {
    // Without root the other answers mean nothing.
    return [{ code: "NOT_ROOT", message: `expected to run as root, found user ${machine.uid}: use sudo` }];
  }
  return [
    ...capabilityObstacles(machine),
    ...namespaceObstacles(machine),
    ...cgroupObstacles(machine),
    ...deviceObstacles(machine),
  ];
}

function capabilityObstacles(machine: Machine): readonly Obstacle[] {
  const missing = Object.entries(capabilities).filter(([, bit]) => (machine.capabilities & (1n << bit)) === 0n);
  if (missing.length === 0) return [];
  const names = missing.map(([name]) => name).join(", ");
  return [{ code: "CAPABILITY_MISSING", message: `root is here without ${names}: a container must be privileged` }];
}

function namespaceObstacles({ namespaceProblem }: Machine): readonly Obstacle[] {
  if (namespaceProblem === undefined) return [];
  return [{ code: "NAMESPACE_MISSING", message: `mount, network and pid namespaces cannot be made: ${namespaceProblem}` }];
}

function cgroupObstacles({ controllers, isUnified }: Machine): readonly Obstacle[] {
  // With version 1 the kubelet insists on cpusets; with version 2 it takes what there is.
  const needed = ["memory", "cpu", "pids", ...(isUnified ? [] : ["cpuset"])];
  const missing = needed.filter((name) => !controllers.includes(name));
  if (missing.length === 0) return [];
  const found = controllers.length === 0 ? "none" : controllers.join(", ");
  return [
    {
      code: "CGROUP_MISSING",
      message: `no cgroup controller for ${missing.join(", ")} (found ${found}): mount cgroups at /sys/fs/cgroup, or boot with cgroup_enable=memory`,
    },
  ];
}

function deviceObstacles({ hasKernelLog }: Machine): readonly Obstacle[] {
  if (hasKernelLog) return [];
  return [{ code: "DEVICE_MISSING", message: "there is no /dev/kmsg, where the kubelet reads of OOM kills" }];
}

async function readMachine(): Promise<Machine> {
  return {
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    capabilities: BigInt(`0x${/^CapEff:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0"}`),
    controllers: hierarchies().flatMap(controllersOf),
    isUnified: hierarchies().every(({ version }) => version === 2),
    hasKernelLog: existsSync("/dev/kmsg"),
    namespaceProblem: await tryNamespaces(),
  };
}

/** Whether they can be made depends on the kernel, seccomp and security modules; the only honest answer is to try. */
async function tryNamespaces(): Promise<string | undefined> {
  try {
    await promisify(execFile)("unshare", ["--mount", "--net", "--pid", "--fork", "--mount-proc", "true"]);
    return undefined;
  } catch (error) {
    return reasonOf(error).trim().split("\n").at(-1);
  }
}
