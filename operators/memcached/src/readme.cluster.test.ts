// The README is true: its commands are run, and they say what it says.
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

it("the README shows what happens", async () => {
  await using on = await stage();
  await on.start();
  for (const { command, says } of await commandsIn(join(import.meta.dirname, "../README.md"))) {
    const [program, ...args] = command.split(" ");
    expect(program).toBe("kubectl");
    const said = await on.cluster
      .kubectl(...args)
      .catch((error: { stderr?: string; message: string }) => error.stderr ?? error.message);
    expect(withoutAges(said), command).toContain(says);
  }
});
