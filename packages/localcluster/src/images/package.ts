// An image of a program that is a package of an npm workspace: the package, the packages that its package.json says it needs, and
// those that they need. Nothing is installed, and nothing that only tests need goes in.
//
//     await packageImage({ top, folder: "operators/gordon", entrypoint: ["src/main.ts"], name: "gordon-operator:dev", output });
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { type NodeImageSpec, nodeImage } from "./programs.ts";

export interface PackageImageSpec extends Omit<NodeImageSpec, "folder" | "except"> {
  /** The top of the workspace, where node_modules is. Goes to /app. */
  readonly top: string;
  /** The package's folder, below the top. The entrypoint is below it. */
  readonly folder: string;
}

export function packageImage({ top, folder, entrypoint, ...spec }: PackageImageSpec): Promise<string> {
  const wanted = ["package.json", ...foldersNeeded(top, folder)];
  const isWanted = (path: string) => wanted.some((each) => within(path, each) || within(each, path));
  const forTests = /^(?!node_modules\/).*(\.(test|fixture)\.ts|\/(testing|testing\.ts|deploy|test-data))$/;
  const [program = "", ...args] = entrypoint;
  return nodeImage({
    ...spec,
    folder: top,
    except: (path) => !isWanted(path) || forTests.test(path),
    entrypoint: [posix.join(folder, program), ...args],
  });
}

const within = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** All are at the top of node_modules, where npm puts what is there once; those of the workspace are links there. */
function foldersNeeded(top: string, folder: string, known = new Set<string>()): ReadonlySet<string> {
  known.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(top, folder, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const installed = posix.join("node_modules", name);
    // One that is not there is inside the package that needs it.
    if (known.has(installed) || !existsSync(join(top, installed))) continue;
    known.add(installed);
    foldersNeeded(top, relative(realpathSync(top), realpathSync(join(top, installed))), known);
  }
  return known;
}
