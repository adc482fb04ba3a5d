// Checks whether a real node can run on this machine, before anything is started. All unmet requirements are reported at once.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { NodeUnsupportedError, reasonOf, type UnmetRequirement, UnsupportedPlatformError } from "../errors.ts";
import { controllersOf, hierarchies } from "./cgroups.ts";

/** What the requirements are checked against. */
export interface Machine {
  readonly platform: string;
  readonly uid: number;
  /** The effective capabilities of this process: the bits of CapEff in /proc/self/status. */
  readonly capabilities: bigint;
  /** Of all hierarchies. */
  readonly controllers: readonly string[];
  /** One hierarchy for all controllers: version 2. */
  readonly isUnified: boolean;
  readonly hasKernelLog: boolean;
  /** Why namespaces cannot be created; undefined if they can. */
  readonly namespaceProblem: string | undefined;
}

/** Bit numbers. CAP_SYS_RESOURCE is not required. */
const capabilities = { CAP_KILL: 5n, CAP_NET_ADMIN: 12n, CAP_SYS_CHROOT: 18n, CAP_SYS_ADMIN: 21n, CAP_MKNOD: 27n };

/** Throws a NodeUnsupportedError that lists every unmet requirement. */
export async function checkNodeRequirements(): Promise<void> {
  if (process.platform !== "linux") throw new UnsupportedPlatformError(process.platform);
  const requirements = unmetRequirements(await readMachine());
  if (requirements.length > 0) throw new NodeUnsupportedError(requirements);
}

export function unmetRequirements(machine: Machine): readonly UnmetRequirement[] {
  if (machine.uid !== 0) {
    // Without root, the other checks say nothing.
    return [{ code: "NOT_ROOT", message: `expected to run as root, found user ${machine.uid}: use sudo` }];
  }
  return [...capabilityProblems(machine), ...namespaceProblems(machine), ...cgroupProblems(machine), ...deviceProblems(machine)];
}

function capabilityProblems(machine: Machine): readonly UnmetRequirement[] {
  const missing = Object.entries(capabilities).filter(([, bit]) => (machine.capabilities & (1n << bit)) === 0n);
  if (missing.length === 0) return [];
  const names = missing.map(([name]) => name).join(", ");
  return [
    {
      code: "CAPABILITY_MISSING",
      message: `expected the capabilities of root, found ${names} missing: run the container as privileged`,
    },
  ];
}

function namespaceProblems({ namespaceProblem }: Machine): readonly UnmetRequirement[] {
  if (namespaceProblem === undefined) return [];
  return [{ code: "NAMESPACE_MISSING", message: `cannot create mount, network and pid namespaces: ${namespaceProblem}` }];
}

function cgroupProblems({ controllers, isUnified }: Machine): readonly UnmetRequirement[] {
  // With version 1 the kubelet requires cpusets.
  const needed = ["memory", "cpu", "pids", ...(isUnified ? [] : ["cpuset"])];
  const missing = needed.filter((name) => !controllers.includes(name));
  if (missing.length === 0) return [];
  const found = controllers.length === 0 ? "none" : controllers.join(", ");
  return [
    {
      code: "CGROUP_MISSING",
      message: `expected the cgroup controllers ${missing.join(", ")}, found ${found}: mount cgroups at /sys/fs/cgroup, or boot with cgroup_enable=memory`,
    },
  ];
}

function deviceProblems({ hasKernelLog }: Machine): readonly UnmetRequirement[] {
  if (hasKernelLog) return [];
  return [{ code: "DEVICE_MISSING", message: "expected /dev/kmsg, where the kubelet reads of OOM kills, found none" }];
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

/** Depends on the kernel, seccomp and security modules, so the only reliable check is to try. */
async function tryNamespaces(): Promise<string | undefined> {
  try {
    await promisify(execFile)("unshare", ["--mount", "--net", "--pid", "--fork", "--mount-proc", "true"]);
    return undefined;
  } catch (error) {
    return reasonOf(error).trim().split("\n").at(-1);
  }
}
