// Who may have a name. Looking whether a cluster is abandoned, removing it and making a new one in its place is one step, under
// a lock: else two that come at the same time could each remove what the other has just made.
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { takeLock } from "../binaries/lock.ts";
import { ClusterExistsError, NoSuchClusterError } from "../errors.ts";
import { findProcesses } from "../process/orphans.ts";
import { type ClusterDirectory, clusterDirectory, createClusterDirectory, listClusterDirectories } from "./directory.ts";
import { reap } from "./reap.ts";
import { type ClusterRecord, isAbandoned, pidNamespace, readRecord } from "./record.ts";

/** Makes the directory of a new cluster, after removing an abandoned one of the same name. */
export async function claim(directory: ClusterDirectory, record: ClusterRecord, signal?: AbortSignal): Promise<void> {
  await using _lock = await lockOn(directory, signal);
  if (existsSync(directory.path)) {
    if (!(await isDead(directory))) throw new ClusterExistsError(directory.name);
    await reap(directory);
  }
  await createClusterDirectory(directory, record);
}

/** Removes the clusters below the root whose owners are gone. Answers with their names. */
export async function reapAbandoned(root: string, signal?: AbortSignal): Promise<readonly string[]> {
  const reaped: string[] = [];
  for (const directory of await listClusterDirectories(root)) {
    await using _lock = await lockOn(directory, signal);
    if (!isAbandoned(await readRecord(directory)) || !existsSync(directory.path)) continue;
    await reap(directory);
    reaped.push(directory.name);
  }
  return reaped;
}

/** Removes a cluster, whoever owns it. */
export async function remove(directory: ClusterDirectory, root: string): Promise<void> {
  await using _lock = await lockOn(directory);
  const known = (await listClusterDirectories(root)).map(({ name }) => name);
  if (!known.includes(directory.name)) throw new NoSuchClusterError(directory.name, known);
  await reap(directory);
}

/** Removes every cluster below the root, and processes whose directory somebody else has removed. Answers with the names. */
export async function removeAll(root: string): Promise<readonly string[]> {
  const directories = await listClusterDirectories(root);
  for (const directory of directories) {
    await using _lock = await lockOn(directory);
    await reap(directory);
  }
  const strays = new Set(findProcesses((path) => dirname(path) === root).map(({ directory }) => basename(directory)));
  for (const name of strays) await reap(clusterDirectory(name, root));
  return directories.map(({ name }) => name);
}

/** Abandoned by its owner; or left to itself by `up`, and nothing of it runs any more (the machine was restarted). */
async function isDead(directory: ClusterDirectory): Promise<boolean> {
  const record = await readRecord(directory);
  if (record === undefined || isAbandoned(record)) return true;
  if (record.owner !== "detached" || record.pidNamespace !== pidNamespace()) return false;
  return findProcesses((path) => path === directory.path).length === 0;
}

function lockOn({ path }: ClusterDirectory, signal?: AbortSignal): Promise<AsyncDisposable> {
  return takeLock(path, { signal, waiting: (_holder, free) => free });
}
