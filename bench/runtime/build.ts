// The contenders, ready to run. Each is what people get who install it: ours is packed (tools/pack.ts), client-node is installed
// and controller-runtime compiled, on first use and outside the repository, because only this bench wants them. Our package is one
// file and client-node's are hundreds, which is part of why a program on it starts slowly; so it also runs as a bundler makes it.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { stripTypes } from "../../tools/strip-types.ts";

export interface Contenders {
  readonly ours: readonly string[];
  /** An operator with nothing to do. */
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
  // No flags of Node's: what our operators run with is set by the runtime itself (`memory: "small"`).
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

/** All of client-node in one file; the program, which starts the clock before it loads it, stays another. */
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
