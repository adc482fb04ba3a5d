// What goes into a layer: files of this machine, files that we make up, whole folders, links. A list of these becomes the entries
// of a layer's tar: sorted, each path once (the later one wins), with every folder on the way.
import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import type { TarEntry } from "./tar.ts";

export type ImageFile =
  /** A file of this machine; links are followed, so the image has the file itself. Executable if it is so here. */
  | { readonly path: string; readonly from: string }
  /** A folder of this machine with all that is in it; links in it stay links. */
  | { readonly path: string; readonly folder: string; readonly except?: (relative: string) => boolean }
  /** @default mode 0o644 */
  | { readonly path: string; readonly content: string | Uint8Array; readonly mode?: number }
  | { readonly path: string; readonly link: string }
  /** An empty folder. */
  | { readonly path: string; readonly mode: number };

export async function entriesOf(files: readonly ImageFile[]): Promise<readonly TarEntry[]> {
  const entries = new Map<string, TarEntry>();
  for (const file of files) {
    for (const entry of await expand(file)) entries.set(entry.path, entry);
  }
  for (const path of [...entries.keys()].flatMap(foldersAbove)) {
    if (!entries.has(path)) entries.set(path, { type: "directory", path, mode: 0o755 });
  }
  // By name: a folder's ends in a slash, so it comes before what is in it.
  return [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function expand(file: ImageFile): Promise<readonly TarEntry[]> {
  const path = posix.join("/", file.path).slice(1);
  if ("from" in file) return [await fileEntry(path, file.from)];
  if ("folder" in file) return folderEntries(path, file.folder, file.except ?? (() => false));
  if ("link" in file) return [{ type: "symlink", path, target: file.link }];
  if ("content" in file) {
    const content = typeof file.content === "string" ? Buffer.from(file.content) : file.content;
    return [{ type: "file", path, mode: file.mode ?? 0o644, size: content.length, content }];
  }
  return [{ type: "directory", path: `${path}/`, mode: file.mode }];
}

async function fileEntry(path: string, from: string): Promise<TarEntry> {
  const { mode, size } = await stat(from);
  // Of all that a mode can say, only "can be run" is about the file; the rest is about the user who happens to build.
  return { type: "file", path, mode: mode & 0o111 ? 0o755 : 0o644, size, content: { file: from } };
}

async function folderEntries(path: string, folder: string, except: Except): Promise<readonly TarEntry[]> {
  const names = await namesBelow(folder, except);
  const entries = await Promise.all(names.map((name) => entryFrom(join(folder, name), posix.join(path, name))));
  return entries.filter((entry) => entry !== undefined);
}

type Except = (relative: string) => boolean;

/** Everything that is kept. What is behind a link is not below the folder, and what is left out is not even looked into. */
async function namesBelow(folder: string, except: Except, below = ""): Promise<readonly string[]> {
  const found = await readdir(join(folder, below), { withFileTypes: true });
  const names = found.map(async (each) => {
    const name = posix.join(below, each.name);
    if (except(name)) return [];
    return each.isDirectory() ? [name, ...(await namesBelow(folder, except, name))] : [name];
  });
  return (await Promise.all(names)).flat();
}

async function entryFrom(from: string, path: string): Promise<TarEntry | undefined> {
  const found = await lstat(from);
  if (found.isSymbolicLink()) return { type: "symlink", path, target: await readlink(from) };
  if (found.isDirectory()) return { type: "directory", path: `${path}/`, mode: 0o755 };
  return found.isFile() ? fileEntry(path, from) : undefined; // sockets and devices are not content
}

/** "a/b/c" → "a/", "a/b/" */
function foldersAbove(path: string): readonly string[] {
  const parts = path.replace(/\/$/, "").split("/").slice(0, -1);
  return parts.map((_, at) => `${parts.slice(0, at + 1).join("/")}/`);
}
