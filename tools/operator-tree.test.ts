import { execFileSync } from "node:child_process";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeOperatorTree } from "./operator-tree.ts";

it("the operator tree runs without the repository, as plain JavaScript", { timeout: 120_000 }, async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "operator-tree-"));
  const tree = join(folder.path, "app");
  await writeOperatorTree(tree);
  const node = ["--no-strip-types", join(tree, "src/main.js"), "--help"];
  expect(execFileSync(process.execPath, node, { encoding: "utf8", cwd: tmpdir() })).toContain("--prometheus-addr");
});
