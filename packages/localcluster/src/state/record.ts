// What is written down about a cluster, for processes that come later: `status`, `down`, `load`, and whoever finds it abandoned.
import { readlinkSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { readStat } from "../process/proc.ts";
import type { ClusterDirectory } from "./directory.ts";

/** The process that started the cluster and whose end is the cluster's end; or nobody, after `localcluster up`. */
export type Owner = { readonly pid: number; readonly startTime: string } | "detached";

export interface ClusterRecord {
  readonly name: string;
  /** The release: "1.37.1". */
  readonly kubernetes: string;
  /** As it was asked for, if it was: "1.37". */
  readonly askedFor?: string;
  readonly owner: Owner;
  /** Where its processes can be seen. Containers may share a state folder, and not see each other's processes. */
  readonly pidNamespace: string;
  readonly createdAt: string;
  readonly nodes: "none" | "real";
  /** What is not real: so many nodes, or the whole cluster. */
  readonly simulated?: { readonly whole: boolean; readonly nodes: number };
  /** What runs beside etcd and the API server. */
  readonly controllers: readonly string[];
  /** From here on only once it is ready. */
  readonly server?: string;
  /** The names of everything that runs. */
  readonly components?: readonly string[];
  readonly prometheus?: string;
  readonly auditLog?: string;
  /** A copy of the kubeconfig that was written elsewhere by request (`up --kubeconfig FILE`), to be removed with the cluster. */
  readonly kubeconfigCopy?: string;
}

/** This process, such that no later process with the same number is taken for it. */
export function thisProcess(): Owner {
  return { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "" };
}

/** The name of the pid namespace that this process is in. */
export function pidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid");
}

/** A cluster that belongs to nobody who lives. What has no readable record died while it was being made. */
export function isAbandoned(record: ClusterRecord | undefined): boolean {
  if (record === undefined) return true;
  // Its owner may be alive where we cannot see it; only a person can tell (`down NAME`).
  if (record.owner === "detached" || record.pidNamespace !== pidNamespace()) return false;
  const stat = readStat(record.owner.pid);
  return stat === undefined || stat.state === "Z" || stat.startTime !== record.owner.startTime;
}

export async function readRecord(directory: ClusterDirectory): Promise<ClusterRecord | undefined> {
  try {
    return JSON.parse(await readFile(directory.record, "utf8")) as ClusterRecord;
  } catch {
    return undefined;
  }
}

/** Replaced as a whole: nobody ever reads half a record. */
export async function writeRecord(directory: ClusterDirectory, record: ClusterRecord): Promise<void> {
  const next = `${directory.record}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  await rename(next, directory.record);
}

/** Whether anybody makes service accounts and clears namespaces. */
export function hasControllers({ controllers }: ClusterRecord): boolean {
  return controllers.includes("kube-controller-manager");
}
