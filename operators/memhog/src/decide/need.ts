// Whether a container needs more memory, and how much: because it was OOM-killed, because new pods of the app are known to need
// more, or because of its samples. Also, whether an intent that was stored before is still a step that the AppMonitor asks for.
//
// An OOM kill needs no metrics: the status of the pod shows it, also if it happened while memhog was down. It is answered once,
// because the record counts it (G2).
import { type Bytes, bytes, larger, readable, smaller, times } from "../model/bytes.ts";
import {
  containerOf,
  hasEnded,
  type ObservedApp,
  type ObservedContainer,
  type ObservedOomKill,
  type ObservedPod,
  type ObservedTemplate,
  type Policy,
  podOf,
  resizesInPlace,
} from "../model/observed-app.ts";
import type { Change, Intent, Learned, Memory } from "../model/plan.ts";
import { capsOn, grantOf, isWorthwhile, reservationsIn } from "./caps.ts";
import { crosses, type Due, doubledLately, type Facts, type Hold, hold, isFresh, trendOf, willRunOut } from "./facts.ts";

/**
 * It takes about a second from the decision to the new cgroup limit, and the kubelet reports kills in whole seconds. A kill within
 * this time happened at the old limit; answering it would raise twice for one need.
 */
const raisingTakesMs = 3_000;

/** The last kill, unless it was counted. It is counted by the record that holds the answer to it. */
function uncountedKill(seen: ObservedApp, pod: ObservedPod, container: ObservedContainer): ObservedOomKill | undefined {
  const kill = container.oomKill;
  const counted = seen.record.kills.find((each) => each.uid === pod.uid && each.container === container.name);
  return kill && (counted === undefined || counted.restart < kill.restart) ? kill : undefined;
}

export function outOfMemory(facts: Facts): Due | Hold | undefined {
  const { seen, pod, container, policy, has } = facts;
  // Under Recommend no kill is answered, so the recommendation stays as long as the status shows the kill.
  const kill = policy.strategy === "Recommend" ? container.oomKill : uncountedKill(seen, pod, container);
  if (kill === undefined || isAnswered(facts, kill)) return undefined;
  // A raise still helps the next run of a CronJob.
  if (hasEnded(pod) && seen.app.kind !== "CronJob") return undefined;
  const killed = `OOM-killed at ${readable(has.limit)}, after ${kill.restart} restarts`;
  if (!hasEnded(pod) && !resizesInPlace(seen, pod, container) && !mayBeReplaced(facts)) {
    return hold("NotRunning", `${killed}; it can be resized when it runs again`);
  }
  return { reason: "OutOfMemory", detail: killed, wanted: oneStepUp(facts) };
}

/** After this time without another kill, a container is no longer taken to be in a loop. */
const loopMs = 3_600_000;

/** The last kill of a container that may be killed again: it is down, or was killed a short time ago, and got no more memory since. */
export function unansweredKill(facts: Facts): ObservedOomKill | undefined {
  const { seen, pod, container } = facts;
  const kill = container.oomKill;
  if (kill === undefined || hasEnded(pod) || isAnswered(facts, kill)) return undefined;
  return kill.stillDown || seen.nowMs - kill.atMs < loopMs ? kill : undefined;
}

/** It got more memory since: this pod, or the template that the next pods are created from. */
function isAnswered({ seen, pod, container, has }: Facts, kill: ObservedOomKill): boolean {
  const { actions, intents } = seen.record;
  const done = [...actions.filter(({ outcome }) => outcome === "Applied"), ...intents.filter((intent) => intent.limitsApplied)];
  const here = done.some(
    (raise) =>
      raise.pod.uid === pod.uid &&
      raise.changes.some((change) => change.container === container.name) &&
      raise.atMs + raisingTakesMs >= kill.atMs,
  );
  if (here || !hasEnded(pod)) return here;
  const next = seen.template?.containers.find(({ name }) => name === container.name);
  return next?.limit !== undefined && next.limit > has.limit;
}

/** Jobs and owners of unknown kinds are not edited, and strategy InPlace replaces no pods. */
function mayBeReplaced({ seen, policy, container }: Facts): boolean {
  if (container.running) return true;
  return policy.strategy !== "InPlace" && seen.app.kind !== "Job" && seen.app.kind !== "Other";
}

// A new pod from the old template starts small again. It gets what the app is known to need in place, as soon as it runs and without a
// cooldown. Pods that existed before are not raised: of six replicas only the one under load grows. No pod is replaced for this.

