// @memhog/runtime as a package that others can install. In the repository its doors are TypeScript, which Node runs as it is;
// below node_modules Node refuses to (ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING), and a compiler would complain there about
// our settings in somebody else's project. So what is published is JavaScript and declarations:
//
//   package.json, README.md, LICENSE
//   dist/index.js, dist/testing.js     the two doors; dist/shared-….js is what both of them are made of
//   dist/**/*.d.ts                     their types, file by file: only compilers and people read them
//
// One file for a door, because more than two hundred small ones cost a process 60 ms and some MiB at its start: images and
// benches run this form too. It is bundled, not minified: names, stacks and `error.name` stay as they are in the sources.
// Whatever is not ours stays an import, so that zod is the zod of the operator that writes schemas with it.
//
//     npm run pack:runtime     prints where the tarball is
import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { top } from "./process.ts";

const run = promisify(execFile);
const runtime = join(top, "packages/runtime");

/** Writes what `npm publish` needs into the folder and resolves to it; what was there goes. */
export async function packRuntime(folder: string): Promise<string> {
  await bundleRuntime(folder);
  await writeTypes(join(folder, "dist"));
  cpSync(join(runtime, "README.md"), join(folder, "README.md"));
  cpSync(join(top, "LICENSE"), join(folder, "LICENSE"));
  return folder;
}

/** The same without what only people and compilers read: enough to run it. */
export async function bundleRuntime(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), published(readFileSync(join(runtime, "package.json"), "utf8")));
  await using bundle = await rolldown({
    cwd: runtime,
    input: { index: "src/index.ts", testing: "src/testing.ts" },
    platform: "node",
    external: (id) => !/^[./]/.test(id),
  });
  await bundle.write({
    dir: join(folder, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "shared-[hash].js",
    keepNames: true,
  });
  return folder;
}

/** The package.json of a package that was built: its doors lead to dist, and what only its tests need is gone. */
function published(source: string): string {
  const { exports, devDependencies: _, ...rest } = JSON.parse(source);
  const doors = Object.entries(exports as Record<string, string>).map(([door, file]) => {
    const built = file.replace(/^\.\/src\/(.*)\.ts$/, "./dist/$1");
    return [door, { types: `${built}.d.ts`, default: `${built}.js` }];
  });
  const whole = { ...rest, exports: { ...Object.fromEntries(doors), "./package.json": "./package.json" }, files: ["dist"] };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

async function writeTypes(folder: string): Promise<void> {
  await run(join(top, "node_modules/.bin/tsc"), ["-p", join(runtime, "tsconfig.pack.json"), "--outDir", folder]);
  for (const file of globSync("**/*.d.ts", { cwd: folder })) {
    const path = join(folder, file);
    // The compiler leaves the names of our sources in; there is only what it made of them.
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/(\bfrom "|\bimport\(")(\.[^"]*)\.ts"/g, '$1$2.js"'));
  }
}

/** Resolves to the path of the tarball. */
async function tarballOf(folder: string, destination: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", destination], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(destination, filename);
}

if (import.meta.main) {
  const destination = join(top, "dist");
  console.log(await tarballOf(await packRuntime(join(destination, "runtime")), destination));
}
