import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { top } from "./process.ts";

const patient = { timeout: 120_000 };

/** Runs the demo, or any other command of the repository, with its own temporary folder. */
function start(command: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: top, env: { ...process.env, TMPDIR: folder, NO_COLOR: "1" }, detached: true });
  onTestFinished(() => {
    if (child.exitCode === null) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  let output = "";
  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => output.includes(text) && resolve();
      for (const stream of [child.stdout, child.stderr]) stream.on("data", look);
      child.once("close", () => reject(new Error(`expected "${text}", found the end of the output:\n${output}`)));
      look();
    });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    child,
    ended,
    printed,
    output: () => output,
    leftovers: () => readdirSync(folder).filter((n) => n.startsWith("memhog-demo")),
  };
}

const demo = (...flags: readonly string[]) => start(["node", "tools/demo.ts", "--speed", "60", ...flags]);

describe("npm run demo", () => {
  it.each([
    { flags: [], ends: "(request/limit), in place" },
    { flags: ["--strategy", "redeploy"], ends: "(request/limit), by a larger copy" },
    { flags: ["--strategy", "recommend"], ends: "recommended a raise and changed nothing" },
  ])("shows a raise and exits with 0: $flags", patient, async ({ flags, ends }) => {
    const run = demo(...flags);
    expect(await run.ended, run.output()).toBe(0);
    expect(run.output().replaceAll(/\s+/g, " ")).toContain(ends);
    expect(run.output()).toContain("operators/memhog/deploy/samples/memhog.yaml");
    expect(
      run
        .output()
        .split("\n")
        .filter((line) => line.length > 100),
    ).toEqual([]); // the width without a terminal
    expect(run.leftovers()).toEqual([]);
  });

  it.each([["--speed", "0"], ["--strategy", "magic"], ["--nonsense"], ["extra"]])(
    "rejects bad usage with exit code 2: %s %s",
    patient,
    async (...flags) => {
      const run = demo(...flags);
      expect(await run.ended).toBe(2);
      expect(run.output()).toContain("Usage: npm run demo");
    },
  );

  it.each(["SIGINT", "SIGTERM"] as const)("--keep cleans up and exits after %s", patient, async (signal) => {
    const run = demo("--keep");
    await run.printed("keeps running until Ctrl-C");
    expect(run.leftovers()).toHaveLength(1);
    run.child.kill(signal);
    expect(await run.ended).toBe(0);
    expect(run.leftovers()).toEqual([]);
  });

  it("stops when npm receives a signal, and leaves nothing behind", patient, async () => {
    const run = start(["npm", "run", "-s", "demo", "--", "--keep", "--speed", "60"]);
    await run.printed("keeps running until Ctrl-C");
    run.child.kill("SIGTERM");
    await run.ended; // waits for all processes that hold its output, including the demo
    expect(run.leftovers()).toEqual([]);
  });
});
