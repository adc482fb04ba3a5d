// How a cluster is, seen from outside: by its record and by its processes.
import { findProcesses } from "../process/orphans.ts";
import { type ClusterDirectory, listClusterDirectories } from "./directory.ts";
import { type ClusterRecord, isAbandoned, readRecord } from "./record.ts";

/** `failed` has no more than logs; `abandoned` waits for the next start, or `down --all`, to remove it. */
export type State = "running" | "starting" | "broken" | "failed" | "abandoned";

export interface ClusterStatus {
  readonly name: string;
  readonly state: State;
  /** Names of components that should be running and are not. */
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
  return { name: directory.name, directory, record, ...judge(record, running) };
}

/** Pure, for the tests. */
export function judge(
  record: ClusterRecord | undefined,
  running: ReadonlySet<string>,
  abandoned: boolean = isAbandoned(record),
): Pick<ClusterStatus, "state" | "missing"> {
  const missing = (record?.components ?? []).filter((name) => !running.has(name));
  if (abandoned) return { state: "abandoned", missing };
  if (record?.components === undefined) return { state: running.size > 0 ? "starting" : "failed", missing };
  return { state: missing.length === 0 ? "running" : "broken", missing };
}
