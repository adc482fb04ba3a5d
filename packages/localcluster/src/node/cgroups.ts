// The cgroups of a node: a subtree of its own in every hierarchy of the machine, named after the cluster's directory, so that
// it is found again from that name alone. It is what limits containers for real, and the one thing of a node that lives
// outside of its namespaces, so it is removed by hand: first whoever is left in it, then the folders, leaves first.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CgroupError } from "../errors.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { controllersOf, type Hierarchy, hierarchies } from "./hierarchies.ts";

/** The name of the subtree: `localcluster-` and a digest, because paths in /proc/PID/cgroup are long enough already. */
export function cgroupRoot({ path }: Pick<ClusterDirectory, "path">): string {
  return `localcluster-${createHash("sha256").update(path).digest("hex").slice(0, 12)}`;
}

/** What the kubelet of version 2 insists on, as far as the machine has it. */
const ofKubelet: ReadonlySet<string> = new Set(["cpu", "cpuset", "memory", "hugetlb", "pids"]);

/** Makes the subtree where the kubelet may make its own. */
export async function createCgroups(directory: ClusterDirectory): Promise<void> {
  for (const hierarchy of hierarchies()) {
    const folder = join(hierarchy.path, cgroupRoot(directory));
    if (hierarchy.version === 1) await createIn(hierarchy, folder);
    else await createUnified(hierarchy, folder);
  }
}

async function createIn(hierarchy: Hierarchy, folder: string): Promise<void> {
  await change(`cannot make ${folder}`, () => mkdir(folder, { recursive: true }));
  // A cpuset starts out empty, and nothing can run in an empty one.
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    if (existsSync(join(folder, file))) await copy(join(hierarchy.path, file), join(folder, file));
  }
}

async function createUnified(hierarchy: Hierarchy, folder: string): Promise<void> {
  const controllers = controllersOf(hierarchy).filter((controller) => ofKubelet.has(controller));
  if (controllers.length === 0) return; // beside version 1, which has them all
  await delegate(hierarchy.path, controllers);
  await change(`cannot make ${folder}`, () => mkdir(folder, { recursive: true }));
  await delegate(folder, controllers);
}

/** Lets the children of a cgroup use the controllers. */
async function delegate(folder: string, controllers: readonly string[]): Promise<void> {
  const enabled = (await readFile(join(folder, "cgroup.subtree_control"), "utf8")).split(/\s+/);
  const missing = controllers.filter((controller) => !enabled.includes(controller));
  if (missing.length === 0) return;
  await change(`cannot enable the controllers ${missing.join(", ")} below ${folder}`, () => enable(folder, missing));
}

/**
 * Only the root of all cgroups may have processes and children with controllers at once. In a container, what looks like the
 * root is not: the processes of the container stand in the way (EBUSY) until they are moved into a leaf.
 */
async function enable(folder: string, controllers: readonly string[]): Promise<void> {
  const file = join(folder, "cgroup.subtree_control");
  // All at once: one after the other, those that work on threads would be let through and make the rest impossible.
  const wish = controllers.map((controller) => `+${controller}`).join(" ");
  try {
    await writeFile(file, wish);
  } catch (error) {
    if (!["EBUSY", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await moveProcesses(folder, join(folder, "init"));
    await writeFile(file, wish);
  }
}

async function moveProcesses(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const pid of await processesIn(from)) {
    await writeFile(join(to, "cgroup.procs"), String(pid)).catch(() => {}); // it has ended meanwhile
  }
}

/** Removes the subtree from every hierarchy; kills whoever is in it. Harmless if there is none. */
export async function removeCgroups(directory: Pick<ClusterDirectory, "path">): Promise<void> {
  const folders = hierarchies().map(({ path }) => join(path, cgroupRoot(directory)));
  const present = folders.filter((folder) => existsSync(folder));
  // A killed process leaves its cgroup only when the kernel is through with it, and until then the folder is busy.
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
  for (const pid of await everybody([folder])) kill(pid);
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

async function everybody(folders: readonly string[]): Promise<readonly number[]> {
  const trees = await Promise.all(folders.map(treeBelow));
  return (await Promise.all(trees.flat().map(processesIn))).flat();
}

async function processesIn(folder: string): Promise<readonly number[]> {
  const text = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "");
  // Zero is a process of another pid namespace, which we may not see, let alone signal.
  return text
    .split("\n")
    .filter(Boolean)
    .map(Number)
    .filter((pid) => pid > 0);
}

async function copy(from: string, to: string): Promise<void> {
  await change(`cannot copy ${from} to ${to}`, async () => writeFile(to, (await readFile(from, "utf8")).trim()));
}

async function change(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new CgroupError(what, cause);
  }
}
