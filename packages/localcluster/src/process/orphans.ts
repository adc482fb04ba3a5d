// Finds the processes of a cluster by the marks in their environment (component.ts), whoever started them and however that
// one ended. There is no list that could be out of date: the kernel keeps it.
import { listPids, readEnvironment, readStat } from "./proc.ts";

export interface MarkedProcess {
  readonly pid: number;
  readonly group: number;
  /** The cluster it belongs to. */
  readonly directory: string;
  readonly component: string;
}

/** Every living process that is marked with a cluster directory that matches. */
export function findProcesses(matches: (directory: string) => boolean): readonly MarkedProcess[] {
  return listPids().flatMap((pid) => {
    const environment = readEnvironment(pid);
    const directory = environment?.get("LOCALCLUSTER");
    if (directory === undefined || !matches(directory) || pid === process.pid) return [];
    const stat = readStat(pid);
    if (stat === undefined) return [];
    return [{ pid, group: stat.group, directory, component: environment?.get("LOCALCLUSTER_COMPONENT") ?? "" }];
  });
}
