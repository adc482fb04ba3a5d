// Bundles an operator with the published form of the runtime into one file, as users do.
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempDisposableSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "@memhog/localcluster/testing";
import { testCluster } from "@memhog/simulator/testing";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { pack } from "./pack.ts";
import { top } from "./process.ts";

/** CommonJS dependencies call `require` for Node's built-in modules. */
const banner = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

const bundlers = {
  rolldown: async (cwd: string, file: string) => {
    await using bundled = await rolldown({ cwd, input: "src/main.ts", platform: "node" });
    await bundled.write({ file, format: "esm", codeSplitting: false });
  },
  esbuild: async (cwd: string, file: string) => {
    const entryPoints = [join(cwd, "src/main.ts")];
    await build({
      entryPoints,
      outfile: file,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node24",
      banner: { js: banner },
    });
  },
};

/** Writes Gordon as a separate project that uses the packed runtime. */
async function writeProject(folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of globSync("*", { cwd: join(top, "node_modules"), exclude: ["@memhog"] })) {
    symlinkSync(join(top, "node_modules", name), join(modules, name));
  }
  await pack("runtime", join(modules, "@memhog/runtime"));
  for (const file of ["package.json", "src"])
    cpSync(join(top, "operators/gordon", file), join(folder, file), { recursive: true });
}

it.each(["rolldown", "esbuild"] as const)(
  "Gordon in one file made by %s starts and works",
  { timeout: 120_000 },
  async (bundler) => {
    using project = mkdtempDisposableSync(join(tmpdir(), "bundle-"));
    await writeProject(project.path);
    // Outside node_modules: the file must be self-contained.
    using elsewhere = mkdtempDisposableSync(join(tmpdir(), "bundled-"));
    const file = join(elsewhere.path, "gordon.mjs");
    await bundlers[bundler](project.path, file);
    expect(execFileSync(process.execPath, [file, "--help"], { encoding: "utf8" })).toContain("--install-crds");
    expect(execFileSync(process.execPath, [file, "rbac"], { encoding: "utf8" })).toContain("kind: RoleBinding");

    await using cluster = await testCluster();
    const namespace = cluster.defaultNamespace;
    const flags = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace, "--install-crds"];
    await using _program = startProgram(file, ...flags, "--metrics-bind-address=0", "--health-probe-bind-address=0");
    const gordon = {
      apiVersion: "operator.prgcont.cz/v1",
      kind: "Gordon",
      metadata: { name: "a" },
      spec: { gordon: { replicas: 1 } },
    };
    await cluster.eventually(
      () => cluster.apply(gordon),
      () => true,
    );
    await cluster.eventually(
      () => cluster.list({ apiVersion: "v1", kind: "Pod" }, { namespace }),
      (pods) => pods.length === 1,
    );
  },
);
