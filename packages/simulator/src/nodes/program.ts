// What a container does, as seen by a node: how much memory it uses, how it ends, what its probes return, how it reacts to SIGTERM.
// Four sources describe it. For each property the first source that defines it wins:
//
//     1. the option `programOf`              programOf: (pod, container) => ({ end: { afterMs: 5_000, exitCode: 1 } })
//     2. annotations on the pod              simulator.memhog.dev/exit.<container>: after 5s with 1
//     3. the command, if it is one of a few that tests use on every cluster: sleep, sh -c "sleep 2; exit 3", hog with its flags
//     4. the default: uses 1 MiB, ready at once, runs until it is stopped, exits with 0 100 ms after SIGTERM
//
// How a program ends:
//
//     by itself          after `end.afterMs` with `end.exitCode`; without `end` it runs until it is stopped
//     after SIGTERM      after `stop.afterMs` with `stop.exitCode`; without `stop` it ignores the signal and is killed (137)
//                        when the grace period of the pod is over
//     out of memory      killed with 137, reason OOMKilled, when its memory model crosses the limit
//     failed liveness or startup probe   stopped as after SIGTERM, then restarted by the restart policy of the pod
import type { Pod } from "@memhog/runtime";
import type { Container } from "@memhog/runtime/kinds";
import { parseDuration } from "@memhog/runtime/objects";
import { hogBaseline, hogBehaviorOf } from "./hog.ts";
import { constant, hogModel, type MemoryModel, parseMemoryModel, step, trace } from "./memory-model.ts";
import { always, parseTimeline, type Timeline } from "./probes.ts";

/** An exit after a duration, with this exit code. */
export interface End {
  readonly afterMs: number;
  readonly exitCode: number;
}

export interface Program {
  readonly memory: MemoryModel;
  /** How the program ends by itself, counted from its start; undefined: it does not. */
  readonly end: End | undefined;
  /** How it ends after SIGTERM; undefined: it ignores the signal and is killed. */
  readonly stop: End | undefined;
  /** Results of the probes. Used only for probes that the container has. */
  readonly started: Timeline;
  readonly ready: Timeline;
  readonly live: Timeline;
}

/** A partial program, as text or values. */
type PartialProgram = { readonly [K in keyof Omit<Program, "memory">]?: Program[K] } & {
  readonly memory?: MemoryModel | string;
};

export type ProgramOf = (pod: Pod, container: Container) => PartialProgram | undefined;

interface ProgramSources {
  readonly programOf?: ProgramOf | undefined;
  /** Seeds random behavior: different for each start of a container. */
  readonly seed: number;
  /** Called for invalid annotations, which are ignored. */
  readonly onAnnotationError: (error: AnnotationError) => void;
}

const mib = 1024 * 1024;

const quietServer: Program = {
  memory: constant(mib),
  end: undefined,
  stop: { afterMs: 100, exitCode: 0 },
  started: always,
  ready: always,
  live: always,
};

/** The program of this container, once it starts. */
export function programFor(pod: Pod, container: Container, { programOf, seed, onAnnotationError }: ProgramSources): Program {
  const given = programOf?.(pod, container) ?? {};
  const annotated = fromAnnotations(pod, container.name, seed, onAnnotationError);
  const program = { ...quietServer, ...understood(container, seed), ...annotated, ...given };
  const { memory } = program;
  return { ...program, memory: typeof memory === "string" ? parseMemoryModel(memory, seed) : memory };
}

function understood(container: Container, seed: number): PartialProgram {
  const words = commandOf(container);
  const isHog = /(^|\/)hog(:|@|$)/.test(container.image ?? "") || words.some(isHogPath);
  const mayBeHog = isHog || words.some((word) => /^--ramp(=|$)/.test(word));
  if (!mayBeHog) return parseCommand(words) ?? {};
  const flags = hogFlagsOf(container);
  const plan = hogBehaviorOf(flags);
  if (plan.kind !== "exit") return { memory: hogModel(flags, seed) };
  // A process that only shares the flag name may be another program.
  return isHog ? { memory: constant(hogBaseline), end: { afterMs: 0, exitCode: plan.exitCode } } : {};
}

const isHogPath = (word: string) => /(^|\/)hog$/.test(word);

