// Bad days of a whole cluster, by plan: what happens beside the traffic that faults.ts spoils. A plan is a list of values, each
// with its time, so it can be written by hand, drawn from a seed, printed, and tried again.
//
//     const cluster = wholeCluster({ nodes: { count: 3 }, prometheus: true });
//     await using simulator = await startSimulator({ environment, middleware: [faults.middleware], parts: cluster });
//     letHappen([{ kind: "power cut", atMs: 60_000, forMs: 120_000, node: "node-2" }], { clock, cluster, faults });
import type { Cancel, Clock } from "@memhog/runtime";
import { lies, type PrometheusFaults, type RequestFault } from "../prometheus/faults.ts";
import type { Tamper } from "../prometheus/scraper.ts";
import type { WholeCluster } from "../whole-cluster.ts";
import type { Faults } from "./faults.ts";

interface Span {
  /** Milliseconds from now. */
  readonly atMs: number;
  /** How long it lasts, in milliseconds. */
  readonly forMs: number;
}

export type BadDay = Span &
  (
    | { readonly kind: "power cut"; readonly node: string }
    /** Prometheus does not answer, or not as it should. */
    | { readonly kind: "metrics outage"; readonly how: RequestFault }
    /** What it scrapes is wrong: `lies.value(NaN)`, `lies.stale(60_000)`. */
    | { readonly kind: "metrics lie"; readonly lie: Tamper }
    | { readonly kind: "API server restart" }
  );

export interface BadDaysOptions {
  readonly clock: Clock;
  readonly cluster: Pick<WholeCluster, "nodes" | "prometheus">;
  /** For restarts of the API server. */
  readonly faults: Pick<Faults, "restart">;
}

/** Lets all of it happen in its time. What has begun when it is cancelled goes on to its end. */
export function letHappen(days: readonly BadDay[], options: BadDaysOptions): Cancel {
  const cancels = days.map((day) => options.clock.after(day.atMs, () => begin(day, options)));
  return () => {
    for (const cancel of cancels) cancel();
  };
}

function begin(day: BadDay, { clock, cluster, faults }: BadDaysOptions): void {
  if (day.kind === "API server restart") faults.restart(day.forMs);
  else if (day.kind === "power cut") {
    const node = cluster.nodes.node(day.node);
    void node.losePower();
    clock.after(day.forMs, () => void node.regainPower());
  } else {
    const spoiled = cluster.prometheus.faults;
    clock.after(
      day.forMs,
      day.kind === "metrics lie" ? during(spoiled, "tamper", day.lie) : during(spoiled, "onRequest", () => day.how),
    );
  }
}

/** Sets a fault; what it gives back takes it back, unless another one has come since. */
function during<F extends "tamper" | "onRequest">(faults: PrometheusFaults, name: F, fault: PrometheusFaults[F]): () => void {
  faults[name] = fault;
  return () => {
    if (faults[name] === fault) faults[name] = undefined;
  };
}

export interface RandomDays {
  /** Milliseconds over which they are spread. */
  readonly withinMs: number;
  readonly count: number;
  /** Names of nodes that may lose their power. */
  readonly nodes: readonly string[];
}

const outages: readonly RequestFault[] = [
  { kind: "refuse" },
  { kind: "reset" },
  { kind: "status", status: 503 },
  { kind: "slow", ms: 20_000 },
  { kind: "html" },
];

const manyLies: readonly (() => Tamper)[] = [
  () => lies.value(Number.NaN),
  () => lies.value(Number.POSITIVE_INFINITY),
  () => lies.missing(),
  () => lies.stale(600_000),
  () => lies.twice((truth) => truth * 2),
];

/** Some bad days, as `random` decides: the same seed, the same days. */
export function randomDays(random: () => number, { withinMs, count, nodes }: RandomDays): readonly BadDay[] {
  const any = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  return Array.from({ length: count }, (): BadDay => {
    const span = { atMs: Math.floor(random() * withinMs), forMs: 1_000 + Math.floor((random() * withinMs) / 4) };
    const kind = any(["power cut", "metrics outage", "metrics lie", "API server restart"] as const);
    if (kind === "power cut") return { ...span, kind, node: any(nodes) ?? "node-1" };
    if (kind === "metrics outage") return { ...span, kind, how: any(outages) ?? { kind: "refuse" } };
    if (kind === "metrics lie") return { ...span, kind, lie: (any(manyLies) ?? lies.missing)() };
    return { ...span, kind: "API server restart", forMs: Math.min(span.forMs, 60_000) };
  });
}
