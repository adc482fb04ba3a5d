// Converts our TypeScript to JavaScript, file by file, with Node's own type stripping: no source maps, and line numbers
// stay the same. Stripping types at startup costs a process 25 MiB of memory, so images and benchmarks run this form. It
// uses the published runtime, one file per entry point (pack.ts).
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { bundle } from "./pack.ts";
import { top } from "./process.ts";

const runtime = "packages/runtime";
const sources = "{packages,operators,bench,workloads}/**/*.ts";

/**
 * Writes the whole tree as JavaScript below `folder`, with a node_modules that resolves our packages to their JavaScript
 * form.
 */
export async function stripTypes(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of globSync(sources, { cwd: top, exclude: isLeftOut })) write(join(folder, toJs(file)), strip(file));
  for (const file of globSync("{packages,operators}/*/package.json", { cwd: top })) {
    write(join(folder, file), readFileSync(join(top, file), "utf8").replaceAll(/\.ts"/g, '.js"'));
  }
  await bundle("runtime", join(folder, runtime));
  linkModules(folder);
  return folder;
}

function isLeftOut(path: string | { readonly name: string }): boolean {
  const name = typeof path === "string" ? path : path.name;
  return /node_modules|\.test\.ts$/.test(name) || name === runtime;
}

function strip(file: string): string {
  return toJavaScript(readFileSync(join(top, file), "utf8"));
}

/** Strips the types of a file, and changes the extension of our own imports to .js. */
export function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(/(\bfrom\s+"|\bimport\("|^import\s+")(\.[^"]*)\.ts"/gm, '$1$2.js"');
}

function toJs(file: string): string {
  return file.replace(/\.ts$/, ".js");
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Links all installed packages, but replaces our own with those written above. */
function linkModules(folder: string): void {
  const installed = join(top, "node_modules");
  const target = join(folder, "node_modules");
  mkdirSync(join(target, "@memhog"), { recursive: true });
  for (const name of globSync("*", { cwd: installed })) {
    if (name !== "@memhog") symlinkSync(join(installed, name), join(target, name));
  }
  for (const file of globSync("{packages,operators}/*/package.json", { cwd: folder })) {
    const { name } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { name: string };
    symlinkSync(join(folder, dirname(file)), join(target, name));
  }
  cpSync(join(top, "package.json"), join(folder, "package.json"));
}
