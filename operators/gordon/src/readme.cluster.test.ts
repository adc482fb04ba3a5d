// The README is true: its commands are run, and they say what it says.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Pod } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
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
  const playing = new AbortController();
  // Where there is no node: every pod is said to run.
  const kubelet = eventually(
    async () => {
      const { items } = await on.client.list(Pod, { namespace: on.namespace });
      for (const { metadata, status } of items)
        if (status?.phase === "Pending") await on.say(metadata.name, "Running").catch(() => {});
    },
    () => false,
    { signal: playing.signal, timeoutMs: Number.POSITIVE_INFINITY },
  ).catch(() => {});
  try {
    for (const { command, says } of await commandsIn(join(import.meta.dirname, "../README.md"))) {
      const [program, ...args] = command.split(" ");
      expect(program).toBe("kubectl");
      expect(withoutAges(await on.cluster.kubectl(...args)), command).toBe(says);
    }
  } finally {
    playing.abort(new Error("over"));
    await kubelet;
  }
});
