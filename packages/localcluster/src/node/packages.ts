// Programs that a node needs beyond Kubernetes: containerd, runc, iptables, CNI plugins, Prometheus. Installed programs are used as
// they are; the others come from Debian packages. You can also install the packages that are named here with `apt-get install`.
//
// Packages are unpacked, not installed: `apt-get install` would start containerd and Prometheus as services, enable them for the next
// boot, replace the containerd of an installed Docker, and leave them behind when the cluster is gone. apt only resolves and
// downloads what this machine lacks, libraries included, and verifies Debian's signatures. No script of a package is run.
//
//     <cache>/debian/<release>-<digest of the names>/usr/bin/containerd …
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { cacheDirectory } from "../binaries/search.ts";
import { LibraryMissingError, PackagesUnavailableError } from "../errors.ts";
import { type CommandFailure, isExecutableFile, run } from "../process/command.ts";
import { takeLock } from "../process/lock.ts";
import { type Progress, progressOn } from "../progress.ts";

/** A program or CNI plugin, and the package that has it. */
interface Requirement {
  readonly program: string;
  readonly package: string;
  /** It must be a static executable, which runs in a container without libraries. */
  readonly static?: true;
}

const nodePrograms: readonly Requirement[] = [
  { program: "ip", package: "iproute2" },
  { program: "containerd", package: "containerd" },
  { program: "containerd-shim-runc-v2", package: "containerd" },
  { program: "ctr", package: "containerd" },
  { program: "runc", package: "runc" },
  { program: "iptables", package: "iptables" },
  { program: "iptables-save", package: "iptables" },
  { program: "iptables-restore", package: "iptables" },
  { program: "busybox", package: "busybox-static", static: true },
  { program: "ptp", package: "containernetworking-plugins" },
  { program: "host-local", package: "containernetworking-plugins" },
  { program: "loopback", package: "containernetworking-plugins" },
];
const prometheusPrograms: readonly Requirement[] = [{ program: "prometheus", package: "prometheus" }];

/** Where CNI plugins are: on Debian, when installed by hand, on Fedora. */
const cniFolders = ["usr/lib/cni", "opt/cni/bin", "usr/libexec/cni"];
const folders = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin", ...cniFolders];

/** A set of programs, installed or unpacked. */
export interface Tools {
  /** Absolute path. */
  path(program: string): string;
  /** The environment in which the programs find each other, and unpacked libraries. */
  readonly env: Readonly<Record<string, string>>;
}

/** The programs of a node; downloads what is missing. */
export function nodeTools(options?: DebianOptions): Promise<Tools> {
  return findTools(nodePrograms, options);
}

/** Separate, because a node does not need Prometheus. */
export function prometheusTools(options?: DebianOptions): Promise<Tools> {
  return findTools(prometheusPrograms, options);
}

async function findTools(wanted: readonly Requirement[], options: DebianOptions = {}): Promise<Tools> {
  const here = installedFolders(options.env ?? process.env);
  const installed = await findAll(wanted, here);
  const missing = wanted.filter(({ program }) => !installed.has(program));
  if (missing.length === 0) return toolsFrom(installed, { PATH: here.join(delimiter) });
  const root = await unpackedPackages([...new Set(missing.map((each) => each.package))], options);
  await linkIptables(root);
  const unpacked = await findAll(missing, foldersBelow(root));
  return toolsFrom(new Map([...unpacked, ...installed]), unpackedEnvironment(root, here));
}

