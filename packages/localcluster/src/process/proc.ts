// What /proc tells about a process: the one place that reads it.
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessStat {
  readonly pid: number;
  /** One letter; Z is a zombie, which has ended and only waits to be noticed by its parent. */
  readonly state: string;
  readonly group: number;
  /** In clock ticks since boot. A pid is used again after a while; a pid with its start time is not. */
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

/** Undefined if it has gone, or is somebody else's. A zombie has an empty one. */
export function readEnvironment(pid: number): ReadonlyMap<string, string> | undefined {
  const text = readProc(pid, "environ");
  if (text === undefined) return undefined;
  const pairs = text.split("\0").filter((line) => line.includes("="));
  return new Map(pairs.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** The command line, for people. */
export function readCommand(pid: number): string | undefined {
  return readProc(pid, "cmdline")?.split("\0").join(" ").trim();
}

export function listPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

// Synchronous on purpose: /proc is memory, and a scan that yields half-way sees a world that never was.
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined; // ended meanwhile, or not ours to read
  }
}
