// Compares checked-in manifests with the TypeScript definitions that generate them, and writes them again. Nobody edits the files by
// hand.
//
//     const files = { "crd/gordons.yaml": [crdOf(Gordon)], "rbac/role.yaml": rolesFor(grants, { … }) };
//     await writeManifests("deploy", files);             // npm run manifests
//     await checkManifests("deploy", files);             // [] or the differences, in npm run check
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { diff } from "node:util";
import { toYaml } from "@memhog/runtime/schema";

/** The expected files of a folder by path: a text, or the objects of a YAML file. */
export type ManifestFiles = Readonly<Record<string, string | readonly object[]>>;

export interface Difference {
  /** Relative to the folder. */
  readonly path: string;
  readonly problem: "missing" | "different" | "left over";
  /** The diff: lines of the file with "-", expected lines with "+". */
  readonly diff: string;
}

/** The first line of every generated YAML file. It warns people, and marks files that can be removed when they are no longer generated. */
const header = "# Generated from the TypeScript schema. Do not edit.\n";

/** Returns the differences between the files and their expected content. */
export async function checkManifests(folder: string, files: ManifestFiles): Promise<readonly Difference[]> {
  const changed = await Promise.all(
    Object.keys(files).map(async (path) => compare(path, await read(folder, path), await render(files, path))),
  );
  return [...changed.flat(), ...(await leftOver(folder, files))];
}

/** Writes the expected content. Returns the paths that were changed or removed. */
export async function writeManifests(folder: string, files: ManifestFiles): Promise<readonly string[]> {
  const differences = await checkManifests(folder, files);
  for (const { path, problem } of differences) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    if (problem === "left over") await rm(target);
    else await writeFile(target, await render(files, path));
  }
  return differences.map(({ path }) => path);
}

/**
 * The body of a program that generates a folder: `node src/manifests.ts` writes, and with `--check` only compares, exits with 1 and
 * prints the differences.
 */
export async function generate(folder: string, files: ManifestFiles): Promise<void> {
  const [argument, ...more] = process.argv.slice(2);
  if (more.length > 0 || !["--check", undefined].includes(argument)) {
    console.error(`expected no argument or --check, found ${process.argv.slice(2).join(" ")}`);
    process.exitCode = 2;
  } else if (argument === "--check") {
    const differences = await checkManifests(folder, files);
    for (const { path, problem, diff } of differences) console.log(`${path}: ${problem}\n${diff}`);
    process.exitCode = differences.length === 0 ? 0 : 1;
  } else {
    console.log((await writeManifests(folder, files)).join("\n") || "nothing to change");
  }
}

async function render(files: ManifestFiles, path: string): Promise<string> {
  const content = files[path] ?? "";
  return typeof content === "string" ? content : header + (await toYaml(...content));
}

async function read(folder: string, path: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, path), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function compare(path: string, found: string | undefined, expected: string): readonly Difference[] {
  if (found === expected) return [];
  return [{ path, problem: found === undefined ? "missing" : "different", diff: lineDiff(found ?? "", expected) }];
}

/** Generated files that are no longer expected, because a kind was renamed or removed. */
async function leftOver(folder: string, files: ManifestFiles): Promise<readonly Difference[]> {
  const found = await Promise.all(
    (await yamlFilesIn(folder)).map(async (path) => ({ path, text: (await read(folder, path)) ?? "" })),
  );
  return found
    .filter(({ path, text }) => !(path in files) && text.startsWith(header))
    .map(({ path, text }) => ({ path, problem: "left over", diff: lineDiff(text, "") }));
}

async function yamlFilesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true });
    return entries.filter((path) => path.endsWith(".yaml")).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** The number of unchanged lines shown around a change. */
const context = 2;

/** The changed lines with context: "-" only in `found`, "+" only in `expected`. */
function lineDiff(found: string, expected: string): string {
  const marks = { "-1": "-", "0": " ", "1": "+" } as const;
  // Node's diff marks lines that only the first text has with 1.
  const lines = diff(expected.split("\n"), found.split("\n")).map(([side, line]) => ({ mark: marks[side], line }));
  const near = (index: number) => lines.slice(Math.max(0, index - context), index + context + 1).some(({ mark }) => mark !== " ");
  const shown = lines.map(({ mark, line }, index) => (near(index) ? `${mark} ${line}` : undefined));
  return shown
    .filter((line, index) => line !== undefined || shown[index - 1] !== undefined)
    .map((line) => line ?? "…")
    .join("\n");
}
