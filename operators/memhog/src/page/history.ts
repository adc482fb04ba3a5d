// What the page shows of the past: for every app its memory against its limit, a point per evaluation, the last two hours at most.
// It is a convenience and lives in memory only; decisions never look at it. Bounded: 500 apps of 480 points are some 15 MB, so
// above 500 apps each gets fewer.
import type { Plan, Verdict } from "../model/plan.ts";
import type { AppSeen } from "../model/seen.ts";

/** Time, usage, limit, threshold; null where it was not known. */
export type Point = readonly [atMs: number, usage: number | null, limit: number | null, threshold: number | null];

export interface AppHistory {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly monitor: string | undefined;
  readonly pods: number;
  readonly summary: Plan["summary"];
  readonly usage: number | undefined;
  readonly limit: number | undefined;
  readonly actions: Plan["record"]["actions"];
  readonly points: readonly Point[];
}

const mostPoints = 480;
const mostOfAll = 240_000;

export class History {
  readonly #apps = new Map<string, AppHistory & { readonly points: Point[] }>();

  /** An app was looked at. */
  note(seen: AppSeen, plan: Plan): void {
    const { app, policies, pods, nowMs } = seen;
    const key = `${app.namespace}/${app.kind}/${app.name}`;
    const points = this.#apps.get(key)?.points ?? [];
    const tightest = nearestToLimit(plan.verdicts);
    const { usage, limit, thresholdBytes } = tightest?.inputs ?? {};
    points.push([nowMs, usage ?? null, limit ?? null, thresholdBytes ?? null]);
    const most = Math.min(mostPoints, Math.max(30, Math.floor(mostOfAll / Math.max(1, this.#apps.size))));
    if (points.length > most) points.splice(0, points.length - most);
    const monitor = policies.map(({ name }) => name).join(", ") || undefined;
    const about = { key, namespace: app.namespace, name: `${app.kind}/${app.name}`, monitor, pods: pods.length };
    this.#apps.set(key, { ...about, summary: plan.summary, usage, limit, actions: plan.record.actions, points });
  }

  /** An app is gone. */
  forget({ namespace, kind, name }: AppSeen["app"]): void {
    this.#apps.delete(`${namespace}/${kind}/${name}`);
  }

  apps(): readonly AppHistory[] {
    return [...this.#apps.values()];
  }
}

/** Of all containers the one that uses the largest share of its limit. */
function nearestToLimit(verdicts: readonly Verdict[]): Verdict | undefined {
  const share = ({ inputs: { usage, limit } }: Verdict) => (usage === undefined || !limit ? 0 : usage / limit);
  return verdicts.reduce<Verdict | undefined>(
    (best, each) => (best === undefined || share(each) > share(best) ? each : best),
    undefined,
  );
}
