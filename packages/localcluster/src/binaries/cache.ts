// The cache: what was made once is found again.
//
//     <cache>/kubernetes/1.37.1/kube-apiserver     a finished binary
//     <cache>/etcd/3.7.3/etcd
//     <cache>/helm/4.3.1/helm
//     <cache>/tmp/kubernetes-1.37.1-kubelet/…      work in progress, of whoever holds the lock on that folder
//
// A binary is in the cache only when it is whole: it is written in the work folder, flushed to the disk, and then renamed, so
// a process that is killed half-way leaves nothing but a work folder that nobody holds. The next run sweeps it away.
import { chmod, mkdir, mkdtemp, open, readdir, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CacheUnwritableError } from "../errors.ts";
import { type Binary, describe } from "./binary.ts";
import { isExecutableFile } from "./command.ts";
import { type Lock, takeLock, tryLock } from "./lock.ts";
import type { Outcome, Search } from "./search.ts";

export async function findCached(binary: Binary, { cache }: Search): Promise<Outcome> {
  const path = pathInCache(cache, binary);
  return (await isExecutableFile(path)) ? { path } : { whyNot: `${path} is not there` };
}

export interface Workshop extends AsyncDisposable {
  /** A fresh, empty folder. */
  folder(): Promise<string>;
  /** Puts a finished file into the cache; returns where it is. */
  keep(file: string): Promise<string>;
}

/** The only place where this binary is being made; waits until that is so. What is left in it goes when it is disposed of. */
export async function enterWorkshop(binary: Binary, { cache, signal, progress }: Search): Promise<Workshop> {
  const all = await workFolders(cache);
  const mine = join(all, `${binary.project}-${binary.version}-${binary.name}`);
  await sweep(all);
  const lock = await takeLock(mine, {
    signal,
    waiting: (holder, free) =>
      progress.during(`waiting for ${describe(binary)}, which another process is making`, (detail) => {
        void holder.then(detail);
        return free;
      }),
  });
  return {
    folder: () => freshFolder(mine),
    keep: (file) => keep(file, pathInCache(cache, binary)),
    [Symbol.asyncDispose]: () => leave(mine, lock),
  };
}

function pathInCache(cache: string, { project, version, name }: Binary): string {
  return join(cache, project, version, name);
}

/** Locks go by path, so there must be one path only, whichever links lead to the cache. */
async function workFolders(cache: string): Promise<string> {
  try {
    await mkdir(join(cache, "tmp"), { recursive: true });
    return await realpath(join(cache, "tmp"));
  } catch (cause) {
    throw new CacheUnwritableError(cache, cause);
  }
}

/** Removes what killed processes left behind: the work folders that nobody holds. */
async function sweep(all: string): Promise<void> {
  for (const name of await readdir(all)) {
    await using lock = await tryLock(join(all, name));
    if (lock !== undefined) await remove(join(all, name));
  }
}

/** The name is random because a builder outlives the process that is killed: it must not write where its successor does. */
async function freshFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true });
  return mkdtemp(join(parent, "work-"));
}

async function leave(folder: string, lock: Lock): Promise<void> {
  try {
    await remove(folder);
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** With retries: a builder that was told to stop may write a last file while we remove. What stays is swept next time. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
}

async function keep(file: string, path: string): Promise<string> {
  await chmod(file, 0o755);
  await flush(file);
  await mkdir(dirname(path), { recursive: true });
  await rename(file, path);
  await flush(dirname(path));
  return path;
}

/** Without it, a machine that loses power may remember the new name of a file and not its contents. */
async function flush(path: string): Promise<void> {
  await using file = await open(path, "r");
  await file.sync();
}
