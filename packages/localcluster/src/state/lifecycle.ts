// How a cluster gets its directory, and how it is removed: by its owner, when its owner ends, or by the next start if the owner was
// killed.
//
// Checking whether a cluster is abandoned, removing it and creating another in its place is one step, under a lock: otherwise two
// processes at the same time could each remove what the other has just created.
import { existsSync, rmSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ClusterExistsError, ClusterNotFoundError, UnkillableError } from "../errors.ts";
import { removeCgroups } from "../node/cgroups.ts";
import { takeLock } from "../process/lock.ts";
import { findProcesses, type MarkedProcess } from "../process/proc.ts";
import {
  type ClusterDirectory,
  type ClusterRecord,
  clusterDirectory,
  createClusterDirectory,
  isAbandoned,
  listClusterDirectories,
  pidNamespace,
  readRecord,
} from "./directory.ts";

/** Creates the directory of a new cluster, after removing an abandoned cluster of the same name. */
export async function claimName(directory: ClusterDirectory, record: ClusterRecord, signal?: AbortSignal): Promise<void> {
  await using _lock = await lockOn(directory, signal);
  if (existsSync(directory.path)) {
    if (!(await isDead(directory))) throw new ClusterExistsError(directory.name);
    await cleanUp(directory);
  }
  await createClusterDirectory(directory, record);
}

/** Removes the clusters below the root whose owners have ended. Returns their names. */
export async function removeAbandoned(root: string, signal?: AbortSignal): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const directory of await listClusterDirectories(root)) {
    await using _lock = await lockOn(directory, signal);
    if (!isAbandoned(await readRecord(directory)) || !existsSync(directory.path)) continue;
    await cleanUp(directory);
    removed.push(directory.name);
  }
  return removed;
}

/** Removes a cluster, whoever owns it. */
export async function removeCluster(directory: ClusterDirectory, root: string): Promise<void> {
  await using _lock = await lockOn(directory);
  const known = (await listClusterDirectories(root)).map(({ name }) => name);
  if (!known.includes(directory.name)) throw new ClusterNotFoundError(directory.name, known);
  await cleanUp(directory);
}

/** Removes every cluster below the root, and processes whose cluster directory was deleted. Returns the names of the clusters. */
export async function removeAllClusters(root: string): Promise<readonly string[]> {
  const directories = await listClusterDirectories(root);
  for (const directory of directories) {
    await using _lock = await lockOn(directory);
    await cleanUp(directory);
  }
  const orphaned = new Set(findProcesses((path) => dirname(path) === root).map(({ directory }) => basename(directory)));
  for (const name of orphaned) await cleanUp(clusterDirectory(name, root));
  return directories.map(({ name }) => name);
}

/** Abandoned by its owner; or detached, with no process left (the machine was restarted). */
async function isDead(directory: ClusterDirectory): Promise<boolean> {
  const record = await readRecord(directory);
  if (record === undefined || isAbandoned(record)) return true;
  if (record.owner !== "detached" || record.pidNamespace !== pidNamespace()) return false;
  return findProcesses((path) => path === directory.path).length === 0;
}

function lockOn({ path }: ClusterDirectory, signal?: AbortSignal): Promise<AsyncDisposable> {
  return takeLock(path, { signal, waiting: (_holder, free) => free });
}

export interface CleanUpOptions {
  /** Keeps the logs and the record until the next start: for a start or a test that failed. */
  readonly keepLogs?: boolean;
}

/**
 * Removes a cluster: its processes, the cgroups of a real node, its directory. Needs only the path, so it also works for a cluster
 * whose owner was killed. If it is interrupted, the next run completes it, because the directory goes last.
 */
export async function cleanUp(directory: ClusterDirectory, { keepLogs = false }: CleanUpOptions = {}): Promise<void> {
  const record = await readRecord(directory);
  await removeKubeconfigCopy(directory, record?.kubeconfigCopy);
  await killProcesses(directory.path);
  if (record?.nodes !== "none") await removeCgroups(directory);
  const { path, pki, data, run, tmp, kubeconfig } = directory;
  for (const part of keepLogs ? [pki, data, run, tmp, kubeconfig] : [path]) await removeTree(part);
}

/** With retries: a file may still be written for a moment after its process was killed. */
function removeTree(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** Kills every process of the cluster at once. A graceful shutdown would only tidy up files that are deleted anyway. */
async function killProcesses(path: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
    // Searched for again each time: a process may have been forked during the search.
    const left = findProcesses((directory) => directory === path);
    if (left.length === 0) return;
    killAll(left);
    // Only a process that hangs in the kernel survives that long. The directory stays, so that the process is not forgotten.
    if (performance.now() > deadline) throw new UnkillableError(left.map(({ pid, component }) => `${component} (pid ${pid})`));
    await sleep(pause);
  }
}

function killAll(processes: readonly MarkedProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // exited meanwhile
    }
  }
}

/** Only if it is unchanged: the user may have edited the file. */
async function removeKubeconfigCopy(directory: ClusterDirectory, copy: string | undefined): Promise<void> {
  if (copy === undefined) return;
  const [ours, theirs] = await Promise.all([directory.kubeconfig, copy].map((file) => readFile(file, "utf8").catch(() => "")));
  if (ours !== "" && ours === theirs) await rm(copy, { force: true });
}

export interface OwnedDirectory {
  readonly directory: ClusterDirectory;
  /** A node has cgroups to remove, and the directory tells which: it must stay until that is done. */
  readonly hasNode: boolean;
  readonly down: () => Promise<void>;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Removes a cluster when this process ends.
 *
 *   SIGINT, SIGTERM, SIGHUP     down(), and then the signal has its default effect
 *   process.exit, a crash       nothing can be awaited: its processes are killed, and the next start removes the rest
 *   SIGKILL                     nothing can be done: the next start, or `localcluster down --all`, removes it
 *
 * Dispose of the result when the cluster is removed or detached.
 */
export function stopOnExit({ directory, hasNode, down }: OwnedDirectory): Disposable {
  const removeListeners = () => {
    process.off("exit", onExit);
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onExit = () => {
    killAll(findProcesses((path) => path === directory.path));
    if (!hasNode) removeNow(directory);
  };
  const onSignal = async (signal: NodeJS.Signals) => {
    await down().catch((error) => process.stderr.write(`localcluster: ${error}\n`));
    removeListeners();
    // If there are other listeners (a test runner, another cluster), they decide how the process ends.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on("exit", onExit);
  for (const signal of signals) process.on(signal, onSignal);
  return { [Symbol.dispose]: removeListeners };
}

/** If the directory cannot be removed, it loses its record, so that the next start takes it for abandoned. */
function removeNow({ path, record }: ClusterDirectory): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    rmSync(record, { force: true });
  }
}
