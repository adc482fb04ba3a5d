// Process groups: ask whether anybody is left in one, and end one.
import { setTimeout as sleep } from "node:timers/promises";
import { listPids, readStat } from "./proc.ts";

/** Asks the group to end, insists after `graceMs`, and resolves when nobody is left in it. */
export async function endGroup(pgid: number, graceMs: number): Promise<void> {
  signalGroup(pgid, "SIGTERM");
  if (await isEmptyWithin(pgid, graceMs)) return;
  signalGroup(pgid, "SIGKILL");
  // SIGKILL cannot be refused; what is left after this long hangs in the kernel (a dead mount), and waiting helps nobody.
  await isEmptyWithin(pgid, 30_000);
}

async function isEmptyWithin(pgid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    if (!hasLiving(pgid)) return true;
    if (performance.now() >= deadline) return false;
    await sleep(pause);
  }
}

/** The kernel's own answer counts zombies, and in a container without a proper init an orphan stays a zombie for ever. */
function hasLiving(pgid: number): boolean {
  if (!signalGroup(pgid, 0)) return false;
  return listPids().some((pid) => {
    const stat = readStat(pid);
    return stat !== undefined && stat.group === pgid && stat.state !== "Z";
  });
}

/** False if nobody is in the group. */
function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pgid, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
