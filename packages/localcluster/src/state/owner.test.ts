// How a cluster ends with its owner, shown with a program that does nothing: what the programs of a cluster are does not matter
// here. start.real.test.ts shows it once more with real ones, and what happens after a kill -9.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { findProcesses } from "../process/orphans.ts";
import { clusterDirectory } from "./directory.ts";

vi.setConfig({ testTimeout: 60_000 }); // each starts a Node, which takes its time on a busy machine

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "owner-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const leftBehind = () => findProcesses((directory) => directory.startsWith(home)).map(({ component }) => component);

/** Another process that owns a cluster of one idle program, says so, and goes on as told. */
async function owner(ending: string) {
  const from = (file: string) => JSON.stringify(join(import.meta.dirname, file));
  const script = `
    import { startComponent } from ${from("../process/component.ts")};
    import { host } from ${from("../process/place.ts")};
    import { clusterDirectory, createClusterDirectory } from ${from("directory.ts")};
    import { tieToThisProcess } from ${from("owner.ts")};
    import { reap } from ${from("reap.ts")};
    const directory = clusterDirectory("owned", ${JSON.stringify(home)});
    await createClusterDirectory(directory, { nodes: "none" });
    tieToThisProcess({ directory, hasNode: false, down: () => reap(directory) });
    await startComponent({ name: "idle", argv: ["sleep", "600"], place: host, ready: async () => {} }, directory);
    console.log("ready");
    ${ending}`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), exited]);
  return { child, exited };
}

const wait = "setInterval(() => {}, 1000);";

it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "goes with its owner on %s, which then ends as it would have",
  async (signal) => {
    const { child, exited } = await owner(wait);
    expect(leftBehind()).toEqual(["idle"]);
    child.kill(signal);
    expect(await exited).toEqual([null, signal]);
    expect(leftBehind()).toEqual([]);
    expect(existsSync(clusterDirectory("owned", home).path)).toBe(false);
  },
);

it("leaves the end to whoever else listens for the signal", async () => {
  const { child, exited } = await owner(`process.on("SIGTERM", () => setTimeout(() => process.exit(7), 200)); ${wait}`);
  child.kill("SIGTERM");
  expect(await exited).toEqual([7, null]);
  expect(leftBehind()).toEqual([]);
});

it.each([
  { name: "process.exit", ending: "process.exit(3);", code: 3 },
  { name: "an error that nobody catches", ending: "setImmediate(() => { throw new Error('deliberate'); });", code: 1 },
  { name: "having nothing more to do", ending: "", code: 0 },
])("goes with its owner on $name", async ({ ending, code }) => {
  const { exited } = await owner(ending);
  expect(await exited).toEqual([code, null]);
  await expect.poll(leftBehind).toEqual([]); // killed, but nobody waited for it
  expect(existsSync(clusterDirectory("owned", home).path)).toBe(false);
});
