// The few commands that tests give to containers on every cluster, understood: a pod of `sh -c "sleep 2; exit 3"` ends here
// as it does on a real node. This is no shell. What it does not know it does not guess: such a container simply runs.
import type { Container } from "@memhog/runtime";
import { constant, step, trace } from "../memory/models.ts";
import type { PartialProgram } from "./program.ts";

const mib = 1024 * 1024;
/** A small program in a shell. */
const base = mib / 4;
/** How fast `tail /dev/zero` eats memory: fast enough that nobody waits, slow enough to be seen. */
const greedPerSecond = 200 * mib;

export function commandOf({ command = [], args = [] }: Container): readonly string[] {
  return [...command, ...args];
}

/** What a command line does; undefined if that cannot be told. */
export function understand(words: readonly string[]): PartialProgram | undefined {
  const [program = "", ...rest] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if ((name === "sh" || name === "ash" || name === "bash") && rest[0] === "-c") return runScript(rest[1] ?? "");
  return name === "" ? undefined : runScript([name, ...rest].join(" "));
}

/** A script on its way: what has happened after so many milliseconds. */
interface Progress {
  ms: number;
  readonly points: [ms: number, bytes: number][];
  stop: PartialProgram["stop"];
}

function runScript(script: string): PartialProgram | undefined {
  // The first process of a container has no default for signals: without a trap SIGTERM does nothing.
  const progress: Progress = { ms: 0, points: [[0, base]], stop: undefined };
  const statements = statementsOf(script);
  for (const [index, statement] of statements.entries()) {
    const known = run(statement, progress);
    if (known === "goes on") continue;
    if (known === "unknown") return index === 0 ? undefined : { stop: progress.stop, memory: step(progress.points) };
    return known;
  }
  return { end: { afterMs: progress.ms, exitCode: 0 }, stop: progress.stop, memory: step(progress.points) };
}

/** Cut at `;`, `&&` and line ends, but not within quotes. */
function statementsOf(script: string): readonly string[] {
  const simple = script.replace(/'[^']*'|"[^"]*"|&&/g, (part) => (part === "&&" ? ";" : part));
  const parts = simple.match(/(?:'[^']*'|"[^"]*"|[^;\n'"])+/g) ?? [];
  return parts.map((part) => part.trim().replace(/^exec\s+/, "")).filter((part) => part !== "");
}

function run(statement: string, progress: Progress): PartialProgram | "goes on" | "unknown" {
  const words = statement.split(/\s+/);
  const [name = "", first = ""] = words;
  const ending = (exitCode: number) => ({
    end: { afterMs: progress.ms, exitCode },
    stop: progress.stop,
    memory: step(progress.points),
  });
  if (name === "sleep" && /^\d+(\.\d+)?$/.test(first)) progress.ms += Number(first) * 1_000;
  else if (name === "trap" && /\bTERM$/.test(statement)) progress.stop = trapIn(statement);
  else if (name === "dd") take(words, progress);
  else if (statement === "tail /dev/zero") return greedy(progress);
  else if (name === "exit") return ending(Number(first) || 0);
  else if (name === "false") return ending(1);
  else if (/^while (true|:)$/.test(statement)) return { stop: progress.stop, memory: step(progress.points) };
  else if (!/^(true|:|echo|touch|mkdir|date|hostname)$/.test(name)) return "unknown";
  return "goes on";
}

/** `trap 'sleep 1; exit 0' TERM` */
function trapIn(statement: string): PartialProgram["stop"] {
  const [, script = ""] = /^trap\s+(?:'([^']*)'|"([^"]*)")/.exec(statement)?.filter((part) => part !== undefined) ?? [];
  return runScript(script)?.end;
}

/** `dd if=/dev/zero of=/dev/shm/x bs=1M count=20`: files in memory count, and stay. */
function take(words: readonly string[], { ms, points }: Progress): void {
  const value = (key: string) => words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1) ?? "";
  if (!value("of").startsWith("/dev/shm/")) return;
  const blocks = Number(value("bs").replace(/M$/, "")) * (value("bs").endsWith("M") ? mib : 1);
  points.push([ms, (points.at(-1)?.[1] ?? base) + blocks * Number(value("count"))]);
}

/** It reads for ever and forgets nothing. */
function greedy({ ms, points, stop }: Progress): PartialProgram {
  const held = points.at(-1)?.[1] ?? constant(base).ceiling;
  const hour = 3_600_000;
  const eaten = trace([...points, [ms, held], [ms + hour, held + (greedPerSecond * hour) / 1_000]]);
  return { stop, memory: eaten };
}
