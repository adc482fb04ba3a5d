import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findProcesses, listPids, readCommand, readEnvironment, readStat, stopGroup } from "./proc.ts";

/** `sleep` under another name, with an environment of its own. */
async function sleeper(name: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "proc-"));
  symlinkSync("/bin/sleep", join(folder, name));
  const child = spawn(join(folder, name), ["600"], { env, detached: true });
  await once(child, "spawn");
  rmSync(folder, { recursive: true });
  const pid = child.pid ?? 0;
  const end = async () => {
    const exited = once(child, "exit");
    await stopGroup(pid, 1_000);
    await exited;
  };
  return { pid, end };
}

it("reads the stat of a process whatever its program is called", async () => {
  const { pid, end } = await sleeper("a) R 1 (b", { COLOUR: "red=blue" });
  expect(readStat(pid)).toMatchObject({
    pid,
    group: pid,
    state: expect.stringMatching(/^[A-Z]$/),
    startTime: expect.stringMatching(/^\d+$/),
  });
  expect(readCommand(pid)).toMatch(/a\) R 1 \(b 600$/);
  expect(readEnvironment(pid)?.get("COLOUR")).toBe("red=blue");
  expect(listPids()).toContain(pid);
  await end();
  expect([readStat(pid), readEnvironment(pid), readCommand(pid)]).toEqual([undefined, undefined, undefined]);
});

it("finds the processes of a cluster and no others", async () => {
  const ours = await sleeper("ours", { LOCALCLUSTER: "/state/x", LOCALCLUSTER_COMPONENT: "etcd" });
  const neighbour = await sleeper("neighbour", { LOCALCLUSTER: "/state/xy" });
  const stranger = await sleeper("stranger");
  const found = findProcesses((directory) => directory === "/state/x");
  expect(found).toEqual([{ pid: ours.pid, group: ours.pid, directory: "/state/x", component: "etcd" }]);
  for (const each of [ours, neighbour, stranger]) await each.end();
});