export function learnedBefore(facts: Facts): Due | undefined {
  const { seen, pod, container, has } = facts;
  const learned = learnedFor(facts);
  if (learned === undefined || !container.running || !resizesInPlace(seen, pod, container) || failedBefore(facts))
    return undefined;
  const wanted = asLearned(facts, learned);
  // It is not known that this pod needs it, so a cap is not worth reporting.
  if (!leavesRoom(facts, wanted) || !isWorthwhile(grantOf(facts, wanted), has)) return undefined;
  return {
    reason: "LearnedBefore",
    detail: `other pods of ${seen.app.name} needed ${readable(learned.limit)}`,
    wanted,
  };
}

/** It was infeasible or rejected before, and no other method is tried for this. */
function failedBefore({ seen, pod }: Facts): boolean {
  return seen.record.actions.some(
    ({ reason, outcome, pod: { uid } }) => uid === pod.uid && reason === "LearnedBefore" && outcome !== "Applied",
  );
}

// The need that samples show. Missing or stale samples never trigger a raise (M1, M2); the reason says what is missing.

export function notRunning({ pod, container }: Facts): Hold | undefined {
  if (pod.phase === "Running" && container.running) return undefined;
  return hold("NotRunning", `${container.name} is not running (pod ${pod.phase})`);
}

/** Samples from before an outage may still look fresh, but they do not show the current usage (M1). */
export function metricsUnavailable({ seen }: Facts): Hold | undefined {
  const { available, unavailableForMs, problem } = seen.metrics;
  if (available) return undefined;
  const since = unavailableForMs === undefined ? "" : ` for ${seconds(unavailableForMs)}`;
  return hold("MetricsUnavailable", `Prometheus has not answered${since}${problem === undefined ? "" : `: ${problem}`}`);
}

export function noSample({ newest, container }: Facts): Hold | undefined {
  if (newest !== undefined) return undefined;
  const bad = container.badSamples === 0 ? "" : `; ${container.badSamples} were unusable`;
  return hold("NoSample", `Prometheus has no sample of ${container.name} yet${bad}`);
}

export function sampleStale({ seen, newest }: Facts): Hold | undefined {
  const { freshForMs } = seen.metrics;
  if (newest === undefined || isFresh(newest, freshForMs)) return undefined;
  return hold(
    "SampleStale",
    `the newest sample is ${seconds(newest.ageMs)} old; samples older than ${seconds(freshForMs)} are ignored`,
  );
}

export function thresholdCrossed(facts: Facts): Due | undefined {
  const { newest, has, policy } = facts;
  const over = (used: Bytes | undefined) => used !== undefined && crosses(used, has.limit, policy.thresholdPercent);
  if (over(newest?.bytes)) return { reason: "ThresholdCrossed", detail: usageOf(facts), wanted: oneStepUp(facts) };
  const now = usedByNow(facts);
  if (newest === undefined || now === undefined || !over(now)) return undefined;
  const since = `that was ${seconds(newest.ageMs)} ago, and it grows steadily: ${readable(now)} by now`;
  return { reason: "ThresholdCrossed", detail: `${usageOf(facts)}; ${since}`, wanted: oneStepUp(facts) };
}

/** Growth may have ended since the sample, so it is extrapolated by no more than this share of the limit. */
const mostExtrapolated = 0.05;

/** Samples are up to 15 s old. Usage that grows steadily has grown since. */
function usedByNow({ newest, trend, policy, has }: Facts): Bytes | undefined {
  if (newest === undefined || trend?.steady !== true || policy.lookaheadMs <= 0) return undefined;
  const most = newest.bytes + has.limit * mostExtrapolated;
  return bytes(Math.min(Math.floor(Math.min(trend.predicted, most)), Number.MAX_SAFE_INTEGER));
}

/** Comes after the threshold: if both apply, the simpler reason is reported. */
export function runningOut(facts: Facts): Due | undefined {
  if (!runsOutSoon(facts)) return undefined;
  return { reason: "WillRunOut", detail: `${usageOf(facts)}; ${trendText(facts)}`, wanted: oneStepUp(facts) };
}

/** After a raise that doubled the limit there is more time, and the samples may still contain what the raise was for. */
function runsOutSoon({ seen, pod, container, trend, has, policy }: Facts): boolean {
  return willRunOut(trend, has.limit, policy.lookaheadMs, doubledLately(seen, pod, container));
}

