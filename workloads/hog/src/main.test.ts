// The program as a process: what the kernel says that it has, and what it says at its end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";

describe("the program", () => {
  it("has the memory that it reports, and prints a summary on SIGTERM", async () => {
    await using idle = start("--hold");
    await using full = start("--start", "20Mi", "--ramp", "200Mi/s", "--to", "150Mi");
    await idle.says("holding 0.0 MiB");
    await full.says("holding 150.0 MiB");
    const grown = anonymousMib(full.child) - anonymousMib(idle.child);
    expect(grown).toBeGreaterThan(150 - 16); // Node's own share is not quite the same twice
    expect(grown).toBeLessThan(150 + 16);
    full.child.kill("SIGTERM");
    await full.says(/^SIGTERM after \d+\.\d s: held 150\.0 MiB, at most 150\.0 MiB$/);
    expect(await full.ended).toEqual([0, null]);
  });

  it("prints its usage", async () => {
    await using asked = start("--help");
    await asked.says(/^Usage: hog /);
    expect(await asked.ended).toEqual([0, null]);
  });

  it("exits with 2 and one line for invalid flags", async () => {
    await using confused = start("--ramp", "fast");
    expect(await confused.ended).toEqual([2, null]);
    expect(confused.complaint()).toBe('hog: --ramp: expected a speed above zero such as 1Mi/s or 30Mi/min, found "fast"\n');
    await using restless = start("--ramp", "1Mi/s", "--idle", "soon");
    expect(await restless.ended).toEqual([2, null]);
  });

  it("exits with 1 and a reason if the system rejects the allocation", async () => {
    // Node itself needs addresses, so the shell leaves it some, but not the hog.
    await using refused = startUnder("ulimit -v 64000000");
    expect(await refused.ended).toEqual([1, null]);
    expect(refused.complaint()).toMatch(/^hog: cannot allocate .* MiB: the system refuses more memory \(see ulimit -v/);
  });
});

const main = join(import.meta.dirname, "main.ts");
const start = (...flags: readonly string[]) => running([process.execPath, main, ...flags]);
const startUnder = (limits: string) => running(["sh", "-c", `${limits}; exec "$@"`, "sh", process.execPath, main, "--hold"]);

function running([command = "", ...args]: readonly string[]) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  let complaint = "";
  child.stderr.on("data", (data) => (complaint += data));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ...{ child, ended, complaint: () => complaint },
    /** Reads on until it says that. */
    says: async (expected: string | RegExp) => {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`it ended without saying ${expected}: ${complaint}`);
        if (typeof expected === "string" ? value === expected : expected.test(value)) return;
      }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Memory of its own, without the pages of Node's program file, which processes share. */
function anonymousMib({ pid }: { readonly pid?: number | undefined }): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
