// Builds the contenders as users install them: ours is packed (tools/pack.ts), client-node is installed and
// controller-runtime is compiled, on first use and outside the repository, because only this benchmark needs them. Our
// package is one file and client-node has hundreds, which is one reason for its slow start; so client-node also runs as a
// bundle.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { stripTypes } from "../../tools/strip-types.ts";

export interface Contenders {
  readonly ours: readonly string[];
  /** An operator without work. */
  readonly idle: readonly string[];
  readonly peers: Readonly<Record<string, readonly string[]>>;
}

const run = promisify(execFile);
const here = join(import.meta.dirname, "contenders");

export async function buildContenders(): Promise<Contenders> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "memhog-bench");
  mkdirSync(folder, { recursive: true });
  console.error("preparing the contenders (minutes the first time) …");
  const ours = await stripTypes(join(folder, "ours"));
  // No Node flags: the runtime sets what our operators use (`memory: "small"`).
  const contender = (name: string) => ["node", join(ours, `bench/runtime/contenders/${name}.js`)];
  const theirs = await clientNode(join(folder, "client-node"));
  return {
    ours: contender("ours"),
    idle: contender("idle"),
    peers: {
      "ours, whole": [...contender("ours"), "--whole"],
      "client-node": ["node", theirs],
      "client-node, one file": ["node", await inOneFile(theirs)],
      "controller-runtime": [await controllerRuntime(join(folder, "controller-runtime"))],
    },
  };
}

async function clientNode(folder: string): Promise<string> {
  cpSync(join(here, "client-node"), folder, { recursive: true });
  if (!existsSync(join(folder, "node_modules"))) await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder });
  return join(folder, "main.js");
}

/** Bundles client-node into one file. The program stays separate, because it starts the clock before it imports client-node. */
async function inOneFile(main: string): Promise<string> {
  const dir = join(dirname(main), "one-file");
  await using bundle = await rolldown({ input: main, platform: "node", logLevel: "silent" });
  await bundle.write({ dir, format: "esm", cleanDir: true, entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" });
  return join(dir, "main.mjs");
}

async function controllerRuntime(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const binary = join(folder, "contender");
  await run("go", ["build", "-trimpath", "-o", binary, "."], { cwd: join(here, "controller-runtime") });
  return binary;
}