export function belowThreshold(facts: Facts): Hold {
  const { trend, policy } = facts;
  const text = trendText(facts);
  const soon = trend !== undefined && trend.runsOutInMs <= policy.lookaheadMs;
  const doubt = soon ? ", unless the growth ends: the next sample will tell" : "";
  return hold("BelowThreshold", text === "" ? usageOf(facts) : `${usageOf(facts)}; ${text}${doubt}`);
}

function usageOf({ newest, has, policy }: Facts): string {
  const used = newest?.bytes ?? 0;
  const percent = ((used / has.limit) * 100).toFixed(1);
  return `${readable(used)} of ${readable(has.limit)} are used: ${percent} %, the threshold is ${policy.thresholdPercent} %`;
}

/** Later than this, growth is noise. */
const worthTellingMs = 3_600_000;

function trendText({ trend }: Facts): string {
  return trend === undefined || trend.runsOutInMs > worthTellingMs
    ? ""
    : `it grows by ${readable(trend.growth)}/s and reaches the limit in ${seconds(trend.runsOutInMs)}`;
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;

// How much an AppMonitor asks for: one step at a time from the present size. If that is not enough, the next step follows when it is
// due, and every step is subject to the objections of verdict.ts.

/** 4 PiB. Larger numbers of bytes are not exact. */
const mostOfAll = bytes(2 ** 52);

/**
 * memMultiplier times request and limit: 256Mi/384Mi × 2 = 512Mi/768Mi; × 1.5 = 384Mi/576Mi. A new pod gets at least what the app is
 * known to need; otherwise one need would raise it twice.
 *
 * A sample is answered once, so a small step that lasts for less than the time until the next sample is taken several times at once:
 * 384Mi × 1.2 = 461Mi is used up in 6 s by 10 MiB/s at 400Mi, and becomes 664Mi. Together, they at most double the limit.
 */
export function oneStepUp(facts: Facts): Memory {
  const { has, policy, container } = facts;
  let step = stepOf(has, policy);
  for (;;) {
    const next = stepOf(step, policy);
    if (next.limit > 2 * has.limit || trendOf(container.samples, step.limit)?.canWait !== false) break;
    step = next;
  }
  return keeping(facts, atLeast(step, learnedFor(facts)));
}

const stepOf = ({ limit, request }: Memory, policy: Policy): Memory => ({
  limit: stepFrom(limit, policy),
  request: request && stepFrom(request, policy),
});

/** What the app is known to need. */
function asLearned(facts: Facts, learned: Learned): Memory {
  return keeping(facts, atLeast(facts.has, learned));
}

/** What this pod should have started with. Undefined for pods that were created before it was learned. */
function learnedFor({ seen, pod, container, has }: Facts): Learned | undefined {
  // Its own window has shown that it needs less.
  if (seen.record.shrinks.some((shrink) => shrink.pod.uid === pod.uid && shrink.container === container.name)) return undefined;
  const learned = knownFor(seen, pod, container);
  return learned !== undefined && learned.limit > has.limit && pod.createdAtMs > learned.atMs ? learned : undefined;
}

/** What is not confirmed by another raise for this long is forgotten: the program or its load may have changed. */
const fadesAfterMs = 14 * 24 * 3_600_000;

/** What the app is known to need in this revision. A new version, and a template that people edited, start without it (G3). */
function knownFor({ record, nowMs }: ObservedApp, { revision }: ObservedPod, { name }: ObservedContainer): Learned | undefined {
  return record.learned.find((each) => each.container === name && each.revision === revision && nowMs - each.atMs < fadesAfterMs);
}

/**
 * It is not known that this pod needs it, so it takes at most half of what a quota has left: the rest is for pods that need it (G3).
 * Twelve new pods must not leave nothing for a hot one.
 */
function leavesRoom({ seen, has, reserved }: Facts, wanted: Memory): boolean {
  return seen.limits.quotas.every(({ of, hard, used }) => {
    const field = of === "limits" ? "limit" : "request";
    const left = hard - used - reserved.reduce((total, each) => total + each[field], 0);
    return (wanted[field] ?? 0) - (has[field] ?? 0) <= left / 2;
  });
}

function atLeast({ limit, request }: Memory, learned: Learned | undefined): Memory {
  if (learned === undefined) return { limit, request };
  return { limit: larger(limit, learned.limit), request: request && larger(request, learned.request ?? request) };
}

/**
 * Keeps the QoS class, and the request at most as high as the limit. Next to an HPA on memory utilization the request stays as it is:
 * the HPA divides by it, and a larger one would make it remove replicas.
 */
function keeping({ seen, pod, has }: Facts, { limit, request }: Memory): Memory {
  if (request === undefined) return { limit, request };
  if (pod.qos === "Guaranteed") return { limit, request: limit };
  return { limit, request: seen.otherAutoscaler?.kind === "HPA" ? has.request : smaller(request, limit) };
}

/** An amount after one step of this policy. */
export function stepFrom(value: Bytes, { multiplier }: Pick<Policy, "multiplier">): Bytes {
  return value * multiplier < mostOfAll ? times(value, multiplier) : larger(value, mostOfAll);
}

// Whether a stored intent may still begin. Caps are checked again in every pass until its first command was accepted: a cap may have
// been lowered since, or a quota or node filled up. And anyone with write access to AppMemory.status can store an intent that was
// never decided, so it must also be a step that the AppMonitor asks for.
//
//   the container has 400Mi; AppMonitor: times 2, maxMemory 1Gi      an intent to have
//                                                                    800Mi   begins
//                                                                    1Gi     is abandoned: times 2 is 800Mi, unless 1Gi was learned
//                                                                            (of smaller multipliers, several steps up to 800Mi)
//                                                                    10Gi    is abandoned: maxMemory
//
// What the spec already has is not checked. In place, requests are checked by the API server and the kubelet.

/** What the intent would exceed, for people; undefined if it may begin. */
export function whatForbids(seen: ObservedApp, intent: Intent, policy: Policy): string | undefined {
  for (const change of intent.changes) {
    const reasons = subjectsOf(seen, intent, change).map((subject) => exceededBy(seen, policy, { ...subject, intent, change }));
    // The pods of a template are on several nodes: it may have what one of them may have.
    if (reasons.length > 0 && !reasons.includes(undefined)) return reasons[0];
  }
  return undefined;
}

interface Subject {
  readonly pod: ObservedPod;
  readonly container: ObservedContainer;
}

function subjectsOf(seen: ObservedApp, { method, pod: { uid } }: Intent, { container: name }: Change): readonly Subject[] {
  const own = podOf(seen, uid);
  const pods = method !== "Template" ? (own === undefined ? [] : [own]) : [...seen.pods, ...madeFrom(seen.template)];
  return pods.flatMap((pod) => {
    const container = containerOf(pod, name);
    return container === undefined ? [] : [{ pod, container }];
  });
}

function exceededBy(
  seen: ObservedApp,
  policy: Policy,
  { pod, container, intent, change: { to } }: Subject & { readonly intent: Intent; readonly change: Change },
): string | undefined {
  const has = container.limit;
  if (has === undefined) return `${container.name} has no memory limit`;
  if (to.limit <= has) return undefined;
  const byRedeploying = intent.method !== "InPlace";
  const caps = capsOn({ seen, pod, container, reserved: reservationsIn(seen) }, policy.maxMemory, byRedeploying);
  const tooMuch = { limit: to.limit, request: byRedeploying ? (to.request ?? 0) : 0 };
  const above = caps.find(({ of, most }) => tooMuch[of] > Math.max(most, of === "request" ? (container.request ?? 0) : 0));
  if (above !== undefined) return above.name;
  const learned = knownFor(seen, pod, container)?.limit ?? 0;
  return to.limit > Math.max(stepFrom(has, policy), 2 * has, learned) ? `memMultiplier ${policy.multiplier}` : undefined;
}

/** A pod as the template creates it, before it has a node. A CronJob may have no other. */
function madeFrom(template: ObservedTemplate | undefined): readonly ObservedPod[] {
  if (template === undefined) return [];
  const rest = { sidecar: false, appliedLimit: undefined, appliedRequest: undefined, restartsOnResize: false, running: false };
  const container = { ...rest, restarts: 0, oomKill: undefined, samples: [], badSamples: 0 };
  return [
    {
      ...{ name: "", uid: "", resourceVersion: "", createdAtMs: 0, monitored: true, phase: "Pending", ready: false },
      ...{ deleting: false, qos: "Burstable", node: undefined, resize: { state: "none" }, notResizable: undefined },
      ...{ copyOf: undefined, copyRisk: undefined, containers: template.containers.map((each) => ({ ...container, ...each })) },
    },
  ];
}
