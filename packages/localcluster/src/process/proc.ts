// Processes as /proc shows them. The processes of a cluster are found by a mark in their environment (component.ts), whoever
// started them and however that process ended. There is no list that can be out of date: the kernel keeps it.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface ProcessStat {
  readonly pid: number;
  /** One letter; Z is a zombie, which has exited and waits to be collected by its parent. */
  readonly state: string;
  readonly group: number;
  /** In clock ticks since boot. A pid is reused after a while; a pid together with its start time is not. */
  readonly startTime: string;
}

/** Undefined if there is no such process. */
export function readStat(pid: number): ProcessStat | undefined {
  const text = readProc(pid, "stat");
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses, and may itself contain spaces and parentheses.
  const [state = "", , group = "", ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { pid, state, group: Number(group), startTime: rest[16] ?? "" };
}

/** Undefined if the process has exited or belongs to another user. The environment of a zombie is empty. */
export function readEnvironment(pid: number): ReadonlyMap<string, string> | undefined {
  const text = readProc(pid, "environ");
  if (text === undefined) return undefined;
  const pairs = text.split("\0").filter((line) => line.includes("="));
  return new Map(pairs.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** The command line, for messages. */
export function readCommand(pid: number): string | undefined {
  return readProc(pid, "cmdline")?.split("\0").join(" ").trim();
}

export function listPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

// Synchronous on purpose: /proc is memory, and a scan that yields in between would mix two moments.
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined; // exited, or not readable for us
  }
}

/** A process that carries the mark of a cluster. */
export interface MarkedProcess {
  readonly pid: number;
  readonly group: number;
  /** The directory of its cluster. */
  readonly directory: string;
  readonly component: string;
}

/** Every running process whose cluster directory matches. */
export function findProcesses(matches: (directory: string) => boolean): readonly MarkedProcess[] {
  return listPids().flatMap((pid) => {
    const environment = readEnvironment(pid);
    const directory = environment?.get("LOCALCLUSTER");
    if (directory === undefined || !matches(directory) || pid === process.pid) return [];
    const stat = readStat(pid);
    if (stat === undefined) return [];
    return [{ pid, group: stat.group, directory, component: environment?.get("LOCALCLUSTER_COMPONENT") ?? "" }];
  });
}

/** Sends SIGTERM to a process group, SIGKILL after `graceMs`, and resolves when the group is empty. */
export async function stopGroup(pgid: number, graceMs: number): Promise<void> {
  signalGroup(pgid, "SIGTERM");
  if (await isEmptyWithin(pgid, graceMs)) return;
  signalGroup(pgid, "SIGKILL");
  // What survives SIGKILL for this long hangs in the kernel (a dead mount), and waiting longer does not help.
  await isEmptyWithin(pgid, 30_000);
}

async function isEmptyWithin(pgid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    if (!hasRunningProcess(pgid)) return true;
    if (performance.now() >= deadline) return false;
    await sleep(pause);
  }
}

/** kill(2) counts zombies, and in a container without a proper init an orphan stays a zombie forever. */
function hasRunningProcess(pgid: number): boolean {
  if (!signalGroup(pgid, 0)) return false;
  return listPids().some((pid) => {
    const stat = readStat(pid);
    return stat !== undefined && stat.group === pgid && stat.state !== "Z";
  });
}

/** False if the group is empty. */
function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pgid, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
