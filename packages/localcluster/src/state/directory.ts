// A cluster is a directory. Everything it leaves on disk is below <state root>/<name>/, so "gone" means that the
// directory is gone; and because each of its processes carries that path in its environment (process/component.ts), the
// directory is also how the processes of a cluster are told from those of another.
//
// A directory is claimed by moving it into place: rename is atomic, so of two that want one name exactly one gets it.
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ClusterExistsError, InvalidNameError } from "../errors.ts";

export interface ClusterDirectory {
  readonly name: string;
  /** Absolute path of the directory itself; also the value of LOCALCLUSTER in the environment of its processes. */
  readonly path: string;
  /** One file per component. */
  readonly logs: string;
  readonly pki: string;
  /** What components keep: etcd's database, containerd's images. */
  readonly data: string;
  /** Unix sockets. The kernel allows 107 characters for the whole path, so names in here are short. */
  readonly run: string;
  /** TMPDIR of the components, so that their temporary files go when the cluster goes. */
  readonly tmp: string;
  /** The admin kubeconfig. */
  readonly kubeconfig: string;
  /** What later processes need to know about the cluster (state/record.ts). */
  readonly record: string;
}

/** How a directory is called until it is complete; no cluster's name starts with a dot. */
const unfinished = ".new-";

/** LOCALCLUSTER_HOME, else what the XDG convention says. */
export function stateRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.LOCALCLUSTER_HOME) return resolve(env.LOCALCLUSTER_HOME);
  return join(resolve(env.XDG_STATE_HOME || join(homedir(), ".local", "state")), "localcluster");
}

/** The paths of a cluster; touches nothing. */
export function clusterDirectory(name: string, root: string = stateRoot()): ClusterDirectory {
  // A name becomes a path and part of a host name, so it is as strict as a DNS label.
  if (!/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) throw new InvalidNameError(name);
  return clusterDirectoryAt(join(root, name), name);
}

function clusterDirectoryAt(path: string, name: string): ClusterDirectory {
  const below = (part: string) => join(path, part);
  return {
    name,
    path,
    logs: below("logs"),
    pki: below("pki"),
    data: below("data"),
    run: below("run"),
    tmp: below("tmp"),
    kubeconfig: below("kubeconfig"),
    record: below("cluster.json"),
  };
}

/**
 * Claims a name. The directory is made aside, with its record in it, and moved into place: whoever looks for abandoned
 * clusters must never see one that does not yet say who owns it. Private keys live here, so nobody else may look in.
 */
export async function createClusterDirectory(directory: ClusterDirectory, record: object): Promise<void> {
  const root = dirname(directory.path);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const aside = clusterDirectoryAt(await mkdtemp(join(root, unfinished)), directory.name);
  try {
    for (const folder of [aside.logs, aside.pki, aside.data, aside.run, aside.tmp]) await mkdir(folder);
    await writeFile(aside.record, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
    await rename(aside.path, directory.path);
  } catch (cause) {
    await rm(aside.path, { recursive: true, force: true });
    const taken = cause instanceof Error && "code" in cause && (cause.code === "ENOTEMPTY" || cause.code === "EEXIST");
    throw taken ? new ClusterExistsError(directory.name, { cause }) : cause;
  }
}

/** Every cluster directory below the root, whoever owns it. */
export async function listClusterDirectories(root: string = stateRoot()): Promise<readonly ClusterDirectory[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const named = entries.filter((entry) => entry.isDirectory() && /^[a-z0-9][a-z0-9-]*$/.test(entry.name));
  return named.map((entry) => clusterDirectory(entry.name, root));
}