/** On installation Debian links iptables to one of two variants. An unpacked package has no link; nft is the default. */
async function linkIptables(root: string): Promise<void> {
  const folder = join(root, "usr/sbin");
  const names = await readdir(folder).catch((): string[] => []);
  if (!names.includes("xtables-nft-multi")) return;
  for (const family of ["iptables", "ip6tables"]) {
    for (const name of [family, `${family}-save`, `${family}-restore`]) {
      if (names.includes(name)) continue;
      await symlink("xtables-nft-multi", join(folder, name)).catch(ignoreExisting); // another process may create it at the same time
    }
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

async function findAll(wanted: readonly Requirement[], folders: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const each of wanted) {
    const path = await find(each, folders);
    if (path !== undefined) found.set(each.program, path);
  }
  return found;
}

async function find(each: Requirement, folders: readonly string[]): Promise<string | undefined> {
  for (const path of folders.map((folder) => join(folder, each.program))) {
    if ((await isExecutableFile(path)) && (!each.static || (await isStatic(path)))) return path;
  }
  return undefined;
}

function toolsFrom(paths: ReadonlyMap<string, string>, env: Tools["env"]): Tools {
  const path = (program: string) => {
    const found = paths.get(program);
    if (found === undefined) throw new Error(`${program} is not in this set of programs, or its package no longer contains it`);
    return found;
  };
  return { path, env };
}

function unpackedEnvironment(root: string, here: readonly string[]): Tools["env"] {
  const libraries = libraryFolders(root);
  const extensions = libraries.map((folder) => join(folder, "xtables")).find((folder) => existsSync(folder));
  return {
    PATH: [...foldersBelow(root), ...here].join(delimiter),
    LD_LIBRARY_PATH: libraries.join(delimiter),
    // An installed iptables finds its extensions by a compiled-in path.
    ...(extensions !== undefined && { XTABLES_LIBDIR: extensions }),
  };
}

/** The PATH of a user may lack the sbin folders. */
function installedFolders(env: NodeJS.ProcessEnv): readonly string[] {
  const named = (env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  return [...new Set([...named, ...foldersBelow("/")])];
}

function foldersBelow(root: string): readonly string[] {
  return folders.map((folder) => join(root, folder));
}

export interface DebianOptions {
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

interface Job {
  readonly packages: readonly string[];
  /** Where the unpacked files will be. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal: AbortSignal | undefined;
}

/** A folder with the files of these packages, laid out as below /. Returns at once if it is in the cache. */
export async function unpackedPackages(packages: readonly string[], options: DebianOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const names = [...packages].sort();
  const digest = createHash("sha256").update(names.join(" ")).digest("hex").slice(0, 12);
  const cache = cacheDirectory(env);
  const folder = join(cache, "debian", `${await releaseOf()}-${digest}`);
  if (await exists(folder)) return folder;
  const job: Job = { packages: names, folder, env, progress: options.progress ?? progressOn(), signal: options.signal };
  await job.progress.during(`downloading the Debian packages ${names.join(", ")}`, () => unpackOnce(job, cache));
  return folder;
}

/** Of several processes that need the same packages, one does the work and the others wait for it. */
async function unpackOnce(job: Job, cache: string): Promise<void> {
  await mkdir(join(cache, "tmp"), { recursive: true });
  await mkdir(join(cache, "debian"), { recursive: true });
  const workFolder = join(await realpath(join(cache, "tmp")), `debian-${job.folder.slice(-12)}`);
  await using _lock = await takeLock(workFolder, { signal: job.signal, waiting: (_holder, free) => free });
  if (await exists(job.folder)) return;
  await mkdir(workFolder, { recursive: true });
  try {
    const root = await downloadAndUnpack(job, await mkdtemp(join(workFolder, "work-")));
    await rename(root, job.folder); // so the cache has complete folders only
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

async function downloadAndUnpack(job: Job, work: string): Promise<string> {
  const archives = join(work, "archives");
  const root = join(work, "root");
  await mkdir(join(archives, "partial"), { recursive: true });
  await mkdir(root);
  await download(job, archives);
  for (const file of await readdir(archives)) {
    if (file.endsWith(".deb") && !isUnwanted(file)) await tool(job, "dpkg-deb", ["--extract", join(archives, file), root]);
  }
  return root;
}

/** Scripts of Prometheus' old web pages; and the C library, which must be the one of the machine's dynamic loader. */
function isUnwanted(file: string): boolean {
  return /^(libjs-|fonts-|libc6_|libc-bin_)/.test(file);
}

/** The package lists may be missing (a fresh container) or outdated, so a failed download is tried again after an update. */
async function download(job: Job, archives: string): Promise<void> {
  const fetch = () => tool(job, "apt-get", [...downloadOnly(archives), ...job.packages]);
  try {
    await fetch();
  } catch {
    job.signal?.throwIfAborted();
    await tool(job, "apt-get", ["--quiet", "update"]);
    await fetch();
  }
}

function downloadOnly(archives: string): readonly string[] {
  // Without locks: nothing on the system is changed, so an upgrade that runs at the same time does not matter.
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
  if (failure.code === "ENOENT") return `${command} is not installed`;
  return `${command} failed: ${failure.stderr.trim().split("\n").slice(-5).join("\n")}`;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** `debian-12-x64`: files unpacked for one release are not used on another. */
async function releaseOf(file = "/etc/os-release"): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  const field = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, "m").exec(text)?.[1] || "unknown";
  return `${field("ID")}-${field("VERSION_ID")}-${process.arch}`;
}

export interface LibraryOptions {
  /** Searched before the folders of the machine, for a program that is unpacked and not installed. */
  readonly libraryPath?: string;
}

/**
 * The shared libraries and the dynamic loader that a program needs, as sorted absolute paths; none for a static program. Symbolic
 * links are not resolved, because the program asks for the name of the link.
 */
export async function librariesOf(program: string, options: LibraryOptions = {}): Promise<readonly string[]> {
  const lines = (await ldd(program, options)).split("\n").map((line) => line.trim());
  const missing = lines.filter((line) => line.endsWith("=> not found")).map((line) => line.split(" ")[0] ?? line);
  if (missing.length > 0) throw new LibraryMissingError(program, missing);
  // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", "/lib64/ld-linux-x86-64.so.2 (0x…)", and a vdso without a path.
  const paths = lines.map((line) => /(?:^|=> )(\/\S+) \(0x/.exec(line)?.[1]).filter((path) => path !== undefined);
  return [...new Set(paths)].sort();
}

export async function isStatic(program: string): Promise<boolean> {
  return (await ldd(program, {})).trim() === "";
}

async function ldd(program: string, { libraryPath }: LibraryOptions): Promise<string> {
  const env = { ...process.env, LC_ALL: "C", ...(libraryPath !== undefined && { LD_LIBRARY_PATH: libraryPath }) };
  try {
    return (await promisify(execFile)("ldd", [program], { env })).stdout.replace(/^\s*statically linked\s*$/m, "");
  } catch (error) {
    // What ldd prints for a static program, and for a file that is not a program.
    if (error instanceof Error && "stderr" in error && /not a dynamic executable/.test(String(error.stderr))) return "";
    throw error;
  }
}

/** Where unpacked Debian packages have their libraries. */
export function libraryFolders(root: string): readonly string[] {
  const triplet = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return [join(root, "usr/lib", triplet), join(root, "lib", triplet)];
}
