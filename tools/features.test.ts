// Checks docs/runtime-features.md: every row names a test that exists, or says that there is a gap.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { top } from "./process.ts";

const cells = (line: string) => line.split("|").map((cell) => cell.trim());

const rows = readFileSync(join(top, "docs/runtime-features.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| feature ") && !line.startsWith("| ---"))
  .map((line) => ({ feature: cells(line)[1] ?? "", ours: cells(line)[4] ?? "", test: cells(line)[5] ?? "" }));

it("docs/runtime-features.md has the features of controller-runtime and kopf", () => {
  expect(rows.length).toBeGreaterThan(60);
});

it.each(rows)("$feature: has a test, or is a gap", ({ ours, test }) => {
  const [, path] = /\]\((.+)\)$/.exec(test) ?? [];
  expect(path === undefined ? ours.startsWith("gap") : existsSync(join(top, "docs", path))).toBe(true);
});
