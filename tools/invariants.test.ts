// Checks that docs/invariants.md defines every invariant code that the repository uses, and names a test for each.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { top } from "./process.ts";

const rows = [...read("docs/invariants.md").matchAll(/^\| ([A-Z]\d) .*\]\(\.\.\/(.+)\) +\|$/gm)].map(
  ([, code = "", file = ""]) => ({ code, file }),
);
const defined = new Set(rows.map(({ code }) => code));

describe("docs/invariants.md", () => {
  it.each(rows)("$code is tested in $file", ({ code, file }) => {
    const titles = read(file).match(/^.*(\b(it|describe)\b|name:|\]\)\().*$|^\s*"[A-Z]\d: .*$/gm) ?? [];
    expect(titles.some((title) => new RegExp(`\\b${code}\\b`).test(title))).toBe(true);
  });

  it("defines every code that a source file or a test refers to", () => {
    const files = globSync("{packages,operators,workloads}/**/*.ts", {
      cwd: top,
      exclude: (name) => String(name).includes("node_modules"),
    });
    // "(M5)" and "M5: " are references; "M5" alone can be anything.
    const used = files.flatMap((file) =>
      [...read(file).matchAll(/\(([CWLAMGDFETS]\d)(?:, [A-Z]\d)*\)|\b([CWLAMGDFETS]\d): /g)].map(([, a, b]) => a ?? b),
    );
    expect(used.length).toBeGreaterThan(100);
    expect([...new Set(used)].filter((code) => code !== undefined && !defined.has(code))).toEqual([]);
  });
});

function read(path: string): string {
  return readFileSync(join(top, path), "utf8");
}
