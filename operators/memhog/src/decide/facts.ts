// What the rules of a verdict look at. It is worked out once per container; each rule then is one question about it.
import { type Bytes, bytes } from "../model/bytes.ts";
import type { Cap, Decision, Inputs } from "../model/plan.ts";
import type { Policy } from "../model/policy.ts";
import type { HoldReason, RaiseReason } from "../model/reasons.ts";
import type { Memory } from "../model/record.ts";
import type { AppSeen, ContainerSeen, PodSeen, Sample } from "../model/seen.ts";
import { capsOn } from "./caps.ts";
import { cooldownLeft, cooldownSurelyLeft, raisesOf } from "./history.ts";
import type { Promised } from "./promised.ts";
import { newestOf } from "./samples.ts";
import { thresholdOf } from "./threshold.ts";
import { type Trend, trendOf } from "./trend.ts";

/** One container, and the world around it. */
export interface Looked {
  readonly seen: AppSeen;
  readonly pod: PodSeen;
  readonly container: ContainerSeen;
  /** What others of this app were promised and do not have yet. */
  readonly promised: readonly Promised[];
}

/** The same where it is clear who is in charge, and that there is a limit to judge by. */
export interface Facts extends Looked {
  readonly policy: Policy;
  readonly has: Memory;
  readonly newest: Sample | undefined;
  readonly trend: Trend | undefined;
  readonly cooldownLeftMs: number;
  readonly cooldownSurelyLeftMs: number;
  readonly caps: readonly Cap[];
}

/** More memory is due, unless a brake says no. */
export interface Due {
  readonly reason: RaiseReason;
  readonly detail: string;
  readonly wanted: Memory;
}

export type Hold = Extract<Decision, { kind: "hold" }>;

export function hold(reason: HoldReason, detail: string, more: Pick<Hold, "wanted" | "cap"> = {}): Hold {
  return { kind: "hold", reason, detail, ...more };
}

export function factsOf(looked: Looked, policy: Policy, has: Memory): Facts {
  const { seen, pod, container } = looked;
  return {
    ...looked,
    policy,
    has,
    newest: newestOf(container.samples),
    trend: trendOf(container.samples, has.limit),
    cooldownLeftMs: cooldownLeft(seen, pod, container, policy.cooldownMs),
    cooldownSurelyLeftMs: cooldownSurelyLeft(seen, pod, container, policy.cooldownMs),
    caps: capsOn(looked, policy.maxMemory),
  };
}

/** The numbers behind a verdict, as far as they exist: also of containers that are left alone. */
export function inputsOf(looked: Looked, facts: Facts | undefined): Inputs {
  const { seen, pod, container } = looked;
  const newest = facts?.newest ?? newestOf(container.samples);
  return {
    usage: newest?.bytes,
    sampleAgeMs: newest?.ageMs,
    limit: container.limit,
    request: container.request,
    thresholdBytes: facts && thresholdOf(facts.has.limit, facts.policy.thresholdPercent),
    growth: facts?.trend?.growth,
    runsOutInMs: facts?.trend?.runsOutInMs,
    cooldownLeftMs: facts?.cooldownLeftMs ?? 0,
    raisesLastHour: raisesOf(seen, pod, container).length,
    caps: facts?.caps ?? [],
  };
}

/** Kubernetes takes a limit of 0 for none. */
export function memoryOf(container: ContainerSeen): Memory | undefined {
  const limit: Bytes = container.limit ?? bytes(0);
  return limit === 0 ? undefined : { limit, request: container.request };
}
