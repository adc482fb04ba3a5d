// Builds memhog-operator as a self-contained folder: /app of the image. The Dockerfile of operators/memhog and the tests
// on a real node both use it, so they run the same files.
//
//     node tools/operator-tree.ts FOLDER && node FOLDER/src/main.js --help
//
//     FOLDER/src                            the operator as plain JavaScript: type stripping at startup costs 25 MiB of memory
//     FOLDER/node_modules/@memhog/runtime   the published runtime, one file per entry point (pack.ts)
//     FOLDER/node_modules/…                 their dependencies, without files that are not needed at run time
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { bundle } from "./pack.ts";
import { top } from "./process.ts";
import { toJavaScript } from "./strip-types.ts";

const operator = "operators/memhog";
const runtime = "packages/runtime";

/** Writes the tree. Deletes the previous content of the folder. */
export async function writeOperatorTree(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  writePackage(operator, folder);
  for (const name of ["runtime", "kit"] as const) await bundle(name, join(folder, "node_modules/@memhog", name));
  for (const name of modulesNeeded()) {
    const from = join(top, "node_modules", name);
    cpSync(from, join(folder, "node_modules", name), {
      recursive: true,
      filter: (path) => !isForReaders(path.slice(from.length)),
    });
  }
}

/** Writes one of our packages as JavaScript. */
function writePackage(from: string, to: string): void {
  const exclude = (path: string | { readonly name: string }) =>
    /node_modules|\.(test|fixture)\.ts$/.test(typeof path === "string" ? path : path.name);
  for (const file of globSync("{package.json,src/**/*.*}", { cwd: join(top, from), exclude })) {
    const source = readFileSync(join(top, from, file));
    const target = join(to, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(
      target,
      file.endsWith(".ts") ? toJavaScript(source.toString()) : file === "package.json" ? described(source) : source,
    );
  }
}

/** The fields of package.json that Node needs. */
function described(source: Buffer): string {
  const { name, version, type, exports = {} } = JSON.parse(source.toString());
  return `${JSON.stringify({ name, version, type, exports }, undefined, 2).replaceAll(/\.ts"/g, '.js"')}\n`;
}

/** The dependencies of both packages, transitively. Each is at the top of node_modules or inside the package that needs it. */
function modulesNeeded(): ReadonlySet<string> {
  const known = new Set<string>();
  const visit = (folder: string) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies)) {
      const installed = join(top, "node_modules", name);
      if (name.startsWith("@memhog/") || known.has(name) || !existsSync(installed)) continue;
      known.add(name);
      visit(installed);
    }
  };
  for (const ours of [operator, runtime]) visit(join(top, ours));
  return known;
}

/** Whether the file is not needed at run time: declarations, source maps, TypeScript sources, documentation. */
function isForReaders(path: string): boolean {
  return /\.(ts|cts|mts|map|md|flow)$|^\/(test|tests|docs|benchmarks|examples|src\/(?!.*\.js$))(\/|$)/.test(path);
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error("expected a folder: node tools/operator-tree.ts FOLDER");
  await writeOperatorTree(resolve(folder));
}
