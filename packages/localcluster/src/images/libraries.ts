// What a program needs beside itself to run in an image that has nothing: the shared libraries and the loader, as `ldd` names
// them. A name that leads there by links is kept as a name, because it is what the program asks for.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { LibraryMissingError } from "../errors.ts";

export interface LibraryOptions {
  /** Folders to look in before the machine's own, for a program that is unpacked and not installed. */
  readonly libraryPath?: string;
}

/** Absolute paths of the libraries and of the loader, sorted; none for a static program. */
export async function librariesOf(program: string, options: LibraryOptions = {}): Promise<readonly string[]> {
  const lines = (await ldd(program, options)).split("\n").map((line) => line.trim());
  const missing = lines.filter((line) => line.endsWith("=> not found")).map((line) => line.split(" ")[0] ?? line);
  if (missing.length > 0) throw new LibraryMissingError(program, missing);
  // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", "/lib64/ld-linux-x86-64.so.2 (0x…)", and a vdso without a path.
  const paths = lines.map((line) => /(?:^|=> )(\/\S+) \(0x/.exec(line)?.[1]).filter((path) => path !== undefined);
  return [...new Set(paths)].sort();
}

/** Runs without any library. */
export async function isStatic(program: string): Promise<boolean> {
  return (await ldd(program, {})).trim() === "";
}

async function ldd(program: string, { libraryPath }: LibraryOptions): Promise<string> {
  const env = { ...process.env, LC_ALL: "C", ...(libraryPath !== undefined && { LD_LIBRARY_PATH: libraryPath }) };
  try {
    return (await promisify(execFile)("ldd", [program], { env })).stdout.replace(/^\s*statically linked\s*$/m, "");
  } catch (error) {
    // ldd's way of saying that a program is static, or no program at all: either has no libraries.
    if (error instanceof Error && "stderr" in error && /not a dynamic executable/.test(String(error.stderr))) return "";
    throw error;
  }
}

/** Where packages of Debian that are unpacked below a root have their libraries. */
export function libraryFolders(root: string): readonly string[] {
  const triplet = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return [join(root, "usr/lib", triplet), join(root, "lib", triplet)];
}
