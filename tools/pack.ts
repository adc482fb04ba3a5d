// Builds the npm packages of the repository. In the repository their entry points are TypeScript, which Node runs directly.
// Node does not strip types below node_modules (ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING), so the published packages have
// JavaScript and declarations:
//
//   package.json, README.md, LICENSE, docs/
//   dist/index.js, dist/client.js, …    the entry points, with source maps; dist/shared-….js is code that several of them use
//   dist/**/*.d.ts                      their types, file by file
//
// tsconfig.pack.json lists the entry points to publish. The package is bundled because more than two hundred small files cost
// 60 ms and some MiB at startup; images and benchmarks use this form too. It is not minified, so names and stack traces stay
// readable. Dependencies stay imports, so that the package shares zod with the operator that uses it for its schemas.
//
//     npm run pack:runtime, npm run pack:simulator     print the path of the tarball
import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { top } from "./process.ts";

const run = promisify(execFile);

const packages = ["runtime", "kit", "simulator"] as const;
type Package = (typeof packages)[number];

/** The guides that the runtime's package contains. */
const guides = ["writing-an-operator.md", "plans.md", "hooks.md"];

/** Writes the files for `npm publish` into the folder, which is emptied first. Resolves to the folder. */
export async function pack(name: Package, folder: string): Promise<string> {
  // Older syntax, so that an old Node can parse the file and reach the version check.
  await bundle(name, folder, { sourcemap: true, target: "es2022" });
  await writeTypes(name, join(folder, "dist"));
  checkNodeVersionFirst(name, join(folder, "dist"));
  cpSync(join(sourceOf(name), "README.md"), join(folder, "README.md"));
  cpSync(join(top, "LICENSE"), join(folder, "LICENSE"));
  for (const guide of name === "runtime" ? guides : []) cpSync(join(top, "docs/guides", guide), join(folder, "docs", guide));
  return folder;
}

interface BundleOptions {
  readonly sourcemap?: boolean;
  /** The oldest ECMAScript version that must parse it. @default that of Node 24 */
  readonly target?: string;
}

/** Writes package.json and dist without types, which is enough to run the package. */
export async function bundle(
  name: Package,
  folder: string,
  { sourcemap = false, target = "esnext" }: BundleOptions = {},
): Promise<string> {
  const cwd = sourceOf(name);
  const entries = entriesOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), published(readFileSync(join(cwd, "package.json"), "utf8"), entries));
  await using bundled = await rolldown({
    cwd,
    input: Object.fromEntries(entries.map((file) => [file.replace(/^src\/(.*)\.ts$/, "$1"), file])),
    platform: "node",
    // Bundles the helpers for older syntax and @memhog/hog, which is not published. Dependencies stay imports.
    external: (id) => !/^[./]|^@oxc-project\/runtime|^@memhog\/hog/.test(id),
    transform: { target },
  });
  await bundled.write({
    dir: join(folder, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "shared-[hash].js",
    keepNames: true,
    sourcemap,
    // One chunk for all code that is not for tests: each file costs startup time and memory.
    codeSplitting: { groups: [{ name: "shared", test: (id) => !/\/testing(\/|\.ts$)/.test(id), minShareCount: 1 }] },
  });
  return folder;
}

/**
 * Adds the Node version check as the first import of every entry point. ES modules are evaluated in import order, so an
 * old Node fails here with one sentence, not in a dependency with a missing function.
 */
function checkNodeVersionFirst(name: Package, dist: string): void {
  const oldest = 24;
  const message = `@memhog/${name} requires Node.js ${oldest} or newer. This is Node.js `;
  writeFileSync(
    join(dist, "node-version.js"),
    `if (Number(process.versions.node.split(".")[0]) < ${oldest}) {\n` +
      `  console.error(${JSON.stringify(message)} + process.versions.node + ".");\n  process.exit(1);\n}\n`,
  );
  for (const entry of entriesOf(name)) {
    const file = entry.replace(/^src\/(.*)\.ts$/, "$1.js");
    const path = join(dist, file);
    const up = relative(dirname(path), join(dist, "node-version.js"));
    // On the same line as the following code, so that the source map stays correct.
    writeFileSync(path, `import ${JSON.stringify(up.startsWith(".") ? up : `./${up}`)};${readFileSync(path, "utf8")}`);
  }
}

function sourceOf(name: Package): string {
  return join(top, "packages", name);
}

/** For example "src/index.ts". */
function entriesOf(name: Package): readonly string[] {
  return JSON.parse(readFileSync(join(sourceOf(name), "tsconfig.pack.json"), "utf8")).files;
}

/** The package.json of the published package: its entry points are in dist, and it has no dependencies for tests. */
function published(source: string, packed: readonly string[]): string {
  const { exports, devDependencies: _, ...rest } = JSON.parse(source);
  const entries = Object.entries(exports as Record<string, string>)
    .filter(([, file]) => packed.includes(file.replace("./", "")))
    .map(([entry, file]) => {
      const built = file.replace(/^\.\/src\/(.*)\.ts$/, "./dist/$1");
      return [entry, { types: `${built}.d.ts`, default: `${built}.js` }];
    });
  const whole = {
    ...rest,
    exports: { ...Object.fromEntries(entries), "./package.json": "./package.json" },
    files: ["dist", "docs"],
    sideEffects: ["./dist/node-version.js"],
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

async function writeTypes(name: Package, folder: string): Promise<void> {
  using whole = mkdtempDisposableSync(join(tmpdir(), "types-")); // includes the types of the packages that it imports
  await run(join(top, "node_modules/.bin/tsc"), ["-p", join(sourceOf(name), "tsconfig.pack.json"), "--outDir", whole.path]);
  cpSync(join(whole.path, "packages", name, "src"), folder, { recursive: true });
  for (const file of globSync("**/*.d.ts", { cwd: folder })) {
    const path = join(folder, file);
    // The compiler keeps the .ts extensions of imports, but the package has only .js files.
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
