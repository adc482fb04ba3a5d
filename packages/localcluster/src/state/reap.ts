// Removes every trace of a cluster: its processes, what a node left outside of its namespaces, its directory.
//
// It needs nothing but the path, so it does for a cluster whose owner was killed what the owner would have done. It also
// works when it was itself interrupted half-way: the directory goes last, and while it is there, so is the record of what
// is left to do.
import { readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { UnkillableError } from "../errors.ts";
import { reapNode } from "../node/node.ts";
import { findProcesses, type MarkedProcess } from "../process/orphans.ts";
import type { ClusterDirectory } from "./directory.ts";
import { readRecord } from "./record.ts";

export interface ReapOptions {
  /** Leaves the logs and the record of whose they are; the next start removes them. For a start or a test that failed. */
  readonly keepLogs?: boolean;
}

export async function reap(directory: ClusterDirectory, { keepLogs = false }: ReapOptions = {}): Promise<void> {
  const record = await readRecord(directory);
  await removeKubeconfigCopy(directory, record?.kubeconfigCopy);
  await endProcesses(directory.path);
  if (record?.nodes !== "none") await reapNode(directory);
  const { path, pki, data, run, tmp, kubeconfig } = directory;
  for (const part of keepLogs ? [pki, data, run, tmp, kubeconfig] : [path]) await removeTree(part);
}

/** A process that dies by SIGKILL is gone before its last write is; the file system may have to look twice. */
function removeTree(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** Ends every process marked with the path. All at once and without asking: what they would tidy up is thrown away anyway. */
async function endProcesses(path: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
    // Looked for again each time: a process may have been forked while we were looking.
    const left = findProcesses((directory) => directory === path);
    if (left.length === 0) return;
    killAll(left);
    // Only a process that hangs in the kernel survives that long; its directory stays, so that it is not forgotten.
    if (performance.now() > deadline) throw new UnkillableError(left.map(({ pid, component }) => `${component} (pid ${pid})`));
    await sleep(pause);
  }
}

/** What can be done in the last moment of a process, when nothing can be waited for. The rest is for whoever comes next. */
export function endProcessesNow(path: string): void {
  killAll(findProcesses((directory) => directory === path));
}

function killAll(processes: readonly MarkedProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // gone by itself
    }
  }
}

/** Only if it is still the file that we wrote: the user may have made something else of it. */
async function removeKubeconfigCopy(directory: ClusterDirectory, copy: string | undefined): Promise<void> {
  if (copy === undefined) return;
  const [ours, theirs] = await Promise.all([directory.kubeconfig, copy].map((file) => readFile(file, "utf8").catch(() => "")));
  if (ours !== "" && ours === theirs) await rm(copy, { force: true });
}
