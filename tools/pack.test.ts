import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pack } from "./pack.ts";
import { top } from "./process.ts";

const readme = readFileSync(join(top, "packages/runtime/README.md"), "utf8");

describe("the published runtime", { timeout: 120_000 }, () => {
  it("the README's operator compiles with the README's settings and starts, in a project outside this repository", async () => {
    using project = mkdtempDisposableSync(join(tmpdir(), "stranger-"));
    await installInto(project.path);
    write(join(project.path, "package.json"), '{ "type": "module" }');
    write(join(project.path, "tsconfig.json"), blockOf("json"));
    write(join(project.path, "greetings.ts"), blockOf("ts"));
    const compiled = spawnSync(join(top, "node_modules/.bin/tsc"), ["--noEmit"], { cwd: project.path, encoding: "utf8" });
    expect(compiled.stdout + compiled.stderr).toBe("");

    // From the project's own tests, too. Both entry points share the same errors and kinds, and zod is the project's.
    write(
      join(project.path, "doors.ts"),
      `import { Pod, z } from "@memhog/runtime";
      import { aPod } from "@memhog/runtime/testing";
      import * as zod from "zod";
      console.log(aPod().kind === Pod.kind, z.object === zod.z.object);`,
    );
    expect(run(project.path, "doors.ts")).toBe("true true\n");
    expect(run(project.path, "greetings.ts", "--help")).toContain("--install-crds");

    // Usage errors are one line, without a stack trace.
    const failing = (...args: readonly string[]) => {
      const { status, stderr } = spawnSync(process.execPath, ["greetings.ts", ...args], { cwd: project.path, encoding: "utf8" });
      return { status, said: stderr.split("\n").filter((line) => /^(greetings:|\s+at )/.test(line)) };
    };
    expect(failing("--instal-crds")).toEqual({ status: 2, said: [expect.stringContaining("did you mean --install-crds?")] });
    expect(failing("-v=-1").status).toBe(2);
    expect(failing("crd", "extra").status).toBe(2);
    expect(failing("--kubeconfig", "nowhere")).toEqual({ status: 1, said: [expect.stringContaining("nowhere")] });
  });

  const guides = [
    {
      guide: "writing-an-operator.md",
      files: ["bucket.ts", "bucket.test.ts", "main.ts"],
      tests: { file: "bucket.test.ts", pass: 2 },
    },
    { guide: "hooks.md", files: ["site.ts", "site.test.ts"], tests: { file: "site.test.ts", pass: 1 } },
    { guide: "plans.md", files: ["database.ts", "database.test.ts"], tests: { file: "database.test.ts", pass: 1 } },
  ];
  it.each(guides)(
    "the programs in $guide compile with the same settings, and their tests pass",
    async ({ guide, files, tests }) => {
      using project = mkdtempDisposableSync(join(tmpdir(), "stranger-"));
      await installInto(project.path);
      write(join(project.path, "package.json"), '{ "type": "module" }');
      write(join(project.path, "tsconfig.json"), blockOf("json"));
      const programs = [...readFileSync(join(top, "docs/guides", guide), "utf8").matchAll(/```ts\n(\/\/ (\S+)\n.*?)```/gs)];
      for (const [, program = "", name = ""] of programs) write(join(project.path, name), program);
      expect(programs.map(([, , name]) => name)).toEqual(files);
      const compiled = spawnSync(join(top, "node_modules/.bin/tsc"), ["--noEmit"], { cwd: project.path, encoding: "utf8" });
      expect(compiled.stdout + compiled.stderr).toBe("");
      expect(run(project.path, "--test", "--test-reporter=tap", tests.file)).toMatch(new RegExp(`^# pass ${tests.pass}$`, "m"));
      if (!files.includes("main.ts")) return;
      expect(run(project.path, "main.ts", "--print", "--all-namespaces")).toMatch(
        /^kind: CustomResourceDefinition$.*^kind: ClusterRoleBinding$/ms,
      );
    },
  );

  it("the tarball contains only the files that the package needs", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "packed-"));
    mkdirSync(join(folder.path, "dist"));
    write(join(folder.path, "dist/of-yesterday.js"), "");
    await pack("runtime", folder.path);
    const { exports, ...manifest } = JSON.parse(readFileSync(join(folder.path, "package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("devDependencies"); // they are not published
    expect(exports).toHaveProperty(["./package.json"]);
    const [{ files }] = JSON.parse(
      execFileSync("npm", ["pack", "--dry-run", "--json"], {
        cwd: folder.path,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }),
    ) as [{ files: readonly { path: string }[] }];
    const kinds = new Set(
      files.map(({ path }) => path.replace(/^dist\/.*\.d\.ts$/, "dist/….d.ts").replace(/-[\w-]{8}\.js(\.map)?$/, "-….js$1")),
    );
    const entries = Object.keys(exports).filter((entry) => entry !== "./package.json");
    const maps = [...kinds].filter((path) => path.endsWith(".map"));
    expect(maps).toContain("dist/shared-….js.map");
    expect([...kinds].sort()).toEqual(
      [
        ...["LICENSE", "README.md", "package.json", ...guides.map(({ guide }) => `docs/${guide}`)],
        ...["dist/….d.ts", "dist/shared-….js", "dist/node-version.js", ...maps],
        ...entries.map((entry) => `dist/${entry === "." ? "index" : entry.slice(2)}.js`),
      ].sort(),
    );
    for (const field of ["description", "repository", "keywords", "sideEffects", "engines"])
      expect(manifest).toHaveProperty(field);
  });

  it("an unsupported Node version fails with one sentence before any other module is evaluated", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "packed-"));
    await pack("runtime", folder.path);
    symlinkSync(join(top, "node_modules"), join(folder.path, "node_modules"));
    write(
      join(folder.path, "old.mjs"),
      `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });
      await import("./dist/index.js");`,
    );
    const { status, stderr } = spawnSync(process.execPath, ["old.mjs"], { cwd: folder.path, encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "@memhog/runtime requires Node.js 24 or newer. This is Node.js 20.1.0.\n",
    });
    // Node 20 must be able to parse the file, or it cannot print the message.
    const shared = globSync("dist/*.js", { cwd: folder.path }).map((file) => readFileSync(join(folder.path, file), "utf8"));
    expect(shared.filter((source) => /^\s*(await )?using \w+ =/m.test(source))).toEqual([]);
  });

  it("the simulator and the kit declare the runtime as a peer dependency with a range", () => {
    for (const name of ["simulator", "kit"]) {
      const { dependencies = {}, peerDependencies } = JSON.parse(
        readFileSync(join(top, "packages", name, "package.json"), "utf8"),
      );
      expect(dependencies).not.toHaveProperty(["@memhog/runtime"]);
      expect(peerDependencies["@memhog/runtime"]).toMatch(/^\^\d+\.\d+\.\d+$/);
    }
  });
});

/** Installs the tarball as `npm install` would, without a registry: into its own folder, beside its dependencies. */
async function installInto(project: string): Promise<void> {
  const modules = join(project, "node_modules");
  mkdirSync(modules);
  for (const name of globSync("*", { cwd: join(top, "node_modules"), exclude: ["@memhog"] })) {
    symlinkSync(join(top, "node_modules", name), join(modules, name));
  }
  await pack("runtime", join(modules, "@memhog/runtime"));
  await pack("simulator", join(modules, "@memhog/simulator"));
}

function write(path: string, content: string): void {
  writeFileSync(path, content);
}

function run(cwd: string, ...args: readonly string[]): string {
  return execFileSync(process.execPath, args, { cwd, encoding: "utf8" });
}

/** The first code block of this language in the README. */
function blockOf(language: string): string {
  const block = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(readme)?.[1];
  if (block === undefined) throw new Error(`expected a block of ${language} in the README, found none`);
  return block;
}
