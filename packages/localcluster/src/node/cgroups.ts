// The cgroups of a node: a subtree in every hierarchy of the machine, named after the cluster directory, so that it is found again
// from that path alone. cgroups are the one thing of a node that is not in its namespaces, so they are removed explicitly: first the
// processes in them, then the folders, leaves first.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CgroupError } from "../errors.ts";
import type { ClusterDirectory } from "../state/directory.ts";

/** The name of the subtree. A digest keeps the paths in /proc/PID/cgroup short. */
export function cgroupRoot({ path }: Pick<ClusterDirectory, "path">): string {
  return `localcluster-${createHash("sha256").update(path).digest("hex").slice(0, 12)}`;
}

/** What the kubelet needs with cgroup version 2, as far as the machine has it. */
const kubeletControllers: ReadonlySet<string> = new Set(["cpu", "cpuset", "memory", "hugetlb", "pids"]);

/** Creates the subtree that the kubelet creates its cgroups in. */
export async function createCgroups(directory: ClusterDirectory): Promise<void> {
  for (const hierarchy of hierarchies()) {
    const folder = join(hierarchy.path, cgroupRoot(directory));
    if (hierarchy.version === 1) await createIn(hierarchy, folder);
    else await createUnified(hierarchy, folder);
  }
}

async function createIn(hierarchy: Hierarchy, folder: string): Promise<void> {
  await attempt(`cannot create ${folder}`, () => mkdir(folder, { recursive: true }));
  // A new cpuset is empty, and nothing can run in an empty one.
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    if (existsSync(join(folder, file))) await copy(join(hierarchy.path, file), join(folder, file));
  }
}

async function createUnified(hierarchy: Hierarchy, folder: string): Promise<void> {
  const controllers = controllersOf(hierarchy).filter((controller) => kubeletControllers.has(controller));
  if (controllers.length === 0) return; // the version 1 hierarchies have them
  await delegate(hierarchy.path, controllers);
  await attempt(`cannot create ${folder}`, () => mkdir(folder, { recursive: true }));
  await delegate(folder, controllers);
}

/** Enables the controllers for the children of a cgroup. */
async function delegate(folder: string, controllers: readonly string[]): Promise<void> {
  const enabled = (await readFile(join(folder, "cgroup.subtree_control"), "utf8")).split(/\s+/);
  const missing = controllers.filter((controller) => !enabled.includes(controller));
  if (missing.length === 0) return;
  await attempt(`cannot enable the controllers ${missing.join(", ")} below ${folder}`, () => enable(folder, missing));
}

/**
 * Only the root cgroup can have both processes and children with controllers. In a container, what looks like the root is not:
 * enabling controllers fails with EBUSY until the container's processes are moved into a leaf.
 */
async function enable(folder: string, controllers: readonly string[]): Promise<void> {
  const file = join(folder, "cgroup.subtree_control");
  // All at once: one by one, the threaded controllers would be enabled first and make the others impossible.
  const change = controllers.map((controller) => `+${controller}`).join(" ");
  try {
    await writeFile(file, change);
  } catch (error) {
    if (!["EBUSY", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await moveProcesses(folder, join(folder, "init"));
    await writeFile(file, change);
  }
}

async function moveProcesses(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const pid of await processesIn(from)) {
    await writeFile(join(to, "cgroup.procs"), String(pid)).catch(() => {}); // it has exited
  }
}

/** Removes the subtree from every hierarchy and kills the processes in it. Does nothing if there is none. */
export async function removeCgroups(directory: Pick<ClusterDirectory, "path">): Promise<void> {
  const folders = hierarchies().map(({ path }) => join(path, cgroupRoot(directory)));
  const present = folders.filter((folder) => existsSync(folder));
  // The folder is busy until the kernel has finished with a killed process.
  const deadline = performance.now() + 10_000;
  for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
    const failures = await Promise.all(present.map(tryToRemove));
    const failure = failures.find((each) => each !== undefined);
    if (failure === undefined) return;
    if (performance.now() > deadline) throw new CgroupError("cannot remove the cgroups of the node", failure);
    await sleep(pause);
  }
}

async function tryToRemove(folder: string): Promise<unknown> {
  for (const each of await treeBelow(folder)) for (const pid of await processesIn(each)) kill(pid);
  try {
    for (const each of (await treeBelow(folder)).toReversed()) await rmdir(each);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : error;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The folder and all folders below it, parents first. */
async function treeBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const children = entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  const below = await Promise.all(children.map(treeBelow));
  return [folder, ...below.flat()];
}

async function processesIn(folder: string): Promise<readonly number[]> {
  const text = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "");
  // Zero stands for a process of another pid namespace, which cannot be signaled from here.
  return text
    .split("\n")
    .filter(Boolean)
    .map(Number)
    .filter((pid) => pid > 0);
}

async function copy(from: string, to: string): Promise<void> {
  await attempt(`cannot copy ${from} to ${to}`, async () => writeFile(to, (await readFile(from, "utf8")).trim()));
}

async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new CgroupError(what, cause);
  }
}

/** A mounted cgroup tree: one for all controllers (version 2), one of several (version 1), or both on one machine. */
export interface Hierarchy {
  /** Where it is mounted. */
  readonly path: string;
  readonly version: 1 | 2;
  /** Mount options, which name the controllers of version 1. Version 2 lists them in a file, see `controllersOf`. */
  readonly options: readonly string[];
}

/** Reads /proc/self/mountinfo. Of a hierarchy that is mounted twice, the first mount counts. */
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

/** The controllers of a hierarchy. */
export function controllersOf({ path, version, options }: Hierarchy): readonly string[] {
  if (version === 1) return options.filter((option) => !notControllers.has(option) && !option.includes("="));
  const file = join(path, "cgroup.controllers");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").filter(Boolean) : [];
}
