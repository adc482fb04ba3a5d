// What a container does, as far as a node can tell: how much memory it uses, when it ends, what its probes find, what it
// does when asked to stop. Nothing is really run, so it has to be said, and there are four ways; the first that says
// something wins, for each question on its own:
//
//     1. a function in the options           programOf: (pod, container) => ({ ready: "after 10s" })
//     2. annotations on the pod              simulator.memhog.dev/memory.<container>: ramp 1Mi/s to 500Mi   (told.ts)
//     3. the command, if it is one of the few that tests use everywhere: sleep, sh -c "sleep 2; exit 3"      (shell.ts)
//        or memhog with its arguments
//     4. otherwise it is a quiet server: a megabyte, ready at once, runs until it is stopped, stops when asked to
import type { Container, Pod } from "@memhog/runtime";
import { memhogItself } from "../memory/memhog.ts";
import { memhogPlanOf } from "../memory/memhog-flags.ts";
import type { MemoryModel } from "../memory/model.ts";
import { constant } from "../memory/models.ts";
import { memhogWith, parseMemoryModel } from "../memory/parse-model.ts";
import { commandOf, understand } from "./shell.ts";
import { always, type Timeline } from "./timeline.ts";
import { type Complaint, toldBy } from "./told.ts";

/** An end: so long after something, with this exit code. */
export interface End {
  readonly afterMs: number;
  readonly exitCode: number;
}

export interface Program {
  readonly memory: MemoryModel;
  /** How it ends by itself, counted from its start; undefined: it does not. */
  readonly end: End | undefined;
  /** How it ends after SIGTERM; undefined: it takes no notice and has to be killed. */
  readonly stop: End | undefined;
  /** What the probes would find. A probe that the container does not have is not asked. */
  readonly started: Timeline;
  readonly ready: Timeline;
  readonly live: Timeline;
}

/** Some of a program, in words or values. */
export type PartialProgram = { readonly [K in keyof Omit<Program, "memory">]?: Program[K] } & {
  readonly memory?: MemoryModel | string;
};

export type ProgramOf = (pod: Pod, container: Container) => PartialProgram | undefined;

export interface ProgramSources {
  readonly programOf?: ProgramOf | undefined;
  /** For what is random in it: another one for each start of a container. */
  readonly seed: number;
  /** Told of annotations that mean nothing; they are passed over. */
  readonly onComplaint: (complaint: Complaint) => void;
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

/** What this container of this pod will do, once it starts. */
export function programFor(pod: Pod, container: Container, { programOf, seed, onComplaint }: ProgramSources): Program {
  const given = programOf?.(pod, container) ?? {};
  const told = toldBy(pod, container.name, seed, onComplaint);
  const program = { ...quietServer, ...understood(container, seed), ...told, ...given };
  const { memory } = program;
  return { ...program, memory: typeof memory === "string" ? parseMemoryModel(memory, seed) : memory };
}

function understood(container: Container, seed: number): PartialProgram {
  const words = commandOf(container);
  const isMemhog = /(^|\/)memhog(:|@|$)/.test(container.image ?? "") || words.some(isItsName);
  const mayBe = isMemhog || words.some((word) => /^--ramp(=|$)/.test(word));
  if (!mayBe) return understand(words) ?? {};
  const flags = memhogFlagsOf(container);
  const plan = memhogPlanOf(flags);
  if (plan.kind !== "end") return { memory: memhogWith(flags, seed) };
  // Who only has a flag of its name may be somebody else, with flags of its own.
  return isMemhog ? { memory: constant(memhogItself), end: { afterMs: 0, exitCode: plan.exitCode } } : {};
}

const isItsName = (word: string) => /(^|\/)memhog$/.test(word);

/** What stands behind its name, or behind that of its script; without a command the image names it. */
function memhogFlagsOf(container: Container): readonly string[] {
  const words = commandOf(container);
  const name = words.findLastIndex((word) => isItsName(word) || /\.[cm]?[jt]s$/.test(word));
  if (name !== -1 || !container.command?.length) return words.slice(name + 1);
  const first = words.findIndex((word) => word.startsWith("--"));
  return first === -1 ? [] : words.slice(first);
}
