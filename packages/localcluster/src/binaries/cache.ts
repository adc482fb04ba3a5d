// The cache of binaries.
//
//     <cache>/kubernetes/1.37.1/kube-apiserver     a finished binary
//     <cache>/etcd/3.7.3/etcd
//     <cache>/helm/4.3.1/helm
//     <cache>/tmp/kubernetes-1.37.1-kubelet/…      a work folder, of the process that holds the lock on it
//
// A binary is written in a work folder, flushed to disk and then renamed, so the cache contains complete binaries only. A process that
// is killed leaves a work folder without a lock, which the next run removes.
import { chmod, mkdir, mkdtemp, open, readdir, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CacheUnwritableError } from "../errors.ts";
import { isExecutableFile } from "../process/command.ts";
import { type Lock, takeLock, tryLock } from "../process/lock.ts";
import type { Outcome, Search } from "./search.ts";
import { type Binary, describe } from "./search.ts";

export async function findCached(binary: Binary, { cache }: Search): Promise<Outcome> {
  const path = pathInCache(cache, binary);
  return (await isExecutableFile(path)) ? { path } : { whyNot: `${path} does not exist` };
}

export interface WorkFolder extends AsyncDisposable {
  /** Creates an empty folder in it. */
  create(): Promise<string>;
  /** Moves a finished file into the cache and returns its path there. */
  moveToCache(file: string): Promise<string>;
}

/** Takes the lock for downloading or building this binary. Disposing of the folder removes it and releases the lock. */
export async function lockWorkFolder(binary: Binary, { cache, signal, progress }: Search): Promise<WorkFolder> {
  const all = await workFolders(cache);
  const folder = join(all, `${binary.project}-${binary.version}-${binary.name}`);
  await removeUnlocked(all);
  const lock = await takeLock(folder, {
    signal,
    waiting: (holder, free) =>
      progress.during(`waiting for another process to provide ${describe(binary)}`, (detail) => {
        void holder.then(detail);
        return free;
      }),
  });
  return {
    create: () => createFolder(folder),
    moveToCache: (file) => moveToCache(file, pathInCache(cache, binary)),
    [Symbol.asyncDispose]: () => release(folder, lock),
  };
}

function pathInCache(cache: string, { project, version, name }: Binary): string {
  return join(cache, project, version, name);
}

/** Resolves symbolic links, because locks go by path. */
async function workFolders(cache: string): Promise<string> {
  try {
    await mkdir(join(cache, "tmp"), { recursive: true });
    return await realpath(join(cache, "tmp"));
  } catch (cause) {
    throw new CacheUnwritableError(cache, cause);
  }
}

/** Removes the work folders of killed processes: those without a lock. */
async function removeUnlocked(all: string): Promise<void> {
  for (const name of await readdir(all)) {
    await using lock = await tryLock(join(all, name));
    if (lock !== undefined) await remove(join(all, name));
  }
}

/** With a random name, because a build may outlive the process that started it and must not write into its successor's folder. */
async function createFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true });
  return mkdtemp(join(parent, "work-"));
}

async function release(folder: string, lock: Lock): Promise<void> {
  try {
    await remove(folder);
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

/** With retries, because a build that is being stopped may still write a file. The next run removes what is left. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
}

async function moveToCache(file: string, path: string): Promise<string> {
  await chmod(file, 0o755);
  await flush(file);
  await mkdir(dirname(path), { recursive: true });
  await rename(file, path);
  await flush(dirname(path));
  return path;
}

/** Without it, after a power failure a file may have its new name but not its contents. */
async function flush(path: string): Promise<void> {
  await using file = await open(path, "r");
  await file.sync();
}
