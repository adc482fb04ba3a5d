// Ties a cluster to the life of this process: whichever way the process ends, the cluster ends with it.
//
//   it calls down()             the usual way
//   SIGINT, SIGTERM, SIGHUP     down(), and then the signal does what it would have done without us
//   process.exit, a crash       no time to wait for anything: the processes are killed, and the rest is left to be reaped
//   SIGKILL                     nothing can be done here: the next start, or `localcluster down --all`, reaps it
import { rmSync } from "node:fs";
import type { ClusterDirectory } from "./directory.ts";
import { endProcessesNow } from "./reap.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Tie {
  readonly directory: ClusterDirectory;
  /** A node has more to remove than its directory, and the directory says what: it must stay until that is done. */
  readonly hasNode: boolean;
  readonly down: () => Promise<void>;
}

/** Dispose of it once the cluster is gone, or lives without us. */
export function tieToThisProcess({ directory, hasNode, down }: Tie): Disposable {
  const untie = () => {
    process.off("exit", onExit);
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onExit = () => {
    endProcessesNow(directory.path);
    if (!hasNode) tryToRemove(directory);
  };
  const onSignal = async (signal: NodeJS.Signals) => {
    await down().catch((error) => process.stderr.write(`localcluster: ${error}\n`));
    untie();
    // Whoever else listens (a test runner, another cluster) decides how the process ends; if nobody does, it just ends.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on("exit", onExit);
  for (const signal of signals) process.on(signal, onSignal);
  return { [Symbol.dispose]: untie };
}

/** The record stays until last, in case it cannot be done: then the directory is found abandoned. */
function tryToRemove({ path, record }: ClusterDirectory): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    rmSync(record, { force: true });
  }
}
