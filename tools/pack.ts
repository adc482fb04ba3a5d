// @memhog/runtime and @memhog/simulator as packages that others can install. In the repository their doors are TypeScript, which
// Node runs as it is; below node_modules Node refuses to (ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING), and a compiler would
// complain there about our settings in somebody else's project. So what is published is JavaScript and declarations:
//
//   package.json, README.md, LICENSE
//   dist/index.js, dist/testing.js     the doors; dist/shared-….js is what both of them are made of
//   dist/**/*.d.ts                     their types, file by file: only compilers and people read them
//
// Which doors, its tsconfig.pack.json says: that of the simulator for our own suites needs our own clusters, and stays at home.
//
// One file for a door, because more than two hundred small ones cost a process 60 ms and some MiB at its start: images and
// benches run this form too. It is bundled, not minified: names, stacks and `error.name` stay as they are in the sources.
// Whatever is not of the package stays an import, so that zod is the zod of the operator that writes schemas with it.
//
//     npm run pack:runtime, npm run pack:simulator     print where the tarball is
import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { top } from "./process.ts";

const run = promisify(execFile);

const packages = ["runtime", "simulator"] as const;
type Package = (typeof packages)[number];

/** Writes what `npm publish` needs into the folder and resolves to it; what was there goes. */
export async function pack(name: Package, folder: string): Promise<string> {
  await bundle(name, folder);
  await writeTypes(name, join(folder, "dist"));
  cpSync(join(sourceOf(name), "README.md"), join(folder, "README.md"));
  cpSync(join(top, "LICENSE"), join(folder, "LICENSE"));
  return folder;
}

/** The same without what only people and compilers read: enough to run it. */
export async function bundle(name: Package, folder: string): Promise<string> {
  const cwd = sourceOf(name);
  const doors = doorsOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), published(readFileSync(join(cwd, "package.json"), "utf8"), doors));
  await using bundled = await rolldown({
    cwd,
    input: Object.fromEntries(doors.map((file) => [file.replace(/^src\/(.*)\.ts$/, "$1"), file])),
    platform: "node",
    external: (id) => !/^[./]/.test(id),
  });
  await bundled.write({
    dir: join(folder, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "shared-[hash].js",
    keepNames: true,
  });
  return folder;
}

function sourceOf(name: Package): string {
  return join(top, "packages", name);
}

/** "src/index.ts", … */
function doorsOf(name: Package): readonly string[] {
  return JSON.parse(readFileSync(join(sourceOf(name), "tsconfig.pack.json"), "utf8")).files;
}

/** The package.json of a package that was built: its doors lead to dist, and what only its tests need is gone. */
function published(source: string, packed: readonly string[]): string {
  const { exports, devDependencies: _, ...rest } = JSON.parse(source);
  const doors = Object.entries(exports as Record<string, string>)
    .filter(([, file]) => packed.includes(file.replace("./", "")))
    .map(([door, file]) => {
      const built = file.replace(/^\.\/src\/(.*)\.ts$/, "./dist/$1");
      return [door, { types: `${built}.d.ts`, default: `${built}.js` }];
    });
  const whole = { ...rest, exports: { ...Object.fromEntries(doors), "./package.json": "./package.json" }, files: ["dist"] };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

async function writeTypes(name: Package, folder: string): Promise<void> {
  using whole = mkdtempDisposableSync(join(tmpdir(), "types-")); // with those of the packages that it imports
  await run(join(top, "node_modules/.bin/tsc"), ["-p", join(sourceOf(name), "tsconfig.pack.json"), "--outDir", whole.path]);
  cpSync(join(whole.path, "packages", name, "src"), folder, { recursive: true });
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
  const name = packages.find((one) => one === process.argv[2]);
  if (name === undefined) throw new TypeError(`expected one of ${packages.join(", ")}, found ${process.argv[2]}`);
  const destination = join(top, "dist");
  console.log(await tarballOf(await pack(name, join(destination, name)), destination));
}
