// A cluster is a directory. Everything it leaves on disk is below <state root>/<name>/, so "gone" means that the
// directory is gone; and because each of its processes carries that path in its environment (process/component.ts), the
// directory is also how the processes of a cluster are told from those of another.
//
// Who makes a directory, judges it abandoned or removes it, holds the lock on its path (state/claim.ts).
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ClusterExistsError, InvalidNameError, StatePathTooLongError } from "../errors.ts";

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

/** A name becomes a path and part of a host name, so it is as strict as a DNS label. */
const validName = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** Leaves 20 characters for the name of a socket. */
const longestRun = 87;

/** LOCALCLUSTER_HOME, else what the XDG convention says. */
export function stateRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.LOCALCLUSTER_HOME) return resolve(env.LOCALCLUSTER_HOME);
  return join(resolve(env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state")), "localcluster");
}

/** The paths of a cluster; touches nothing. */
export function clusterDirectory(name: string, root: string = stateRoot()): ClusterDirectory {
  if (!validName.test(name)) throw new InvalidNameError(name);
  const path = join(root, name);
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
 * Makes the directory of a new cluster, with its record in it: from the first moment it says who owns it. Private keys live
 * here, so nobody else may look in.
 */
export async function createClusterDirectory(directory: ClusterDirectory, record: object): Promise<void> {
  if (directory.run.length > longestRun) throw new StatePathTooLongError(directory.run, longestRun);
  await mkdir(dirname(directory.path), { recursive: true, mode: 0o700 });
  await mkdir(directory.path, { mode: 0o700 }).catch((cause) => {
    throw cause.code === "EEXIST" ? new ClusterExistsError(directory.name, { cause }) : cause;
  });
  await writeFile(directory.record, JSON.stringify(record, undefined, 2), { mode: 0o600 });
  for (const folder of [directory.logs, directory.pki, directory.data, directory.run, directory.tmp]) await mkdir(folder);
}

/** Every cluster directory below the root, whoever owns it. */
export async function listClusterDirectories(root: string = stateRoot()): Promise<readonly ClusterDirectory[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const named = entries.filter((entry) => entry.isDirectory() && validName.test(entry.name));
  return named.map((entry) => clusterDirectory(entry.name, root));
}
