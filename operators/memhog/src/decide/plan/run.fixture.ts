// Runs decide() against the small world, as the operator does: store the record, then carry out the commands; and counts what had
// an effect. A crash is a pass that stops after so many of its writes.
import { isDeepStrictEqual } from "node:util";
import type { Command, Plan } from "../../model/plan.ts";
import type { AppSeen } from "../../model/seen.ts";
import { decide } from "../decide.ts";
import { obey, settled } from "./world.fixture.ts";

export interface Run {
  readonly world: AppSeen;
  /** What had an effect, in order: "resize limits", "createCopy", … */
  readonly effects: readonly string[];
}

/** One pass; only the first `writes` of its writes are made: the record first, then the commands. */
export function pass(run: Run, writes = Number.POSITIVE_INFINITY): Run & { readonly plan: Plan } {
  const plan = decide(run.world);
  if (writes < 1) return { ...run, plan };
  const stored = { ...run, world: { ...run.world, record: plan.record } };
  return { ...plan.commands.slice(0, writes - 1).reduce(carryOut, stored), plan };
}

function carryOut({ world, effects }: Run, command: Command): Run {
  const next = obey(world, command);
  return { world: next, effects: next === world ? effects : [...effects, textOf(command)] };
}

function textOf(command: Command): string {
  if (command.do === "resize") return `resize ${command.step}`;
  return command.do === "deletePod" ? `deletePod ${command.why}` : command.do;
}

export const later = (run: Run, ms: number): Run => ({ ...run, world: { ...run.world, nowMs: run.world.nowMs + ms } });

/** Pass after pass, a second apart, until nothing happens any more. `crashes[i]`: how many writes pass i makes. */
export function runToEnd(start: AppSeen, crashes: readonly number[] = []): Run {
  let run: Run = { world: start, effects: [] };
  for (let i = 0; i < 60; i++) {
    const before = run;
    run = pass(run, crashes[i]);
    run = { ...run, world: settled(run.world) };
    if (i >= crashes.length && sameWorld(before.world, run.world)) return { world: run.world, effects: run.effects };
    run = later(run, 1_000);
  }
  throw new Error("no end after 60 passes");
}

const sameWorld = (a: AppSeen, b: AppSeen): boolean => isDeepStrictEqual({ ...a, nowMs: 0 }, { ...b, nowMs: 0 });
