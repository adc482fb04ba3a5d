// Images of programs: the files that make a program run in an image that has nothing else.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type DebianOptions, unpackedPackages } from "../node/debian.ts";
import { nodeTools } from "../node/packages.ts";
import type { ImageFile } from "./files.ts";
import { buildImage, type ImageSpec } from "./image.ts";
import { librariesOf, libraryFolders } from "./libraries.ts";

/** What every image here has in common, beside its programs. */
type CommonSpec = Omit<ImageSpec, "layers" | "entrypoint"> & Partial<Pick<ImageSpec, "entrypoint">>;

/** For whom restricted pods run: `runAsNonRoot` wants a number, so the image names one. */
const nonRoot = "65532:65532";

export interface NodeImageSpec extends Omit<CommonSpec, "entrypoint"> {
  /** The program: a folder with its sources and, if it has any, its node_modules. Goes to /app, which is the working folder. */
  readonly folder: string;
  /** Paths below the folder that stay out. */
  readonly except?: (relative: string) => boolean;
  /** What Node runs, from /app, and its arguments: ["src/main.ts", "--flag"]. */
  readonly entrypoint: readonly string[];
  readonly extraFiles?: readonly ImageFile[];
}

/** An image with the Node that runs this, and a program for it. Not root, and nothing in it that could be written. */
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
  /** Absolute paths on this machine; each goes to the same path in the image, with the libraries it needs. */
  readonly programs: readonly string[];
  /** Debian packages to take the programs from where this machine has not installed them. */
  readonly packages?: readonly string[];
  readonly extraFiles?: readonly ImageFile[];
  readonly fetch?: DebianOptions;
}

/** An image of programs of this machine or of Debian's packages. The entrypoint is the first one unless it is named. */
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

/** A package that is installed is not unpacked a second time. */
function pathIn(root: string, path: string): string {
  const unpacked = join(root, path);
  return existsSync(unpacked) ? unpacked : path;
}

export interface BusyboxImageSpec extends CommonSpec {
  /** A static busybox. @default the one that real nodes use */
  readonly busybox?: string;
}

/** A shell and some two hundred small programs in two megabytes: enough for a test's pod. */
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

/** Users with names, name lookups that use DNS, a place for temporary files, and the authorities that this machine trusts. */
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

/** A program and its libraries, each where the loader will look for it: as on this machine, or as if it were installed. */
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
