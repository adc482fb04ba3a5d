// Checks the checks themselves: each must reject an example violation.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { judge } from "./check-imports.ts";
import { top } from "./process.ts";

describe("check-imports", () => {
  const refused = [
    { file: "packages/runtime/src/objects/quantity.ts", target: "packages/runtime/src/concurrency/backoff.ts" },
    { file: "packages/runtime/src/client/client.ts", target: "packages/runtime/src/cache/store.ts" },
    { file: "packages/localcluster/src/cluster.ts", target: "@memhog/runtime" },
    { file: "operators/memhog/src/execute/pods.ts", target: "packages/runtime/src/client/client.ts" },
    { file: "operators/memhog/src/execute/pods.ts", target: "@memhog/runtime/src/client/client.ts" },
    { file: "operators/memhog/src/decide/decide.ts", target: "operators/memhog/src/observe/prometheus.ts" },
    { file: "packages/runtime/src/cache/cache.ts", target: "packages/runtime/src/testing/eventually.ts" },
    { file: "operators/memhog/src/main.ts", target: "@memhog/runtime/testing" },
  ];
  it.each(refused)("$file may not import $target", ({ file, target }) => expect(judge(file, target)).toHaveLength(1));

  const allowed = [
    { file: "packages/runtime/src/cache/store.ts", target: "packages/runtime/src/client/client.ts" },
    { file: "packages/runtime/src/client/client.cluster.test.ts", target: "@memhog/localcluster/testing" },
    { file: "operators/memhog/src/decide/decide.ts", target: "operators/memhog/src/model/memory.ts" },
    { file: "operators/memhog/src/execute/pods.ts", target: "@memhog/runtime" },
    { file: "packages/runtime/src/client/client.ts", target: "zod" },
  ];
  it.each(allowed)("$file may import $target", ({ file, target }) => expect(judge(file, target)).toEqual([]));
});

describe("the environment lint rule", () => {
  // Uses a copy of the configuration in a temporary folder, because the rule depends on the path.
  const lint = (path: string, source: string) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "guards-"));
    const configuration = JSON.parse(readFileSync(join(top, "biome.json"), "utf8"));
    writeAt(join(folder.path, "biome.json"), JSON.stringify({ ...configuration, $schema: undefined, vcs: { enabled: false } }));
    writeAt(join(folder.path, "tools/environment.grit"), readFileSync(join(top, "tools/environment.grit"), "utf8"));
    writeAt(join(folder.path, path), source);
    const { stdout, stderr } = spawnSync("biome", ["lint", path], { cwd: folder.path, encoding: "utf8" });
    return stdout + stderr;
  };
  const writeAt = (path: string, content: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  it.each(["Date.now()", "Math.random()", "new Date()", "setTimeout(() => {}, 1)", "performance.now()", "fetch(url)"])(
    "rejects %s in the runtime and names the replacement",
    (use) => expect(lint("packages/runtime/src/cache/x.ts", `export const x = () => ${use};\n`)).toMatch(/is injected/),
  );
  it("allows direct access in the environment module", () =>
    expect(lint("packages/runtime/src/concurrency/system-environment.ts", "export const x = () => Date.now();\n")).not.toMatch(
      /is injected/,
    ));
});
