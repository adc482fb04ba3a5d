// The README is true: the program is started as it says, its commands are run, and they say what it shows.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stage } from "./stage.fixture.ts";

/** The commands of the console, and what is expected of each. */
async function commandsIn(path: string): Promise<readonly { readonly command: string; readonly says: string }[]> {
  const [, text = ""] = /```console\n(.*?)```/s.exec(await readFile(path, "utf8")) ?? [];
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => part.split(/\n(.*)/s, 2))
    .map(([command = "", says = ""]) => ({ command, says: withoutAges(says) }));
}

/** Seconds differ, and the width of columns with them. Newer kubectls say where they delete. */
const withoutAges = (text: string) =>
  text
    .replace(/\b\d+(m\d+)?s\b/g, "…")
    .replace(/ from \S+ namespace/g, "")
    .replace(/ +/g, " ")
    .trim();

/** The program, as from a terminal; on SIGTERM it ends in order. */
function start(...flags: readonly string[]): AsyncDisposable {
  const nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), ...flags, ...nowhere], { stdio: "ignore" });
  const close = async () => {
    child.kill("SIGTERM");
    const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
    expect(code).toBe(0);
  };
  return { [Symbol.asyncDispose]: close };
}

it("the README shows what happens", async () => {
  await using on = await stage();
  await using _program = start("--kubeconfig", on.cluster.kubeconfig, "--namespace", on.namespace, "--install-crds");
  for (const { command, says } of await commandsIn(join(import.meta.dirname, "../README.md"))) {
    const [program, ...args] = command.split(" ");
    expect(program).toBe("kubectl");
    const said = await on.cluster
      .kubectl(...args)
      .catch((error: { stderr?: string; message: string }) => error.stderr ?? error.message);
    expect(withoutAges(said), command).toContain(says);
  }
});
