// What is true of every verdict in every world. A law answers with what is wrong, or with nothing; so the same laws serve a few
// thousand worlds in the test run and a million at night.
import { type Bytes, bytes } from "../model/bytes.ts";
import type { ObservedApp, ObservedContainer, ObservedPod, Sample } from "../model/observed-app.ts";
import type { Cap, Decision, Memory, Verdict } from "../model/plan.ts";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import { crosses, trendOf, willRunOut } from "./facts.ts";
import { verdictOn, verdictsOn } from "./verdict.ts";

interface Found {
  readonly seen: ObservedApp;
  readonly pod: ObservedPod;
  readonly container: ObservedContainer;
  readonly decision: Decision;
  readonly caps: readonly Cap[];
}
type Raised = Found & { readonly decision: Extract<Decision, { kind: "raise" }> };
type Law = (found: Found) => string | undefined;

const hour = 3_600_000;

/** Undefined where all laws hold. */
export function brokenLaw(seen: ObservedApp): string | undefined {
  const verdicts = verdictsOn(seen);
  for (const { pod, container } of containersOf(seen)) {
    const { decision, inputs } = verdictOn(seen, pod, container);
    const found = { seen, pod, container, decision, caps: inputs.caps };
    for (const [name, law] of Object.entries(laws)) {
      const wrong = law(found);
      if (wrong !== undefined) return `${name}: ${pod.name}/${container.name} ${wrong} (${JSON.stringify(decision)})`;
    }
  }
  return overdrawn(seen, verdicts);
}

const laws: Readonly<Record<string, Law>> = {
  "every decision has a listed reason and a sentence": ({ decision: { kind, reason, detail } }) =>
    reason in (kind === "raise" ? raiseReasons : holdReasons) && detail !== "" ? undefined : "has none",

  "a grant takes nothing away, and is no more than was wanted": ifRaised(({ decision: { from, wanted, granted } }) => {
    const within = (field: keyof Memory) =>
      (from[field] ?? 0) <= (granted[field] ?? 0) && (granted[field] ?? 0) <= (wanted[field] ?? 0);
    return within("limit") && within("request") && granted.limit > from.limit ? undefined : "does";
  }),

  "no request is above its limit": ifRaised(({ decision: { from, granted } }) =>
    (granted.request ?? 0) <= granted.limit || (from.request ?? 0) > from.limit ? undefined : "has it",
  ),

  "the QoS class stays": ifRaised(({ pod, decision: { granted } }) =>
    pod.qos !== "Guaranteed" || granted.request === granted.limit ? undefined : "changes it",
  ),

  "D5: a grant is within every cap": ifRaised(({ caps, decision: { from, granted } }) => {
    const above = caps.find(({ of, most }) => (granted[of] ?? 0) > Math.max(most, from[of] ?? 0));
    return above && `is above ${above.name}`;
  }),

  "M2: without usable samples only a kill, or what was learned, raises": (found) => {
    const blind: readonly (readonly Sample[])[] = [
      [],
      spoilt(found.container, Number.NaN),
      spoilt(found.container, -1),
      spoilt(found.container, 2 * hour),
    ];
    return blind.map((samples) => again(found, { samples })).some(isMeasured) ? "raises" : undefined;
  },

  "M1: without metrics only a kill, or what was learned, raises": (found) => {
    const seen = { ...found.seen, metrics: { ...found.seen.metrics, available: false } };
    return isMeasured(verdictOn(seen, found.pod, found.container).decision) ? "raises" : undefined;
  },

  "M5: an hour more or less on the wall clock raises nothing": (found) => {
    const seen = { ...found.seen, raisedAgoMs: witnessOf(found.seen) };
    const at = (nowMs: number) => verdictOn({ ...seen, nowMs }, found.pod, found.container).decision;
    if (at(seen.nowMs).kind === "raise") return undefined;
    return [hour, -hour, 24 * hour].some((step) => at(seen.nowMs + step).kind === "raise") ? "does" : undefined;
  },

  "more usage never makes less of a raise, unless it may be a jump": ifRaised((found) => {
    const samples = hotter(found.container.samples);
    const more = again(found, { samples });
    if (more.kind === "raise" && more.granted.limit >= found.decision.granted.limit) return undefined;
    const jumps = trendOf(samples, found.decision.from.limit)?.steady === false;
    // A jump is no trend: it is not extrapolated, and it does not end a cooldown.
    const waits = more.reason === "BelowThreshold" || more.reason === "CoolingDown";
    return jumps && waits ? undefined : `does: ${more.reason}`;
  }),

  "one need raises once: what was granted is not asked for again": ifRaised((found) => {
    const next = afterwards(found);
    const { decision } = verdictOn(next.seen, next.pod, next.container);
    return decision.kind === "hold" || stillNeeds(next, decision.reason) ? undefined : `asks again: ${decision.reason}`;
  }),

  "whoever is not ours is left alone": ({ seen, pod, container }) => {
    const others = [
      verdictOn({ ...seen, policies: [] }, pod, container),
      verdictOn({ ...seen, policies: [...seen.policies, ...seen.policies] }, pod, container),
      verdictOn({ ...seen, policies: seen.policies.map((policy) => ({ ...policy, paused: true })) }, pod, container),
      verdictOn(seen, { ...pod, monitored: false }, container),
      verdictOn(seen, { ...pod, deleting: true }, container),
    ];
    return others.some(({ decision }) => decision.kind === "raise") ? "is raised" : undefined;
  },
};

