// Faults of a cluster beside its traffic (traffic-faults.ts): power cuts, restarts of the API server, outages and corrupt samples
// of Prometheus. A plan is a list of values with times, so it can be written by hand, generated from a seed, printed and
// repeated.
//
//     const cluster = fullCluster({ nodes: { count: 3 }, prometheus: true });
//     await using simulator = await startSimulator({ environment, middleware: [faults.middleware], components: cluster });
//     injectFaults([{ kind: "power cut", atMs: 60_000, forMs: 120_000, node: "node-2" }], { clock, cluster, faults });

import { type Transport, TransportError } from "@memhog/runtime/client";
import type { Cancel, Clock } from "@memhog/runtime/concurrency";
import type { FullCluster } from "../full-cluster.ts";
import { corruptSamples, type PrometheusFaults, type RequestFault } from "../prometheus/faults.ts";
import type { Tamper } from "../prometheus/scraper.ts";
import type { TrafficFaults } from "./traffic-faults.ts";

interface Span {
  /** Milliseconds from the call of injectFaults. */
  readonly atMs: number;
  /** Duration in milliseconds. */
  readonly forMs: number;
}

export type Fault = Span &
  (
    | { readonly kind: "power cut"; readonly node: string }
    /** Prometheus does not respond, or responds with an error. */
    | { readonly kind: "metrics outage"; readonly how: RequestFault }
    /** The scraped samples are wrong: `corruptSamples.value(NaN)`, `corruptSamples.stale(60_000)`. */
    | { readonly kind: "corrupt samples"; readonly corrupt: Tamper }
    | { readonly kind: "API server restart" }
  );

export interface InjectFaultsOptions {
  readonly clock: Clock;
  readonly cluster: Pick<FullCluster, "nodes" | "prometheus">;
  /** For restarts of the API server. */
  readonly faults: Pick<TrafficFaults, "restart">;
}

/** Schedules all faults. Cancelling drops the faults that have not begun; the others still end at their time. */
export function injectFaults(plan: readonly Fault[], options: InjectFaultsOptions): Cancel {
  const cancels = plan.map((fault) => options.clock.after(fault.atMs, () => begin(fault, options)));
  return () => {
    for (const cancel of cancels) cancel();
  };
}

function begin(fault: Fault, { clock, cluster, faults }: InjectFaultsOptions): void {
  if (fault.kind === "API server restart") faults.restart(fault.forMs);
  else if (fault.kind === "power cut") {
    const node = cluster.nodes.node(fault.node);
    void node.losePower();
    clock.after(fault.forMs, () => void node.regainPower());
  } else {
    const spoiled = cluster.prometheus.faults;
    clock.after(
      fault.forMs,
      fault.kind === "corrupt samples" ? during(spoiled, "tamper", fault.corrupt) : during(spoiled, "onRequest", () => fault.how),
    );
  }
}

/** Sets a fault. The returned function removes it, unless another fault has replaced it. */
function during<F extends "tamper" | "onRequest">(faults: PrometheusFaults, name: F, fault: PrometheusFaults[F]): () => void {
  faults[name] = fault;
  return () => {
    if (faults[name] === fault) faults[name] = undefined;
  };
}

export interface RandomFaultsOptions {
  /** Milliseconds over which the faults are spread. */
  readonly withinMs: number;
  readonly count: number;
  /** Names of the nodes that may lose power. */
  readonly nodes: readonly string[];
}

const outages: readonly RequestFault[] = [
  { kind: "refuse" },
  { kind: "reset" },
  { kind: "status", status: 503 },
  { kind: "slow", ms: 20_000 },
  { kind: "html" },
];

const corruptions: readonly (() => Tamper)[] = [
  () => corruptSamples.value(Number.NaN),
  () => corruptSamples.value(Number.POSITIVE_INFINITY),
  () => corruptSamples.missing(),
  () => corruptSamples.stale(600_000),
  () => corruptSamples.twice((truth) => truth * 2),
];

/** Random faults; the same seed of `random` gives the same faults. */
export function randomFaults(random: () => number, { withinMs, count, nodes }: RandomFaultsOptions): readonly Fault[] {
  const any = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  return Array.from({ length: count }, (): Fault => {
    const span = { atMs: Math.floor(random() * withinMs), forMs: 1_000 + Math.floor((random() * withinMs) / 4) };
    const kind = any(["power cut", "metrics outage", "corrupt samples", "API server restart"] as const);
    if (kind === "power cut") return { ...span, kind, node: any(nodes) ?? "node-1" };
    if (kind === "metrics outage") return { ...span, kind, how: any(outages) ?? { kind: "refuse" } };
    if (kind === "corrupt samples") return { ...span, kind, corrupt: (any(corruptions) ?? corruptSamples.missing)() };
    return { ...span, kind: "API server restart", forMs: Math.min(span.forMs, 60_000) };
  });
}

// Crashes a client at its nth write: before the server receives it, or after the server acted and before the client gets the
// response. `onCrash` tells the caller to stop the client; all later requests fail.

export interface CrashOptions {
  /** 1 for the first write (any method but GET). */
  readonly atWrite: number;
  /** Whether the server still executes that write. */
  readonly point: "before" | "after";
  readonly onCrash?: () => void;
}

export interface CrashingTransport extends Transport {
  readonly crashed: boolean;
  /** The number of writes so far. */
  readonly writes: number;
}

export function crashAt(transport: Transport, { atWrite, point, onCrash }: CrashOptions): CrashingTransport {
  let writes = 0;
  let crashed = false;
  const dead = () => new TransportError("the client has crashed (injected fault)", { outcome: "unknown" });
  return {
    get crashed() {
      return crashed;
    },
    get writes() {
      return writes;
    },
    request: async (request) => {
      if (crashed) throw dead();
      if (request.method !== "GET") writes += 1;
      if (request.method === "GET" || writes < atWrite) return transport.request(request);
      crashed = true;
      if (point === "after") await transport.request(request);
      onCrash?.();
      throw dead();
    },
    close: async () => transport.close?.(),
  };
}
