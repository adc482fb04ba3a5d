// Checks the paths in docs/architecture.md: every file exists, each imports the next one or is imported by it, and a path
// has at most 15 files.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { top } from "./process.ts";

const mostFiles = 15;
const read = (path: string) => readFileSync(join(top, path), "utf8");

/** The numbered files of each section "The path of …". */
function pathsIn(markdown: string) {
  const sections = markdown.split(/^## /m).filter((section) => section.startsWith("The path of"));
  return sections.map((section) => ({
    title: section.split("\n")[0] ?? "",
    files: [...section.matchAll(/^\d+\. `([^`]+)`: /gm)].map(([, file = ""]) => file),
  }));
}

/** The files that a file imports, including types. */
function importsOf(file: string): readonly string[] {
  return [...read(file).matchAll(/ from "(\.[^"]+\.ts)"/g)].map(([, to = ""]) => normalize(join(dirname(file), to)));
}

function reachableFrom(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const next of importsOf(file)) reachableFrom(next, seen);
  return seen;
}

const paths = pathsIn(read("docs/architecture.md"));

it("docs/architecture.md has the path of one event and of one spec edit", () => {
  expect(paths.map(({ title }) => title)).toEqual(["The path of one event", "The path of one spec edit"]);
});

describe.each(paths)("docs/architecture.md, $title", ({ files }) => {
  it(`takes at most ${mostFiles} files, each of which exists`, () => {
    expect(files.filter((file) => !existsSync(join(top, file)))).toEqual([]);
    expect(files.length).toBeGreaterThan(5);
    expect(files.length).toBeLessThanOrEqual(mostFiles);
  });

  it("connects each file with the next one by an import", () => {
    const gaps = files.slice(1).flatMap((file, at) => {
      const before = files[at] ?? "";
      return importsOf(before).includes(file) || importsOf(file).includes(before) ? [] : [`${before} and ${file}`];
    });
    expect(gaps).toEqual([]);
  });
});

it(`memhog's decide depends on at most ${mostFiles} files`, () => {
  expect(reachableFrom("operators/memhog/src/decide/decide.ts").size).toBeLessThanOrEqual(mostFiles);
});
