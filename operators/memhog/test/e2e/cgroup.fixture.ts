// Reads the limit that the kernel enforces. The containers of a real node are processes of this machine; /proc names the cgroup of
// each, for cgroup v1 and v2.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { KubernetesObject } from "@memhog/localcluster";

/** The memory limit in bytes that the kernel enforces on the first container of a pod; undefined while it does not run. */
export function cgroupLimit(pod: KubernetesObject | undefined): number | undefined {
  const id: string | undefined = pod?.status.containerStatuses?.[0]?.containerID?.replace("containerd://", "");
  if (id === undefined) return undefined;
  const process = readdirSync("/proc").find((name) => /^\d+$/.test(name) && contentOf(`/proc/${name}/cgroup`).includes(id));
  const paths = contentOf(`/proc/${process}/cgroup`)
    .split("\n")
    .map((line) => line.slice(line.indexOf("/")))
    .filter((path) => path.includes(id));
  const files = paths.flatMap((path) => [
    `/sys/fs/cgroup/memory${path}/memory.limit_in_bytes`,
    `/sys/fs/cgroup${path}/memory.max`,
  ]);
  const file = files.find((path) => existsSync(path));
  return file === undefined ? undefined : Number(readFileSync(file, "utf8"));
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process has ended
  }
}
