// Decisions in the log. -v2 shows each of them in a line, -v4 what it rests on. Without -v only what was done, and what could not be.
import type { Logger } from "@memhog/runtime";
import type { CommandOutcome } from "../act/outcome.ts";
import type { Plan, Verdict } from "../model/plan.ts";
import type { AppName } from "../model/seen.ts";

/** A logger that may also have the level below debug; that of an operator has. */
type Log = Logger & { trace?(fields: object, message: string): void };

export function logPlan(log: Log, { kind, name }: AppName, plan: Plan): void {
  const app = `${kind}/${name}`;
  for (const verdict of plan.verdicts) logVerdict(log, app, verdict);
  for (const { intent, outcome, detail } of plan.settled) {
    const { pod, reason, road, changes } = intent;
    log.info(
      { app, pod: pod.name, road, reason, outcome, changes },
      `a raise has ended: ${outcome}${detail ? `, ${detail}` : ""}`,
    );
  }
}

function logVerdict(log: Log, app: string, { pod, container, decision, inputs }: Verdict): void {
  const about = { app, pod: pod.name, container, decision: decision.kind, reason: decision.reason };
  log.debug(about, decision.detail);
  log.trace?.({ ...about, inputs }, "what it rests on");
}

const worrying = new Set<CommandOutcome["ended"]>(["refused", "infeasible", "unknown"]);

/** What became of the commands; that the world moved in the meantime is nothing to worry about. */
export function logOutcomes(log: Log, { kind, name }: AppName, outcomes: readonly CommandOutcome[]): void {
  for (const { command, ended, detail } of outcomes) {
    const { intent } = command;
    const fields = { app: `${kind}/${name}`, pod: intent.pod.name, command: command.do, ended, intent: intent.id };
    if (worrying.has(ended)) log.warn(fields, `not done: ${detail}`);
    else if (ended === "done") log.info({ ...fields, changes: intent.changes, reason: intent.reason }, detail);
    else log.debug(fields, `not done: ${detail}`);
  }
}
