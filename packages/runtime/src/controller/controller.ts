// A controller keeps objects of one kind as their spec says. It is a value: the kind, the other kinds it looks at, and one
// function that gets a key, reads the world afresh and moves it one step nearer to what is wanted.
//
//     const gordons = controller(Gordon, { owns: [Pod] }, async (ref, ctx) => {
//       const gordon = ctx.get(Gordon, ref);
//       if (gordon === undefined) return done(); // deleted: owner references tidy up
//       await ctx.applyChildren(gordon, podsFor(gordon));
//       await ctx.setStatus(gordon, statusOf(gordon, ctx.list(Pod, { ownedBy: gordon })));
//       return done();
//     });
//
// The way of a change, and the files on it:
//
//     cache → sources.ts      which keys does it matter to, and why (own-sources.ts: news from elsewhere)
//           → queue           each key once, one hand per key (concurrency/work-queue.ts)
//           → runner.ts       waits until the caches are right and have seen our own writes (pending-writes.ts)
//           → reconcile.ts    runs the function, with a time limit and a context (context.ts, run.ts)
//           → after-reconcile.ts   what follows: nothing, later, back-off
//
// Helpers behind the context: children.ts, status.ts, finalizer.ts, tracked-client.ts. declarative.ts is the pure form.
// explain.ts remembers why. Nothing here knows about processes, leaders or ports: that is operator/.
import type { Kind } from "../objects/object.ts";
import type { Grant } from "../schema/access.ts";
import { impliedBy } from "../schema/implied-access.ts";
import type { ContextFor, Controller, ControllerOptions, Plan, Reconcile } from "./definition.ts";
import { checkFinalizerName } from "./finalizer.ts";

/**
 * Defines a controller: a kind, the other kinds it looks at, and a function that gets a key, reads the world afresh and moves it
 * one step nearer to what is wanted. What it throws is tried again, later each time; a PermanentError only after a change.
 *
 *     const gordons = controller(Gordon, { owns: [Pod] }, async (ref, ctx) => {
 *       const gordon = ctx.get(Gordon, ref);
 *       if (gordon === undefined) return done(); // deleted: owner references tidy up
 *       await ctx.applyChildren(gordon, podsFor(gordon));
 *       await ctx.setStatus(gordon, statusOf(gordon, ctx.list(Pod, { ownedBy: gordon })));
 *       return done(); // or checkAgainIn(minutes(1), "why"), or waitForChange("of what")
 *     });
 */
export function controller<
  P extends Kind,
  const O extends readonly Kind[] = readonly [],
  const W extends readonly Kind[] = readonly [],
  const M extends readonly Grant[] = readonly [],
  const R extends boolean = true,
>(kind: P, options: ControllerOptions<P, O, W, M, R>, reconcile: Reconcile<ContextFor<P, O, W, M, R>>): Controller {
  const plan = { ...defaults, ...stated(options), reconcile } as unknown as Plan;
  checkNumbers(kind, plan);
  const { owns, watches, finalizer, reports } = plan;
  if (finalizer !== undefined) checkFinalizerName(finalizer.name);
  if (plan.whenStuck !== undefined && !reports)
    throw new TypeError(`controller of ${kind.kind}: expected no whenStuck, which is for the status, beside reports: false`);
  const kinds = { for: kind, owns, watches: watches.map((watch) => watch.kind) };
  const grants = impliedBy({ ...kinds, may: options.may ?? [], reports, finalizer: finalizer !== undefined, events: true });
  return { name: options.name ?? kind.kind.toLowerCase(), kind, grants, plan };
}

/** What is undefined was not stated: `{ timeoutMs: settings.timeoutMs }` is the default if there is no such setting. */
function stated(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Settings often come from text, and none of these would complain by itself: it would wait for ever, or not at all. */
function checkNumbers({ kind }: Kind, { concurrency, timeoutMs, resyncMs }: Plan): void {
  const check = (name: string, found: number, isRight: boolean, expected: string) => {
    if (!isRight) throw new TypeError(`controller of ${kind}: expected ${name} to be ${expected}, found ${found}`);
  };
  check("concurrency", concurrency, Number.isInteger(concurrency) && concurrency > 0, "a whole number above 0");
  check("timeoutMs", timeoutMs, Number.isFinite(timeoutMs) && timeoutMs > 0, "milliseconds above 0");
  check("resyncMs", resyncMs, Number.isFinite(resyncMs) && resyncMs >= 0, "milliseconds, or 0 for never");
}

const defaults: Omit<Plan, "reconcile"> = {
  owns: [],
  watches: [],
  sources: [],
  when: undefined,
  whenOwned: undefined,
  finalizer: undefined,
  reports: true,
  whenStuck: undefined,
  concurrency: 1,
  timeoutMs: 120_000,
  resyncMs: 3_600_000,
};
