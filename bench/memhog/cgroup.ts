// Reads a container's memory usage and limit from its cgroup, which has the current values; all other sources lag behind.
// Containers of a real node are processes of this machine, and /proc has the cgroup of each.
import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface CgroupMemory {
  /** Memory limit in bytes. */
  readonly limit: number;
  /** Bytes in use without inactive file cache: the kubelet's working set. */
  readonly workingSet: number;
}

/** Reads the current values; undefined if the cgroup no longer exists. */
export type CgroupReader = () => CgroupMemory | undefined;

/** The cgroup of a running container, by its containerd ID; undefined while it has no process. */
export function cgroupOf(containerId: string): CgroupReader | undefined {
  const inIt = readdirSync("/proc").find(
    (name) => /^\d+$/.test(name) && contentOf(`/proc/${name}/cgroup`)?.includes(containerId),
  );
  if (inIt === undefined) return undefined;
  const paths = (contentOf(`/proc/${inIt}/cgroup`) ?? "").split("\n").map((line) => line.slice(line.indexOf("/")));
  return paths
    .filter((path) => path.includes(containerId))
    .map(readerAt)
    .find((reader) => reader !== undefined);
}

/** cgroup v1 has a separate hierarchy for memory, v2 a single one. */
function readerAt(path: string): CgroupReader | undefined {
  const [one, two] = [`/sys/fs/cgroup/memory${path}`, `/sys/fs/cgroup${path}`];
  if (existsSync(`${one}/memory.limit_in_bytes`))
    return reader(one, { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", cache: "total_inactive_file" });
  if (existsSync(`${two}/memory.max`))
    return reader(two, { limit: "memory.max", usage: "memory.current", cache: "inactive_file" });
  return undefined;
}

function reader(folder: string, names: { readonly limit: string; readonly usage: string; readonly cache: string }): CgroupReader {
  const field = new RegExp(`^${names.cache} (\\d+)$`, "m");
  return () => {
    const [limit, usage, stat] = [names.limit, names.usage, "memory.stat"].map((file) => contentOf(`${folder}/${file}`));
    if (limit === undefined || usage === undefined || stat === undefined) return undefined;
    return { limit: Number(limit), workingSet: Number(usage) - Number(field.exec(stat)?.[1] ?? 0) };
  };
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // the container has ended in the meantime
  }
}
