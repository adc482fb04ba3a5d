// Programs from Debian's packages without installing anything.
//
// `apt-get install` would start containerd and Prometheus as services and enable them for the next boot, would remove a Docker
// that brings its own containerd, and would stay when the cluster is gone. So apt only works out and downloads what this
// machine lacks, libraries included, checked against Debian's signatures as always; we unpack that into our cache and run it
// from there. Nothing of it is ever installed, and no script of a package is run.
//
//     <cache>/debian/<release>-<digest of the names>/usr/bin/containerd …
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type CommandFailure, run } from "../binaries/command.ts";
import { takeLock } from "../binaries/lock.ts";
import { cacheDirectory } from "../binaries/search.ts";
import { PackagesUnavailableError, reasonOf } from "../errors.ts";
import { type Progress, progressOn } from "../progress.ts";
import { releaseOf } from "./release.ts";

export interface DebianOptions {
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

interface Job {
  readonly packages: readonly string[];
  /** Where the files will be, complete. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal: AbortSignal | undefined;
}

/** A folder that has the files of these packages as the root of a machine would; quick when they are in the cache. */
export async function unpackedPackages(packages: readonly string[], options: DebianOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const names = [...packages].sort();
  const digest = createHash("sha256").update(names.join(" ")).digest("hex").slice(0, 12);
  const cache = cacheDirectory(env);
  const folder = join(cache, "debian", `${await releaseOf()}-${digest}`);
  if (await exists(folder)) return folder;
  const job: Job = { packages: names, folder, env, progress: options.progress ?? progressOn(), signal: options.signal };
  await job.progress.during(`fetching ${names.join(", ")} from Debian`, () => makeOnce(job, cache));
  return folder;
}

/** Of several processes that want the same, one works and the others wait for it. */
async function makeOnce(job: Job, cache: string): Promise<void> {
  await mkdir(join(cache, "tmp"), { recursive: true });
  await mkdir(join(cache, "debian"), { recursive: true });
  const workshop = join(await realpath(join(cache, "tmp")), `debian-${job.folder.slice(-12)}`);
  await using _lock = await takeLock(workshop, { signal: job.signal, waiting: (_holder, free) => free });
  if (await exists(job.folder)) return;
  await mkdir(workshop, { recursive: true });
  try {
    const made = await make(job, await mkdtemp(join(workshop, "work-")));
    await rename(made, job.folder); // so what is in the cache is whole
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

async function make(job: Job, work: string): Promise<string> {
  const archives = join(work, "archives");
  const root = join(work, "root");
  await mkdir(join(archives, "partial"), { recursive: true });
  await mkdir(root);
  await download(job, archives);
  for (const file of await readdir(archives)) {
    if (file.endsWith(".deb") && !isForeign(file)) await tool(job, "dpkg-deb", ["--extract", join(archives, file), root]);
  }
  return root;
}

/** Prometheus depends on the scripts of its old web pages; the C library must be the one that belongs to the machine's loader. */
function isForeign(file: string): boolean {
  return /^(libjs-|fonts-|libc6_|libc-bin_)/.test(file);
}

/** The lists of packages may be missing (a fresh container) or out of date: then, and only then, they are fetched first. */
async function download(job: Job, archives: string): Promise<void> {
  const fetch = () => tool(job, "apt-get", [...downloadOnly(archives), ...job.packages]);
  try {
    await fetch();
  } catch (failure) {
    if (!/Unable to locate package|404 +Not Found|no installation candidate|has no/i.test(reasonOf(failure))) throw failure;
    await tool(job, "apt-get", ["--quiet", "update"]);
    await fetch();
  }
}

function downloadOnly(archives: string): readonly string[] {
  // Without the locks: nothing of the system is changed, and an upgrade that runs meanwhile is none of our business.
  const settings = [`Dir::Cache::archives=${archives}`, "Debug::NoLocking=true", "APT::Sandbox::User=root"];
  const options = settings.flatMap((setting) => ["--option", setting]);
  return [...options, "--quiet", "--yes", "--download-only", "--no-install-recommends", "install"];
}

async function tool({ packages, env, signal }: Job, command: string, args: readonly string[]): Promise<void> {
  try {
    await run(command, args, { env: { ...env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" }, signal });
  } catch (failure) {
    signal?.throwIfAborted();
    throw new PackagesUnavailableError(packages, explain(command, failure as CommandFailure), { cause: failure });
  }
}

function explain(command: string, failure: CommandFailure): string {
  if (failure.code === "ENOENT") return `there is no ${command} here`;
  return `${command} failed: ${failure.stderr.trim().split("\n").slice(-5).join("\n")}`;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
