// The state of a cluster on disk. Everything a cluster writes is below <state root>/<name>/. Each of its processes carries that path
// in its environment (process/component.ts), so the directory also tells which processes belong to the cluster.
//
// A process that creates a cluster directory, decides that it is abandoned, or removes it holds the lock on its path (lifecycle.ts).
import { readlinkSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ClusterExistsError, InvalidNameError, StatePathTooLongError } from "../errors.ts";
import { findProcesses, readStat } from "../process/proc.ts";

export interface ClusterDirectory {
  readonly name: string;
  /** Absolute path of the directory; also the value of LOCALCLUSTER in the environment of its processes. */
  readonly path: string;
  /** One file per component. */
  readonly logs: string;
  readonly pki: string;
  /** What components store: the database of etcd, the images of containerd. */
  readonly data: string;
  /** Unix sockets. The kernel allows 107 characters for a path, so names in here are short. */
  readonly run: string;
  /** TMPDIR of the components, so that their temporary files are removed with the cluster. */
  readonly tmp: string;
  /** The admin kubeconfig. */
  readonly kubeconfig: string;
  /** The ClusterRecord, as JSON. */
  readonly record: string;
}

/** A DNS label, because the name becomes a path and part of host names. */
const validName = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** Leaves 20 characters for the name of a socket. */
const longestRun = 87;

/** $LOCALCLUSTER_HOME, else the state folder of the XDG convention. */
export function stateRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.LOCALCLUSTER_HOME) return resolve(env.LOCALCLUSTER_HOME);
  return join(resolve(env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state")), "localcluster");
}

/** The paths of a cluster. Touches no files. */
export function clusterDirectory(name: string, root: string = stateRoot()): ClusterDirectory {
  if (!validName.test(name)) throw new InvalidNameError(name);
  const path = join(root, name);
  const below = (part: string) => join(path, part);
  return {
    name,
    path,
    logs: below("logs"),
    pki: below("pki"),
    data: below("data"),
    run: below("run"),
    tmp: below("tmp"),
    kubeconfig: below("kubeconfig"),
    record: below("cluster.json"),
  };
}

/**
 * Creates the directory of a new cluster together with its record, so that its owner is known from the first moment. It contains
 * private keys, so only its user can read it.
 */
export async function createClusterDirectory(directory: ClusterDirectory, record: object): Promise<void> {
  if (directory.run.length > longestRun) throw new StatePathTooLongError(directory.run, longestRun);
  await mkdir(dirname(directory.path), { recursive: true, mode: 0o700 });
  await mkdir(directory.path, { mode: 0o700 }).catch((cause) => {
    throw cause.code === "EEXIST" ? new ClusterExistsError(directory.name, { cause }) : cause;
  });
  await writeFile(directory.record, JSON.stringify(record, undefined, 2), { mode: 0o600 });
  for (const folder of [directory.logs, directory.pki, directory.data, directory.run, directory.tmp]) await mkdir(folder);
}

/** Every cluster directory below the root, whoever owns the cluster. */
export async function listClusterDirectories(root: string = stateRoot()): Promise<readonly ClusterDirectory[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const named = entries.filter((entry) => entry.isDirectory() && validName.test(entry.name));
  return named.map((entry) => clusterDirectory(entry.name, root));
}

/** What later processes (`status`, `down`, `load`, the next start) need to know about a cluster. */

/** The process that started the cluster, which ends with it; or "detached", after `localcluster up`. */
export type Owner = { readonly pid: number; readonly startTime: string } | "detached";

export interface ClusterRecord {
  readonly name: string;
  /** The release: "1.37.1". */
  readonly kubernetes: string;
  /** The version that the user asked for, if any: "1.37". */
  readonly requestedVersion?: string;
  readonly owner: Owner;
  /** Where its processes are visible: containers may share a state folder without seeing each other's processes. */
  readonly pidNamespace: string;
  readonly createdAt: string;
  readonly nodes: "none" | "real";
  /** The number of simulated nodes, and whether the control plane is simulated too. */
  readonly simulated?: { readonly controlPlane: boolean; readonly nodes: number };
  /** What runs in addition to etcd and the API server. */
  readonly controllers: readonly string[];
  /** This and what follows is set when the cluster is ready. */
  readonly server?: string;
  /** The names of all components. */
  readonly components?: readonly string[];
  readonly prometheus?: string;
  readonly auditLog?: string;
  /** The copy of the kubeconfig that `up --kubeconfig FILE` wrote. It is removed with the cluster. */
  readonly kubeconfigCopy?: string;
}

/** This process, identified so that a later process with the same pid is not mistaken for it. */
export function thisProcess(): Owner {
  return { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "" };
}

/** Identifies the pid namespace of this process. */
export function pidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid");
}

/** Whether the owner has ended. A cluster without a readable record was being created when its owner died. */
export function isAbandoned(record: ClusterRecord | undefined): boolean {
  if (record === undefined) return true;
  // The owner may be running where we cannot see it; only the user can tell (`down NAME`).
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

/** Replaces the file as a whole, so that readers never see half a record. */
export async function writeRecord(directory: ClusterDirectory, record: ClusterRecord): Promise<void> {
  const next = `${directory.record}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  await rename(next, directory.record);
}

/** Whether a controller manager creates service accounts and empties deleted namespaces. */
export function hasControllers({ controllers }: ClusterRecord): boolean {
  return controllers.includes("kube-controller-manager");
}

/**
 * A cluster as its record and its processes show it. Of a `failed` cluster only the logs are left; an `abandoned` one is removed by
 * the next start or by `down --all`.
 */
export type State = "running" | "starting" | "broken" | "failed" | "abandoned";

export interface ClusterStatus {
  readonly name: string;
  readonly state: State;
  /** Components that should be running and are not. */
  readonly missing: readonly string[];
  readonly directory: ClusterDirectory;
  readonly record: ClusterRecord | undefined;
}

export async function statusOfAll(root: string): Promise<readonly ClusterStatus[]> {
  const directories = await listClusterDirectories(root);
  return Promise.all(directories.map(statusOf));
}

async function statusOf(directory: ClusterDirectory): Promise<ClusterStatus> {
  const record = await readRecord(directory);
  const running = new Set(findProcesses((path) => path === directory.path).map(({ component }) => component));
  return { name: directory.name, directory, record, ...stateOf(record, running) };
}

export function stateOf(
  record: ClusterRecord | undefined,
  running: ReadonlySet<string>,
  abandoned: boolean = isAbandoned(record),
): Pick<ClusterStatus, "state" | "missing"> {
  const missing = (record?.components ?? []).filter((name) => !running.has(name));
  if (abandoned) return { state: "abandoned", missing };
  if (record?.components === undefined) return { state: running.size > 0 ? "starting" : "failed", missing };
  return { state: missing.length === 0 ? "running" : "broken", missing };
}
