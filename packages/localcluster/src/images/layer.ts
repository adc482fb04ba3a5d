// The files of an image layer, and tar archives, the format of layers and images.
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { join, posix } from "node:path";

export type ImageFile =
  /** A file of this machine; symbolic links are followed. Executable if it is executable here. */
  | { readonly path: string; readonly from: string }
  /** A folder of this machine with its contents; symbolic links in it are kept. */
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
  // The path of a folder ends in a slash, so it sorts before its contents.
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
  // Other bits of the mode depend on the user who builds the image.
  return { type: "file", path, mode: mode & 0o111 ? 0o755 : 0o644, size, content: { file: from } };
}

async function folderEntries(path: string, folder: string, except: Except): Promise<readonly TarEntry[]> {
  const names = await namesBelow(folder, except);
  const entries = await Promise.all(names.map((name) => entryFrom(join(folder, name), posix.join(path, name))));
  return entries.filter((entry) => entry !== undefined);
}

type Except = (relative: string) => boolean;

/** All paths below the folder, without excluded folders and without following links. */
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
  return found.isFile() ? fileEntry(path, from) : undefined; // sockets and devices are skipped
}

/** "a/b/c" → "a/", "a/b/" */
function foldersAbove(path: string): readonly string[] {
  const parts = path.replace(/\/$/, "").split("/").slice(0, -1);
  return parts.map((_, at) => `${parts.slice(0, at + 1).join("/")}/`);
}

/** An entry of a tar archive. The same entries give the same bytes (no times, no owners), and so the same digest. */
export type TarEntry =
  | { readonly type: "file"; readonly path: string; readonly mode: number; readonly size: number; readonly content: Content }
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | { readonly type: "symlink"; readonly path: string; readonly target: string };

/** Bytes, a file of this machine, or a function that returns the same chunks each time. */
type Content = Uint8Array | { readonly file: string } | (() => AsyncIterable<Uint8Array>);

const block = 512;

/** The archive, in chunks. */
export async function* tarOf(entries: AsyncIterable<TarEntry> | Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    yield* headersOf(entry);
    if (entry.type !== "file") continue;
    yield* exactly(entry.size, entry);
    yield padding(entry.size);
  }
  yield new Uint8Array(2 * block);
}

/** The length of the archive, without writing it. */
export function tarSize(entries: readonly TarEntry[]): number {
  const sizes = entries.map((entry) => headersOf(entry).length * block + (entry.type === "file" ? roundUp(entry.size) : 0));
  return sizes.reduce((sum, size) => sum + size, 2 * block);
}

/** A file that changes its size while it is read would corrupt the archive. */
async function* exactly(size: number, { path, content }: TarEntry & { type: "file" }): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of read(content)) {
    seen += chunk.length;
    if (seen <= size) yield chunk;
  }
  if (seen !== size) throw new Error(`${path} changed while it was read: expected ${size} bytes, found ${seen}`);
}

async function* read(content: Content): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else if (typeof content === "function") yield* content();
  else yield* createReadStream(content.file, { highWaterMark: 1024 * 1024 });
}

/** One block; for long paths preceded by blocks in the pax format. */
function headersOf(entry: TarEntry): readonly Uint8Array[] {
  const target = entry.type === "symlink" ? entry.target : "";
  const long = { ...(tooLong(entry.path) && { path: entry.path }), ...(tooLong(target) && { linkpath: target }) };
  const header = headerOf({
    path: entry.path,
    mode: entry.type === "symlink" ? 0o777 : entry.mode,
    size: entry.type === "file" ? entry.size : 0,
    flag: { file: "0", symlink: "2", directory: "5" }[entry.type],
    target,
  });
  return [...paxOf(long), header];
}

function tooLong(name: string): boolean {
  return Buffer.byteLength(name) > 100;
}

function paxOf(values: Readonly<Record<string, string>>): readonly Uint8Array[] {
  const body = Buffer.from(
    Object.entries(values)
      .map(([key, value]) => paxRecord(key, value))
      .join(""),
  );
  if (body.length === 0) return [];
  const blocks = Buffer.concat([body, padding(body.length)]);
  const header = headerOf({ path: "pax", mode: 0o644, size: body.length, flag: "x", target: "" });
  return [header, ...Array.from({ length: blocks.length / block }, (_, at) => blocks.subarray(at * block, (at + 1) * block))];
}

/** "LENGTH key=value\n"; the length includes its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (Buffer.byteLength(`${length}${rest}`) !== length) length = Buffer.byteLength(`${length}${rest}`);
  return `${length}${rest}`;
}

interface Header {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly flag: string;
  readonly target: string;
}

function headerOf({ path, mode, size, flag, target }: Header): Uint8Array {
  const header = Buffer.alloc(block);
  header.write(path, 0, 100);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108); // owner: root
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136); // time: none
  header.write(" ".repeat(8), 148); // the checksum is computed with spaces in its place
  header.write(flag, 156);
  header.write(target, 157, 100);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, "0")}\0`;
}

function padding(size: number): Uint8Array {
  return new Uint8Array(roundUp(size) - size);
}

function roundUp(size: number): number {
  return Math.ceil(size / block) * block;
}