/** The arguments after the hog's name or its script; without a command the image identifies the hog. */
function hogFlagsOf(container: Container): readonly string[] {
  const words = commandOf(container);
  const name = words.findLastIndex((word) => isHogPath(word) || /\.[cm]?[jt]s$/.test(word));
  if (name !== -1 || !container.command?.length) return words.slice(name + 1);
  const first = words.findIndex((word) => word.startsWith("--"));
  return first === -1 ? [] : words.slice(first);
}

// Annotations that describe the container `main` of a pod:
//
//     simulator.memhog.dev/memory.main:  ramp 1Mi/s to 500Mi      memory usage (memory-model.ts)
//     simulator.memhog.dev/exit.main:    after 5s with 1          how it ends by itself
//     simulator.memhog.dev/stop.main:    after 2s with 0          how it ends after SIGTERM; "never": it ignores the signal
//     simulator.memhog.dev/ready.main:   after 3s until 20s       result of the readiness probe; also live. and started.
//
// They have no effect on a real node. A test for both clusters uses a command that does the same.

const annotationPrefix = "simulator.memhog.dev/";

/** An annotation that was ignored, and why. */
export interface AnnotationError {
  readonly annotation: string;
  readonly message: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function fromAnnotations(
  pod: Pod,
  container: string,
  seed: number,
  onAnnotationError: (error: AnnotationError) => void,
): PartialProgram {
  const annotated: Mutable<PartialProgram> = {};
  const readers: Record<string, (text: string) => void> = {
    memory: (text) => {
      annotated.memory = parseMemoryModel(text, seed);
    },
    exit: (text) => {
      annotated.end = endIn(text);
    },
    stop: (text) => {
      annotated.stop = text.trim() === "never" ? undefined : endIn(text);
    },
    ready: (text) => {
      annotated.ready = timelineIn(text);
    },
    live: (text) => {
      annotated.live = timelineIn(text);
    },
    started: (text) => {
      annotated.started = timelineIn(text);
    },
  };
  for (const [name, read] of Object.entries(readers)) {
    const annotation = `${annotationPrefix}${name}.${container}`;
    const text = pod.metadata?.annotations?.[annotation];
    if (text === undefined) continue;
    try {
      read(text);
    } catch (error) {
      onAnnotationError({ annotation, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return annotated;
}

/** "after 5s with 1", "after 5s", "with 1". */
function endIn(text: string): End {
  const [, after, code] = /^(?:after\s+(\S+))?\s*(?:with\s+(\d+))?$/.exec(text.trim()) ?? [];
  if (after === undefined && code === undefined)
    throw new TypeError(`expected an end such as "after 5s with 1", found ${JSON.stringify(text)}`);
  return { afterMs: after === undefined ? 0 : parseDuration(after), exitCode: Number(code ?? 0) };
}

function timelineIn(text: string): Timeline {
  const timeline = parseTimeline(text);
  if (timeline === undefined)
    throw new TypeError(`expected "always", "never" or words such as "after 3s until 20s", found ${JSON.stringify(text)}`);
  return timeline;
}

// A few shell commands that tests use on every cluster: a pod that runs `sh -c "sleep 2; exit 3"` ends as it does on a real node.
// This is not a shell. A container with any other command runs until it is stopped.

/** A small shell program. */
const base = mib / 4;
/** How fast `tail /dev/zero` uses memory: fast enough for short tests, slow enough to be observed. */
const greedPerSecond = 200 * mib;

function commandOf({ command = [], args = [] }: Container): readonly string[] {
  return [...command, ...args];
}

/** The program of a command line; undefined if the command is unknown. */
export function parseCommand(words: readonly string[]): PartialProgram | undefined {
  const [program = "", ...rest] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if ((name === "sh" || name === "ash" || name === "bash") && rest[0] === "-c") return runScript(rest[1] ?? "");
  return name === "" ? undefined : runScript([name, ...rest].join(" "));
}

/** The state of a script after some milliseconds. */
interface Progress {
  ms: number;
  readonly points: [ms: number, bytes: number][];
  stop: PartialProgram["stop"];
}

function runScript(script: string): PartialProgram | undefined {
  // The first process of a container has no default signal handlers: without a trap SIGTERM has no effect.
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

/** Splits at `;`, `&&` and line ends, but not within quotes. */
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

/** Reads forever and keeps everything in memory. */
function greedy({ ms, points, stop }: Progress): PartialProgram {
  const held = points.at(-1)?.[1] ?? constant(base).ceiling;
  const hour = 3_600_000;
  const eaten = trace([...points, [ms, held], [ms + hour, held + (greedPerSecond * hour) / 1_000]]);
  return { stop, memory: eaten };
}
