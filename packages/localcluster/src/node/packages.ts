// The programs of a node that are not Kubernetes' own, and the Debian packages they are in. What this machine has is used as it
// is; the rest is unpacked into the cache (debian.ts). Whoever prefers to install them can: `apt-get install` what is named here.
import { existsSync } from "node:fs";
import { readdir, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isExecutableFile } from "../binaries/command.ts";
import { isStatic, libraryFolders } from "../images/libraries.ts";
import { type DebianOptions, unpackedPackages } from "./debian.ts";

/** A program, or for CNI a plugin, and where it comes from. */
interface Wanted {
  readonly program: string;
  readonly package: string;
  /** Runs in a container that has no libraries. */
  readonly static?: true;
}

const ofNode: readonly Wanted[] = [
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
const ofPrometheus: readonly Wanted[] = [{ program: "prometheus", package: "prometheus" }];

/** Where CNI plugins are: in Debian, where everybody else installs them by hand, in Fedora. */
const cniFolders = ["usr/lib/cni", "opt/cni/bin", "usr/libexec/cni"];
const folders = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin", ...cniFolders];

/** The programs that a node needs, wherever they are. */
export interface Tools {
  /** Absolute path. */
  path(program: string): string;
  /** What a program needs in its environment to find the others, and the libraries that this machine has not installed. */
  readonly env: Readonly<Record<string, string>>;
}

/** Every program of a node; fetches what is missing. */
export function nodeTools(options?: DebianOptions): Promise<Tools> {
  return findTools(ofNode, options);
}

/** Apart, because a node needs none. */
export function prometheusTools(options?: DebianOptions): Promise<Tools> {
  return findTools(ofPrometheus, options);
}

async function findTools(wanted: readonly Wanted[], options: DebianOptions = {}): Promise<Tools> {
  const here = foldersHere(options.env ?? process.env);
  const installed = await findAll(wanted, here);
  const missing = wanted.filter(({ program }) => !installed.has(program));
  if (missing.length === 0) return toolsFrom(installed, { PATH: here.join(delimiter) });
  const root = await unpackedPackages([...new Set(missing.map((each) => each.package))], options);
  await linkIptables(root);
  const unpacked = await findAll(missing, foldersBelow(root));
  return toolsFrom(new Map([...unpacked, ...installed]), unpackedEnvironment(root, here));
}

/** Debian chooses between the two iptables when it is installed; unpacked, there is only the choice. nft is its default. */
async function linkIptables(root: string): Promise<void> {
  const folder = join(root, "usr/sbin");
  const names = await readdir(folder).catch((): string[] => []);
  if (!names.includes("xtables-nft-multi")) return;
  for (const family of ["iptables", "ip6tables"]) {
    for (const name of [family, `${family}-save`, `${family}-restore`]) {
      if (names.includes(name)) continue;
      await symlink("xtables-nft-multi", join(folder, name)).catch(ignoreExisting); // another process may do the same
    }
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

async function findAll(wanted: readonly Wanted[], folders: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const each of wanted) {
    const path = await find(each, folders);
    if (path !== undefined) found.set(each.program, path);
  }
  return found;
}

async function find(each: Wanted, folders: readonly string[]): Promise<string | undefined> {
  for (const path of folders.map((folder) => join(folder, each.program))) {
    if ((await isExecutableFile(path)) && (!each.static || (await isStatic(path)))) return path;
  }
  return undefined;
}

function toolsFrom(paths: ReadonlyMap<string, string>, env: Tools["env"]): Tools {
  const path = (program: string) => {
    const found = paths.get(program);
    if (found === undefined) throw new Error(`${program} is not a program of this set, or its package no longer has it`);
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
    // An iptables that is installed has its extensions where it was told at compile time.
    ...(extensions !== undefined && { XTABLES_LIBDIR: extensions }),
  };
}

/** A user's PATH may lack the folders of root's programs. */
function foldersHere(env: NodeJS.ProcessEnv): readonly string[] {
  const named = (env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  return [...new Set([...named, ...foldersBelow("/")])];
}

function foldersBelow(root: string): readonly string[] {
  return folders.map((folder) => join(root, folder));
}
