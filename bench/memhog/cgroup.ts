// The kernel's own files about the memory of a container. They are the truth that everybody else reports later: what it uses now, and
// what it may. The containers of a real node are processes of this machine, and /proc says which cgroup each is in.
import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface CgroupMemory {
  /** Bytes that it may use. */
  readonly limit: number;
  /** Bytes in use, without the file cache that the kernel would give up first: the kubelet's working set. */
  readonly workingSet: number;
}

/** Reads on demand; answers with undefined when the cgroup has gone. */
export type CgroupReader = () => CgroupMemory | undefined;

/** Of a running container, by the id that containerd gave it; undefined while no process is in it. */
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

/** Version 1 of cgroups has a tree for memory, version 2 has one for everything. */
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
    return undefined; // it has ended in the meantime
  }
}
