// For tests on a real node: this operator as an image. What it needs is what its package.json and those of its dependencies
// name; nothing is installed, and nothing that only tests need goes in.
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeImage } from "@memhog/localcluster";
import type { TestCluster } from "@memhog/localcluster/testing";

const top = join(import.meta.dirname, "../../..");

/** Loads what `build` writes to the path it is given. */
export async function loadBuilt(cluster: TestCluster, build: (output: string) => Promise<string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  try {
    await cluster.load(await build(join(folder, "image.tar")));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The operator in an image. */
export function operatorImage(name: string, output: string): Promise<string> {
  const packages = neededBy("operators/gordon");
  const wanted = ["package.json", "operators/gordon", "packages/runtime", ...packages.map((each) => `node_modules/${each}`)];
  const isWanted = (path: string) => wanted.some((each) => within(path, each) || within(each, path));
  // Below node_modules/@memhog are links to packages/: the links go in, and nothing behind them. Node runs no TypeScript there.
  const behindLink = /^node_modules\/@memhog\/\w+\//;
  const forTests = /\.(test|fixture)\.ts$|\/deploy$|\/test-data$/;
  const except = (path: string) => !isWanted(path) || behindLink.test(path) || forTests.test(path);
  return nodeImage({ name, folder: top, except, entrypoint: ["operators/gordon/src/main.ts"], output });
}

const within = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** The packages that one needs, and those that they need. All are at the top of node_modules, where npm puts what is there once. */
function neededBy(folder: string, known = new Set<string>()): readonly string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(top, folder, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    if (known.has(name) || !existsSync(join(top, "node_modules", name))) continue;
    known.add(name);
    neededBy(join("node_modules", name), known);
  }
  return [...known];
}
