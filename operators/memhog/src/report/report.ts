// Tells everyone about a pass: people in Events, Prometheus in metrics, logs, and whoever else listens (the page, the demo).
import type { Pass, ReconcileWorld } from "../reconcile.ts";
import { news, tell } from "./events.ts";
import { logOutcomes, logPlan } from "./log.ts";
import type { MemhogMetrics } from "./metrics.ts";

export interface ReportOptions {
  readonly metrics: MemhogMetrics;
  readonly onPass?: ((pass: Pass) => void) | undefined;
}

export function reporter({ metrics, onPass }: ReportOptions): ReconcileWorld["report"] {
  return (pass, ctx) => {
    const { seen, plan, outcomes, reasonBefore } = pass;
    tell(ctx, seen, news({ record: seen.record, reason: reasonBefore }, plan));
    logPlan(ctx.log, seen.app, plan);
    logOutcomes(ctx.log, seen.app, outcomes);
    metrics.planned(seen.record, plan);
    metrics.carriedOut(outcomes);
    onPass?.(pass);
  };
}
