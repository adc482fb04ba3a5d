// The README's example, as it stands there, is a program: it is cut out, started, and used as the README says.
import { type SpawnOptions, spawn } from "node:child_process";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCluster } from "@memhog/localcluster";
import { expect, it } from "vitest";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");

it("the operator of the README runs and does what the README shows (with the real kubectl)", async () => {
  // It installs a kind into the cluster, which outlives a namespace: so a cluster of its own.
  await using cluster = await startCluster();
  // Beside the package, so that its imports are found as a stranger's would be.
  using folder = mkdtempDisposableSync(join(import.meta.dirname, "readme-"));
  writeFileSync(join(folder.path, "greetings.ts"), blockOf("ts"));
  // Other tests of this machine may have its usual ports.
  const elsewhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const { POD_NAMESPACE: _, ...env } = process.env;
  await using _operator = start([...commandLine(), ...elsewhere], {
    cwd: folder.path,
    env: { ...env, KUBECONFIG: cluster.kubeconfig },
  });

  const [apply = "", ...shown] = blockOf("console").split(/^\$ /m).slice(1);
  const manifest = /'(.*)'/.exec(apply)?.[1] ?? "";
  await cluster.eventually(
    () =>
      cluster.request("GET", "/apis/example.com/v1").then(
        () => true,
        () => false,
      ),
    (served) => served,
  );
  await cluster.apply(manifest);
  for (const step of shown) {
    const [command = "", ...expected] = step.trimEnd().split("\n");
    const output = await cluster.eventually(
      async () => ageless(await cluster.kubectl(...command.split(" ").slice(1)).catch(String)),
      (text) => text.trimEnd() === expected.join("\n"),
    );
    expect(output.trimEnd().split("\n")).toEqual(expected);
  }
});

/** It is always five seconds old in the README. */
function ageless(output: string): string {
  return output.replaceAll(/\b\d+m?\d*s$/gm, "5s");
}

/** The first block of this language. */
function blockOf(language: string): string {
  const block = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(readme)?.[1];
  if (block === undefined) throw new Error(`expected a block of ${language} in the README, found none`);
  return block;
}

/** How it is started, by the first line of the program: `node greetings.ts …` */
function commandLine(): readonly string[] {
  const [node, ...args] = /node greetings\.ts.*/.exec(blockOf("ts"))?.[0].split(" ") ?? [];
  if (node === undefined) throw new Error("expected the program to say how it is started, found nothing of the kind");
  return args;
}

function start(args: readonly string[], where: SpawnOptions): AsyncDisposable {
  const child = spawn(process.execPath, args, { ...where, stdio: ["ignore", "inherit", "inherit"] });
  const exited = new Promise((done) => child.on("exit", done));
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
