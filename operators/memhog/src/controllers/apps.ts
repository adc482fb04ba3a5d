// Reconciles one app: observe → decide → persistPlan → execute → report. If a pass ends early, by a crash, a conflict or a lost
// response, the next pass starts over and finds the intents in the AppMemory.
import { done, type Logger, type ObjectRef, type Outcome, requeueAfter, type Stored } from "@memhog/runtime";
import type { AppMemory } from "../api/app-memory.ts";
import { decide } from "../decide/decide.ts";
import { withShrinks } from "../decide/shrink.ts";
import { execute, executeShrink, type ShrinkOutcome } from "../execute/execute.ts";
import { type CommandOutcome, type Server, withEndings } from "../execute/outcome.ts";
import { isStorable, persistPlan } from "../execute/persist-plan.ts";
import type { ObservedApp } from "../model/observed-app.ts";
import type { Plan } from "../model/plan.ts";
import { AppMemoryView, monitorsByNamespace } from "../observe/kinds.ts";
import { type ObserveContext, type ObserveDeps, observe } from "../observe/observe.ts";
import type { RaiseTimes } from "../observe/pods.ts";
import type { RaisesInProgress } from "../observe/raises-in-progress.ts";
import type { EventRecorder } from "../report/events.ts";

/** The part of the reconcile context that is used here. */
export interface ReconcileContext extends ObserveContext, EventRecorder {
  readonly client: ObserveContext["client"] & Server;
  readonly log: Logger;
}

export interface ReconcileDeps extends ObserveDeps {
  readonly raises: RaiseTimes;
  readonly inProgress: RaisesInProgress;
  /** Reports the pass in Events, metrics, logs and the dashboard (report/report.ts). */
  readonly report: (pass: Pass, ctx: Pick<ReconcileContext, "eventOn" | "log">) => void;
  /** Nothing is done in these namespaces. @default none */
  readonly isExcluded?: (namespace: string) => boolean;
  /** Called when an app is gone or no longer monitored. */
  readonly forget?: (ref: ObjectRef) => void;
}

/** A completed pass. */
export interface Pass {
  readonly seen: ObservedApp;
  /** AppMemory.status.reason before the pass. */
  readonly reasonBefore: string | undefined;
  readonly plan: Plan;
  readonly outcomes: readonly CommandOutcome[];
  /** How the shrink of the plan ended, if it had one. */
  readonly shrunk?: ShrinkOutcome;
}

export async function reconcile(ref: ObjectRef, ctx: ReconcileContext, deps: ReconcileDeps): Promise<Outcome> {
  if (deps.isExcluded?.(ref.namespace ?? "")) return done();
  const observed = await observe(ref, ctx, deps);
  const stored = ctx.get(AppMemoryView, ref);
  if (observed === undefined || (stored === undefined && !isMonitored(observed))) {
    deps.inProgress.forget(ref);
    deps.forget?.(ref);
    return done();
  }
  // No await from counting to noting: of several apps that are reconciled concurrently, only one gets the last free slot (D3).
  const seen = { ...observed, underWayElsewhere: deps.inProgress.elsewhere(ref, ctx, observed.nowMs) };
  const plan = withShrinks(seen, decide(seen));
  deps.inProgress.note(ref, seen, plan.record.intents);
  const memory = await persistPlan({ client: ctx.client, name: ref.name, stored }, seen, plan);
  const halted = () => pausedBy(seen, ctx);
  const outcomes = await execute(ctx, seen.app, plan, { halted });
  // An API server in trouble gets fewer calls, not more (A2).
  const isUnclear = outcomes.some(({ error }) => error !== undefined);
  const shrunk = isUnclear ? undefined : await executeShrink(ctx, seen.app, plan, { halted });
  for (const { outcome, command } of outcomes) if (outcome === "done") deps.raises.note(command.intent.pod.uid);
  const pass = { seen, plan, outcomes, ...(shrunk && { shrunk }), reasonBefore: stored?.status?.reason };
  await persistEndings(ref, ctx, pass, memory);
  deps.report(pass, ctx);
  const unknown = [...outcomes, ...(shrunk ? [shrunk] : [])].find(({ error }) => error !== undefined);
  if (unknown?.error !== undefined) throw unknown.error;
  return plan.requeueAfterMs === undefined ? done() : requeueAfter(plan.requeueAfterMs, plan.summary.reason);
}

/** An AppMonitor selects the app, and its record can be stored. Nothing is done that is not recorded first. */
const isMonitored = (seen: ObservedApp): boolean => seen.policies.length > 0 && isStorable(seen);

/** Rejections are stored, so that they survive a restart and are not retried at once (A1, D5). */
async function persistEndings(
  { name }: ObjectRef,
  { client }: ReconcileContext,
  { seen, plan, outcomes, shrunk }: Pass,
  stored: Stored<AppMemory> | undefined,
): Promise<void> {
  const record = withEndings(shrunk?.record ?? plan.record, outcomes);
  if (record !== plan.record) await persistPlan({ client, name, stored }, seen, { ...plan, record });
}

/** Checked before each write (E4). */
function pausedBy({ app, policies }: ObservedApp, ctx: ReconcileContext): string | undefined {
  const now = ctx.lookup(monitorsByNamespace, app.namespace);
  const paused = now.find(({ metadata, spec }) => spec.paused && policies.some(({ uid }) => uid === metadata.uid));
  return paused && `AppMonitor ${paused.metadata.name} is paused`;
}
