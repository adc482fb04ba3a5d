// Writes tar archives: the one format that image layers and image archives are made of. Always the same bytes for the same
// entries (no times, no owners, no order but the caller's), so that the same files are the same image, with the same digest.
import { createReadStream } from "node:fs";

export type TarEntry =
  | { readonly type: "file"; readonly path: string; readonly mode: number; readonly size: number; readonly content: Content }
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | { readonly type: "symlink"; readonly path: string; readonly target: string };

/** Bytes, a file on this machine, or something that makes chunks when asked (and the same ones when asked again). */
type Content = Uint8Array | { readonly file: string } | (() => AsyncIterable<Uint8Array>);

const block = 512;

/** The archive, piece by piece. */
export async function* tarOf(entries: AsyncIterable<TarEntry> | Iterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    yield* headersOf(entry);
    if (entry.type !== "file") continue;
    yield* exactly(entry.size, entry);
    yield padding(entry.size);
  }
  yield new Uint8Array(2 * block);
}

/** How long the archive will be, known before it is written. */
export function tarSize(entries: readonly TarEntry[]): number {
  const sizes = entries.map((entry) => headersOf(entry).length * block + (entry.type === "file" ? roundUp(entry.size) : 0));
  return sizes.reduce((sum, size) => sum + size, 2 * block);
}

/** A file that grows while it is read would shift everything behind it. */
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

/** One block, and before it two or more that carry what does not fit (the pax format, which every tar reads). */
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

/** "LENGTH key=value\n", where the length counts its own digits. */
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
  header.write(" ".repeat(8), 148); // the checksum is taken with spaces in its place
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
