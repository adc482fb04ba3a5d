// Images of programs: their files, and everything they need to run in an otherwise empty image.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join, posix, relative } from "node:path";
import { promisify } from "node:util";
import { type DebianOptions, librariesOf, libraryFolders, nodeTools, unpackedPackages } from "../node/packages.ts";
import { buildImage, type ImageSpec } from "./image.ts";
import type { ImageFile } from "./layer.ts";

type CommonSpec = Omit<ImageSpec, "layers" | "entrypoint"> & Partial<Pick<ImageSpec, "entrypoint">>;

/** Pods with `runAsNonRoot` need a numeric user. */
const nonRoot = "65532:65532";

export interface NodeImageSpec extends Omit<CommonSpec, "entrypoint"> {
  /** The sources and node_modules of the program. Copied to /app, the working directory. */
  readonly folder: string;
  /** Excludes paths below the folder. */
  readonly except?: (relative: string) => boolean;
  /** The script below /app, and its arguments: ["src/main.ts", "--flag"]. */
  readonly entrypoint: readonly string[];
  readonly extraFiles?: readonly ImageFile[];
}

/** An image of a Node program, with the Node that runs this. It runs as a user other than root. */
export async function nodeImage({ folder, except, entrypoint, extraFiles = [], ...spec }: NodeImageSpec): Promise<string> {
  const node = "/usr/local/bin/node";
  const base = [...system(), ...(await programFiles({ from: await realpath(process.execPath), path: node }))];
  const app: ImageFile[] = [{ path: "/app", folder, ...(except && { except }) }, ...extraFiles];
  const defaults = { user: nonRoot, workingFolder: "/app" };
  return buildImage({
    ...defaults,
    ...spec,
    env: { NODE_ENV: "production", ...spec.env },
    entrypoint: [node, ...entrypoint],
    layers: [base, app],
  });
}

export interface ProgramImageSpec extends CommonSpec {
  /** Absolute paths on this machine. Each is copied to the same path in the image, with the libraries it needs. */
  readonly programs: readonly string[];
  /** Debian packages that have the programs which are not installed. */
  readonly packages?: readonly string[];
  readonly extraFiles?: readonly ImageFile[];
  readonly fetch?: DebianOptions;
}

/** An image of installed programs or of programs from Debian packages. The default entrypoint is the first program. */
export async function programImage({
  programs,
  packages = [],
  extraFiles = [],
  fetch,
  ...spec
}: ProgramImageSpec): Promise<string> {
  const root = packages.length > 0 ? await unpackedPackages(packages, fetch) : "/";
  const files = await Promise.all(programs.map((path) => programFiles({ from: pathIn(root, path), path, root })));
  const layers = [[...system(), ...files.flat()], extraFiles].filter((layer) => layer.length > 0);
  return buildImage({ user: nonRoot, ...spec, entrypoint: spec.entrypoint ?? programs.slice(0, 1), layers });
}

/** Installed packages are not unpacked. */
function pathIn(root: string, path: string): string {
  const unpacked = join(root, path);
  return existsSync(unpacked) ? unpacked : path;
}

export interface BusyboxImageSpec extends CommonSpec {
  /** A static busybox. @default the busybox of real nodes */
  readonly busybox?: string;
}

/** A shell and about two hundred small programs in two megabytes. */
export async function busyboxImage({ busybox: given, ...spec }: BusyboxImageSpec): Promise<string> {
  const busybox = given ?? (await nodeTools()).path("busybox");
  const { stdout } = await promisify(execFile)(busybox, ["--list"]);
  const applets = stdout
    .trim()
    .split("\n")
    .filter((name) => name !== "busybox");
  const links = applets.map((name): ImageFile => ({ path: `/bin/${name}`, link: "busybox" }));
  const files = [...system(), { path: "/bin/busybox", from: busybox }, ...links];
  return buildImage({ ...spec, entrypoint: spec.entrypoint ?? [], command: spec.command ?? ["/bin/sh"], layers: [files] });
}

/** User names, DNS lookups, /tmp, and the certificate authorities that this machine trusts. */
function system(): readonly ImageFile[] {
  const authorities = "/etc/ssl/certs/ca-certificates.crt";
  return [
    { path: "/etc/passwd", content: "root:x:0:0:root:/:/bin/sh\nnonroot:x:65532:65532:nonroot:/tmp:/bin/sh\n" },
    { path: "/etc/group", content: "root:x:0:\nnonroot:x:65532:\n" },
    { path: "/etc/nsswitch.conf", content: "hosts: files dns\n" },
    { path: "/tmp", mode: 0o1777 },
    ...(existsSync(authorities) ? [{ path: authorities, from: authorities }] : []),
  ];
}

/** A program and its libraries, each at the path where the dynamic loader searches for it. */
async function programFiles({
  from,
  path,
  root = "/",
}: {
  from: string;
  path: string;
  root?: string;
}): Promise<readonly ImageFile[]> {
  const libraryPath = root === "/" ? {} : { libraryPath: libraryFolders(root).join(":") };
  const libraries = await librariesOf(from, libraryPath);
  const inImage = (library: string) => (root !== "/" && library.startsWith(`${root}/`) ? library.slice(root.length) : library);
  return [{ path, from }, ...libraries.map((library): ImageFile => ({ path: inImage(library), from: library }))];
}

export interface PackageImageSpec extends Omit<NodeImageSpec, "folder" | "except"> {
  /** The root of the workspace, with node_modules. Copied to /app. */
  readonly top: string;
  /** The folder of the package, relative to the root. The entrypoint is relative to it. */
  readonly folder: string;
}

/**
 * An image of a package of an npm workspace, with its dependencies and without tests.
 *
 *     await packageImage({ top, folder: "operators/gordon", entrypoint: ["src/main.ts"], name: "gordon-operator:dev", output });
 */
export function packageImage({ top, folder, entrypoint, ...spec }: PackageImageSpec): Promise<string> {
  const wanted = ["package.json", ...foldersNeeded(top, folder)];
  const isWanted = (path: string) => wanted.some((each) => within(path, each) || within(each, path));
  const forTests = /^(?!node_modules\/).*(\.(test|fixture)\.ts|\/(testing|testing\.ts|deploy|test-data))$/;
  const [program = "", ...args] = entrypoint;
  return nodeImage({
    ...spec,
    folder: top,
    except: (path) => !isWanted(path) || forTests.test(path),
    entrypoint: [posix.join(folder, program), ...args],
  });
}

const within = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** The package and its dependencies, which npm installs or links at the top of node_modules. */
function foldersNeeded(top: string, folder: string, known = new Set<string>()): ReadonlySet<string> {
  known.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(top, folder, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const installed = posix.join("node_modules", name);
    // Otherwise it is in the node_modules of the package that needs it.
    if (known.has(installed) || !existsSync(join(top, installed))) continue;
    known.add(installed);
    foldersNeeded(top, relative(realpathSync(top), realpathSync(join(top, installed))), known);
  }
  return known;
}
