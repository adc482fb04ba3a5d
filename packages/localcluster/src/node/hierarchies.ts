// How this machine has its cgroups: one tree for every controller (version 2), or several (version 1), or both at once.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Hierarchy {
  /** Where it is mounted. */
  readonly path: string;
  readonly version: 1 | 2;
  /** Of version 1, `name=systemd` and the like included; of version 2 they are in a file, see `controllersOf`. */
  readonly options: readonly string[];
}

/** Reads /proc/self/mountinfo. Something mounted twice is one hierarchy: the first place counts. */
export function hierarchies(mountinfo: string = readFileSync("/proc/self/mountinfo", "utf8")): readonly Hierarchy[] {
  const seen = new Map<string, Hierarchy>();
  for (const line of mountinfo.split("\n")) {
    const [mount = "", filesystem = ""] = line.split(" - ");
    const [type, , options = ""] = filesystem.split(" ");
    if (type !== "cgroup" && type !== "cgroup2") continue;
    const [, , device = "", , path = ""] = mount.split(" ");
    if (!seen.has(device)) seen.set(device, { path, version: type === "cgroup" ? 1 : 2, options: options.split(",") });
  }
  return [...seen.values()];
}

const notControllers: ReadonlySet<string> = new Set(["rw", "ro", "xattr", "noprefix", "clone_children"]);

/** What can be limited in this hierarchy. */
export function controllersOf({ path, version, options }: Hierarchy): readonly string[] {
  if (version === 1) return options.filter((option) => !notControllers.has(option) && !option.includes("="));
  const file = join(path, "cgroup.controllers");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").filter(Boolean) : [];
}
