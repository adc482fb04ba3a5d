// Reports a pass in Events, logs and metrics, and to `onPass` (used by the demo).
import type { Logger } from "@memhog/runtime";
import type { Pass, ReconcileDeps } from "../controllers/apps.ts";
import type { CommandOutcome } from "../execute/outcome.ts";
import type { AppName } from "../model/observed-app.ts";
import type { Plan, Verdict } from "../model/plan.ts";
import { newEvents, recordEvents } from "./events.ts";
import type { MemhogMetrics } from "./metrics.ts";

export interface ReportOptions {
  readonly metrics: MemhogMetrics;
  readonly onPass?: ((pass: Pass) => void) | undefined;
}

export function reporter({ metrics, onPass }: ReportOptions): ReconcileDeps["report"] {
  return (pass, ctx) => {
    const { seen, outcomes, shrunk, reasonBefore } = pass;
    // A rejected shrink is in the record that was stored after the plan.
    const plan = shrunk === undefined ? pass.plan : { ...pass.plan, record: shrunk.record };
    recordEvents(ctx, seen, newEvents({ record: seen.record, reason: reasonBefore }, plan));
    logPlan(ctx.log, seen.app, plan);
    logOutcomes(ctx.log, seen.app, outcomes);
    metrics.planned(seen.app, seen.record, plan);
    metrics.executed(outcomes);
    onPass?.(pass);
  };
}

/** The operator's logger has a level below debug; other loggers may not. */
type Log = Logger & { trace?(fields: object, message: string): void };

/** Logs finished raises at info, each decision at debug (-v2), and the figures it is based on at trace (-v4). */
export function logPlan(log: Log, { kind, name }: AppName, plan: Plan): void {
  const app = `${kind}/${name}`;
  for (const verdict of plan.verdicts) logVerdict(log, app, verdict);
  for (const { intent, outcome, message } of plan.settled) {
    const { pod, reason, method, changes } = intent;
    log.info(
      { app, pod: pod.name, method, reason, outcome, changes },
      `raise finished: ${outcome}${message ? `, ${message}` : ""}`,
    );
  }
}

function logVerdict(log: Log, app: string, { pod, container, decision, inputs }: Verdict): void {
  const about = { app, pod: pod.name, container, decision: decision.kind, reason: decision.reason };
  log.debug(about, decision.detail);
  log.trace?.({ ...about, inputs }, "inputs of the decision");
}

const failures = new Set<CommandOutcome["outcome"]>(["refused", "infeasible", "unknown"]);

/** Failures are warnings. A command that was dropped because its object changed is logged at debug. */
export function logOutcomes(log: Log, { kind, name }: AppName, outcomes: readonly CommandOutcome[]): void {
  for (const { command, outcome, message, serverMessage } of outcomes) {
    const { intent } = command;
    const fields = { app: `${kind}/${name}`, pod: intent.pod.name, command: command.do, outcome, intent: intent.id };
    if (serverMessage !== undefined) log.trace?.({ ...fields, serverMessage }, "message of the admission webhook");
    if (failures.has(outcome)) log.warn(fields, `command failed: ${message}`);
    else if (outcome === "done") log.info({ ...fields, changes: intent.changes, reason: intent.reason }, message);
    else log.debug(fields, `command not completed: ${message}`);
  }
}
