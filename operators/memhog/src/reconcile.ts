// One pass over one app, and the whole way through the code: observe → decide → remember → act → report. Whatever ends it early,
// a crash, a conflict, an answer that is lost, the next pass begins at the top and finds what was intended in the AppMemory.
import { checkAgainIn, done, type Logger, type ObjectRef, type Outcome, type Stored } from "@memhog/runtime";
import { carryOut } from "./act/carry-out.ts";
import { type CommandOutcome, type Server, withEndings } from "./act/outcome.ts";
import { remember } from "./act/remember.ts";
import { AppMemory } from "./api/app-memory.ts";
import { decide } from "./decide/decide.ts";
import type { Plan } from "./model/plan.ts";
import type { AppSeen } from "./model/seen.ts";
import { monitorsByNamespace } from "./observe/kinds.ts";
import { type ObserveContext, type ObserveWorld, observe } from "./observe/observe.ts";
import type { RaiseWitness } from "./observe/raise-witness.ts";
import type { UnderWay } from "./observe/under-way.ts";
import type { Teller } from "./report/events.ts";

/** What is needed of a reconciler's context. */
export interface ReconcileContext extends ObserveContext, Teller {
  readonly client: ObserveContext["client"] & Server;
  readonly log: Logger;
}

export interface ReconcileWorld extends ObserveWorld {
  readonly raises: RaiseWitness;
  readonly underWay: UnderWay;
  /** Everything that was seen, decided and done: Events, metrics, logs, the page (report/report.ts). */
  readonly report: (pass: Pass, ctx: Pick<ReconcileContext, "eventOn" | "log">) => void;
}

/** One pass, when it is over. */
export interface Pass {
  readonly seen: AppSeen;
  /** AppMemory.status.reason before it. */
  readonly reasonBefore: string | undefined;
  readonly plan: Plan;
  readonly outcomes: readonly CommandOutcome[];
}

export async function reconcile(ref: ObjectRef, ctx: ReconcileContext, world: ReconcileWorld): Promise<Outcome> {
  const observed = await observe(ref, ctx, world);
  const stored = ctx.cached.get(AppMemory, ref);
  if (observed === undefined || (stored === undefined && !isLookedAfter(observed))) {
    world.underWay.note(ref, []);
    return done();
  }
  // Counted, decided and noted without a pause: of several apps that are looked at at once only one gets the last free place (D3).
  const seen = { ...observed, underWayElsewhere: world.underWay.elsewhere(ref, ctx.cached) };
  const plan = decide(seen);
  world.underWay.note(ref, plan.record.intents);
  const memory = await remember({ client: ctx.client, name: ref.name, stored }, seen, plan);
  const outcomes = await carryOut(ctx, seen.app, plan, { halted: () => pausedBy(seen, ctx) });
  for (const { ended, command } of outcomes) if (ended === "done") world.raises.note(command.intent.pod.uid);
  const pass = { seen, plan, outcomes, reasonBefore: stored?.status?.reason };
  await rememberEndings(ref, ctx, pass, memory);
  world.report(pass, ctx);
  const unknown = outcomes.find(({ error }) => error !== undefined);
  if (unknown?.error !== undefined) throw unknown.error;
  return plan.againInMs === undefined ? done() : checkAgainIn(plan.againInMs, plan.summary.reason);
}

/** Somebody asked for it, in both places: an annotation on a pod, and an AppMonitor. Otherwise nothing is written about an app. */
function isLookedAfter({ policies, pods }: AppSeen): boolean {
  return policies.length > 0 && pods.some(({ monitored }) => monitored);
}

/** A refusal is stored: it must not be forgotten by a restart, nor tried again at once (promises A1, D5). */
async function rememberEndings(
  { name }: ObjectRef,
  { client }: ReconcileContext,
  { seen, plan, outcomes }: Pass,
  stored: Stored<AppMemory> | undefined,
): Promise<void> {
  const record = withEndings(plan.record, outcomes);
  if (record !== plan.record) await remember({ client, name, stored }, seen, { ...plan, record });
}

/** The kill switch is looked at again before each write (promise E4). */
function pausedBy({ app, policies }: AppSeen, ctx: ReconcileContext): string | undefined {
  const now = ctx.cached.lookup(monitorsByNamespace, app.namespace);
  const paused = now.find(({ metadata, spec }) => spec.paused && policies.some(({ uid }) => uid === metadata.uid));
  return paused && `AppMonitor ${paused.metadata.name} is paused`;
}