function ifRaised(law: (found: Raised) => string | undefined): Law {
  return ({ decision, ...found }) => (decision.kind === "raise" ? law({ ...found, decision }) : undefined);
}

const isMeasured = (decision: Decision) =>
  decision.kind === "raise" && (decision.reason === "ThresholdCrossed" || decision.reason === "WillRunOut");

function again(found: Found, different: Partial<ObservedContainer>): Decision {
  return verdictOn(found.seen, found.pod, { ...found.container, ...different }).decision;
}

const spoilt = ({ samples }: ObservedContainer, ageMs: number) => samples.map((sample) => ({ ...sample, ageMs }));

/** Only the newest that counts: a larger one before it would flatten the trend. */
function hotter(samples: readonly Sample[]): readonly Sample[] {
  const newest = samples.findLast(({ ageMs }) => ageMs >= 0 && Number.isFinite(ageMs));
  return samples.map((sample) => (sample === newest ? { ...sample, bytes: bytes(Math.ceil(sample.bytes * 1.1) + 1) } : sample));
}

/** What our own clock would say, had we made every raise of the record ourselves. */
function witnessOf({ record, nowMs }: ObservedApp): ReadonlyMap<string, number> {
  const entries = [...record.actions, ...record.intents].toSorted((a, b) => a.atMs - b.atMs);
  return new Map(entries.map(({ pod, atMs }) => [pod.uid, nowMs - atMs]));
}

/** The world after the raise: its room is used, its kill is counted. Nothing else has changed, and no cooldown is on. */
function afterwards({ seen, pod, container, decision: { from, granted } }: Raised) {
  const more = { limits: granted.limit - from.limit, requests: (granted.request ?? 0) - (from.request ?? 0) };
  const quotas = seen.limits.quotas.map((quota) => ({ ...quota, used: bytes(quota.used + more[quota.of]) }));
  const node = pod.node && { ...pod.node, requested: bytes(pod.node.requested + more.requests) };
  const raised = { ...container, ...granted, appliedLimit: granted.limit, appliedRequest: granted.request };
  const kills = [{ uid: pod.uid, container: container.name, restart: container.oomKill?.restart ?? 0 }];
  const containers = pod.containers.map((each) => (each === container ? raised : each));
  const next = { ...pod, containers, node };
  const pods = seen.pods.map((each) => (each === pod ? next : each));
  const record = { ...seen.record, kills };
  return {
    seen: { ...seen, pods, record, limits: { ...seen.limits, quotas } },
    pod: next,
    container: raised,
    limit: granted.limit,
  };
}

function stillNeeds(
  { seen, container, limit }: { seen: ObservedApp; container: ObservedContainer; limit: Bytes },
  reason: string,
): boolean {
  const [policy] = seen.policies;
  const newest = container.samples.findLast(({ ageMs }) => ageMs >= 0 && Number.isFinite(ageMs));
  if (policy === undefined || newest === undefined) return false;
  const trend = trendOf(container.samples, limit);
  const now = policy.lookaheadMs > 0 && trend?.steady ? trend.predicted : 0;
  if (reason === "ThresholdCrossed")
    return crosses(bytes(Math.max(newest.bytes, Math.floor(now))), limit, policy.thresholdPercent);
  return reason === "WillRunOut" && willRunOut(trend, limit, policy.lookaheadMs);
}

/** All raises of one pass together fit the quota: no two of them were granted the same room. */
function overdrawn(seen: ObservedApp, verdicts: readonly Verdict[]): string | undefined {
  const over = seen.limits.quotas.find(({ of, hard, used }) => {
    const field = of === "limits" ? "limit" : "request";
    const more = verdicts.map(({ decision }) =>
      decision.kind === "raise" ? (decision.granted[field] ?? 0) - (decision.from[field] ?? 0) : 0,
    );
    return more.reduce((sum, each) => sum + each, 0) > Math.max(0, hard - used);
  });
  return over && `D5: the raises of one pass together are above ResourceQuota/${over.name}`;
}

function containersOf({ pods }: ObservedApp): readonly { readonly pod: ObservedPod; readonly container: ObservedContainer }[] {
  return pods.flatMap((pod) => pod.containers.map((container) => ({ pod, container })));
}
