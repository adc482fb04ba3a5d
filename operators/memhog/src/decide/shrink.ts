// Takes memory back that a container does not use (spec.shrink). Off by default, in place only, one step a day. It is added to the plan
// of decide(), whose raises always come first: a shrink begins only if no raise is in progress or due.
//
// What a container keeps, for memThresholdPercent 75 and marginPercent 20:
//
//   peak      the largest usage of the window, and of the samples since
//   request   peak × 1.2: the reservation covers the peak and the margin
//   limit     peak × 1.2 ÷ 75 %: the peak with its margin stays below the threshold, so a shrink never causes a raise by itself
//
//   has            peak     template       step                  because
//   1Gi/1536Mi     200Mi    256Mi/384Mi    256Mi/1536Mi          the request first; 240Mi is below the template
//   256Mi/1536Mi   200Mi    256Mi/384Mi    256Mi/384Mi           then the limit: 320Mi is below the template
//   256Mi/1536Mi   400Mi    256Mi/384Mi    256Mi/640Mi           400 × 1.2 ÷ 0.75
//   256Mi/384Mi    100Mi    256Mi/384Mi    none                  a person asked for that, unless belowTemplate is true: 120Mi/384Mi
//   1Gi Guaranteed 200Mi    384Mi          384Mi/384Mi           both at once, to stay Guaranteed
//   1Gi/1536Mi     900Mi    256Mi/384Mi    none                  1080Mi/1440Mi is less than 10 % below what it has
//
// A limit reserves nothing and is what a jump of usage meets first, so it never goes below the template. A request that was lowered goes
// back as soon as usage is above it and the node has room.
//
// Never on partial data (M4): the window must be covered by samples, and neither query may have warnings. Never below what the samples
// show now, with the margin (G4). Never again for a container that needed more after it was lowered: the window had not shown it. That is stored for the app, and deleting the AppMemory forgets it.
//
// Like a raise, a shrink is stored before anything is changed, and the command follows from the record and the cluster alone (C1, L1).
import { type Bytes, bytes, larger, MiB, quantityText, readable, smaller } from "../model/bytes.ts";
import {
  containerOf,
  live,
  type ObservedApp,
  type ObservedContainer,
  type ObservedPod,
  type Policy,
  podOf,
  resizesInPlace,
  type Sample,
} from "../model/observed-app.ts";
import type { AppRecord, Memory, Plan, Shrink, ShrinkDecision, ShrinkPlan, ShrinkVerdict } from "../model/plan.ts";
import type { ShrinkHoldReason } from "../model/reasons.ts";
import { stopOn } from "./facts.ts";
import { policyInCharge, since, takenUpWithinMs } from "./progress.ts";

const dayMs = 86_400_000;
/** A smaller decrease is not worth a write. */
const leastShare = 0.1;
/** Share of the window that must be covered by samples: an hour of a day may be missing. */
const leastCoverage = 0.95;
const mostShrinks = 100;

/** The plan with at most one shrink of the app in progress. */
export function withShrinks(seen: ObservedApp, plan: Plan): Plan {
  const policy = policyInCharge(seen);
  if (policy === undefined || (policy.shrink === undefined && plan.record.shrinks.length === 0)) return plan;
  const settled = settleShrinks(seen, plan.record, policy);
  const verdicts = policy.shrink === undefined ? [] : shrinkVerdicts({ ...seen, record: settled }, policy);
  const record = begin(seen, settled, plan, verdicts, policy);
  const command = commandOf(seen, record);
  return { ...plan, record, shrinks: { verdicts, ...(command && { command }) } };
}

// What became of earlier shrinks.

function settleShrinks(seen: ObservedApp, record: AppRecord, policy: Policy): AppRecord {
  const now = { ...seen, record };
  const shrinks = record.shrinks.flatMap((shrink) => settled(now, shrink, policy)).filter(isFirstUndone);
  const isSame = shrinks.length === record.shrinks.length && shrinks.every((shrink, at) => shrink === record.shrinks[at]);
  return isSame ? record : { ...record, shrinks };
}

/** One is enough per container: the others would only fill the list. */
function isFirstUndone({ state, container }: Shrink, at: number, all: readonly Shrink[]): boolean {
  return state !== "Undone" || all.findIndex((each) => each.state === "Undone" && each.container === container) === at;
}

function settled(seen: ObservedApp, shrink: Shrink, policy: Policy): readonly Shrink[] {
  if (shrink.state === "Undone") return [shrink];
  const pod = podOf(seen, shrink.pod.uid);
  const container = pod && containerOf(pod, shrink.container);
  if (pod === undefined || container === undefined || !live(pod)) return [];
  const to = (state: Shrink["state"]): readonly Shrink[] => [state === shrink.state ? shrink : { ...shrink, state }];
  if (shrink.state === "Pending" && !isAsked(container, shrink.to)) {
    if (!stillFits(seen, pod, container, { policy, shrink })) return []; // it never began
    return since(seen, shrink.atMs) >= takenUpWithinMs ? to("Refused") : [shrink];
  }
  if (wasRaised(seen.record, shrink) && shrink.to.limit < shrink.from.limit) return to("Undone");
  if (shrink.state === "Pending") return to(pendingState(pod, container, shrink));
  const isBack = (container.limit ?? 0) >= shrink.from.limit && (container.request ?? 0) >= (shrink.from.request ?? 0);
  if (shrink.state === "Reverting") return to(isBack ? "Undone" : "Reverting");
  return shrink.state === "Applied" && !isBack && isOverRequest(seen, pod, container, shrink) ? to("Reverting") : [shrink];
}

/** Usage is above the lowered request, and the node has room for the old one: a deferred request would block later raises. */
function isOverRequest(
  { metrics }: ObservedApp,
  { node }: ObservedPod,
  container: ObservedContainer,
  { from, to }: Shrink,
): boolean {
  const newest = container.samples.at(-1);
  const { request } = container;
  if (newest === undefined || newest.ageMs > metrics.freshForMs || !metrics.available) return false;
  if (request === undefined || from.request === undefined || request > (to.request ?? 0) || newest.bytes <= request) return false;
  return node === undefined || node.allocatable - node.requested >= from.request - request;
}

function pendingState(
  pod: ObservedPod,
  { appliedLimit, appliedRequest, ...asked }: ObservedContainer,
  { to }: Shrink,
): Shrink["state"] {
  if (pod.resize.state === "error" || pod.resize.state === "infeasible") return "Reverting";
  const has = { limit: appliedLimit ?? asked.limit, request: appliedRequest ?? asked.request };
  return isAsked(has, to) ? "Applied" : "Pending";
}

function isAsked({ limit, request }: Pick<ObservedContainer, "limit" | "request">, to: Memory): boolean {
  return (limit ?? 0) <= to.limit && (request ?? 0) <= (to.request ?? request ?? 0);
}

/** Checked in every pass until it is sent: usage may have grown since it was decided (G4), and the AppMonitor may have been edited. */
function stillFits(
  seen: ObservedApp,
  pod: ObservedPod,
  container: ObservedContainer,
  { policy, shrink: { from, to } }: { readonly policy: Policy; readonly shrink: Shrink },
): boolean {
  if (policy.shrink === undefined || obstacleTo(seen, pod, container, policy) !== undefined) return false;
  const peak = peakOf(seen, container, policy.shrink.windowMs);
  if (typeof peak === "string") return false;
  const target = targetFor(seen, pod, { has: from, peak, container: container.name }, policy);
  return target.limit <= to.limit && (target.request ?? 0) <= (to.request ?? Number.POSITIVE_INFINITY);
}

/** Its limit was raised because it needed more. */
function wasRaised({ intents, actions }: AppRecord, { pod, container, atMs }: Shrink): boolean {
  const raises = [...intents, ...actions.filter(({ outcome }) => outcome === "Applied")];
  return raises.some(
    (raise) =>
      raise.reason !== "LearnedBefore" &&
      raise.pod.uid === pod.uid &&
      raise.atMs >= atMs &&
      raise.changes.some((change) => change.container === container && change.to.limit > change.from.limit),
  );
}

const isRaising = ({ intents }: AppRecord, { uid }: ObservedPod): boolean =>
  intents.some((intent) => intent.pod.uid === uid || intent.copyUid === uid || intent.method === "Template");

// Whether to shrink a container, and by how much.

function shrinkVerdicts(seen: ObservedApp, policy: Policy): readonly ShrinkVerdict[] {
  return seen.pods
    .filter(({ monitored }) => monitored)
    .flatMap((pod) =>
      pod.containers.flatMap((container) => {
        const decision = shrinkOf(seen, pod, container, policy);
        return decision === undefined ? [] : [{ pod: { name: pod.name, uid: pod.uid }, container: container.name, decision }];
      }),
    );
}

/** Undefined if the AppMonitor does not ask for it, or the container has no limit. */
export function shrinkOf(
  seen: ObservedApp,
  pod: ObservedPod,
  container: ObservedContainer,
  policy: Policy,
): ShrinkDecision | undefined {
  const { limit, request } = container;
  if (policy.shrink === undefined || !limit) return undefined;
  const obstacle = obstacleTo(seen, pod, container, policy) ?? tooSoon(seen, pod, container);
  if (obstacle !== undefined) return obstacle;
  const peak = peakOf(seen, container, policy.shrink.windowMs);
  if (typeof peak === "string") return hold("WindowIncomplete", peak);
  const has = { limit, request };
  const target = targetFor(seen, pod, { has, peak, container: container.name }, policy);
  const to = nextStep(seen, pod, has, target);
  const used = `at most ${readable(peak)} were used in ${policy.shrink.windowMs / 3_600_000} hours`;
  if (to === undefined) return hold("NothingToShrink", `${used}; it keeps ${quantityText(target.limit)} or more`);
  return { kind: "shrink", reason: "ShrinkDue", detail: `${used}, and it has ${quantityText(limit)}`, from: has, to };
}

const hold = (reason: ShrinkHoldReason, detail: string): ShrinkDecision => ({ kind: "hold", reason, detail });

function obstacleTo(
  seen: ObservedApp,
  pod: ObservedPod,
  container: ObservedContainer,
  policy: Policy,
): ShrinkDecision | undefined {
  if (seen.otherAutoscaler !== undefined)
    return hold("ShrinkBlocked", `${seen.otherAutoscaler.name} also manages ${seen.app.name}`);
  if (policy.strategy === "Redeploy" || !resizesInPlace(seen, pod, container) || container.restartsOnResize)
    return hold("ShrinkBlocked", "it cannot be resized in place without a restart");
  if (pod.resize.state !== "none" || isRaising(seen.record, pod)) return hold("ShrinkBlocked", "a resize is in progress");
  if (stopOn(seen, { pod, container: container.name, policy }) !== undefined)
    return hold("ShrinkBlocked", "memhog has stopped to change the container");
  const { oomKill } = container;
  if (oomKill !== undefined && since(seen, oomKill.atMs) < (policy.shrink?.windowMs ?? 0))
    return hold("ShrinkBlocked", "it was OOM-killed during the window");
  return undefined;
}

function tooSoon(seen: ObservedApp, { uid }: ObservedPod, { name }: ObservedContainer): ShrinkDecision | undefined {
  const own = seen.record.shrinks.filter((shrink) => shrink.container === name);
  if (own.some(({ state }) => state === "Undone")) return hold("ShrinkUndone", "its limit had to be raised after it was lowered");
  const last = own.find((shrink) => shrink.pod.uid === uid);
  if (last === undefined || since(seen, last.atMs) >= dayMs) return undefined;
  return hold("ShrunkToday", `the last step was ${Math.floor(since(seen, last.atMs) / 3_600_000)} hours ago; there is one a day`);
}

/** The largest usage of the whole window and of the samples since, or why it is not known. */
function peakOf({ metrics }: ObservedApp, { window, samples }: ObservedContainer, windowMs: number): Bytes | string {
  const newest = samples.at(-1);
  if (!metrics.available || metrics.problem !== undefined) return "the last answer of Prometheus was not complete";
  if (newest === undefined || newest.ageMs > metrics.freshForMs) return "there is no fresh sample";
  if (window === undefined || window.lengthMs !== windowMs) return "Prometheus has not answered for the whole window yet";
  const covered = (window.samples * spacingOf(samples)) / windowMs;
  if (!(covered >= leastCoverage)) return `samples cover ${Math.floor(covered * 100)} % of the window`;
  return samples.reduce((peak, sample) => larger(peak, sample.bytes), window.peak);
}

/** The usual time between two samples, by the last ones: kubelets measure every 10 to 15 s, and scrapes may be further apart. */
function spacingOf(samples: readonly Sample[]): number {
  const [oldest, newest] = [samples[0]?.ageMs ?? 0, samples.at(-1)?.ageMs ?? 0];
  return samples.length < 2 ? 0 : (oldest - newest) / (samples.length - 1);
}

interface Subject {
  readonly container: string;
  readonly has: Memory;
  readonly peak: Bytes;
}

/** What the container keeps: the first table above. */
function targetFor(seen: ObservedApp, pod: ObservedPod, { has, peak, container }: Subject, policy: Policy): Memory {
  const { margin = 0, belowTemplate = false } = policy.shrink ?? {};
  const floor = templateSize(seen, container, has);
  const needed = peak * (1 + margin);
  const limit = larger(wholeMiB((needed * 100) / policy.thresholdPercent), floor.limit);
  if (pod.qos === "Guaranteed") return { limit, request: limit };
  return { limit, request: has.request && larger(wholeMiB(needed), belowTemplate ? bytes(0) : (floor.request ?? bytes(0))) };
}

/** The size that a person asked for. Without a template that is what the pod has. */
function templateSize({ template }: ObservedApp, name: string, has: Memory): Memory {
  const found = template?.containers.find((container) => container.name === name);
  return found === undefined ? has : { limit: found.limit ?? has.limit, request: found.request ?? has.request };
}

const wholeMiB = (value: number): Bytes => bytes(Math.ceil(value / MiB) * MiB);

/** The request first, because lowering it cannot hurt the container; the limit on another day. Together where they must be. */
function nextStep(seen: ObservedApp, pod: ObservedPod, has: Memory, target: Memory): Memory | undefined {
  const together = pod.qos === "Guaranteed" || seen.limits.ranges.some(({ maxRatio }) => maxRatio !== undefined);
  const lower = seen.cluster.lowersLimits === true && isWorth(has.limit, target.limit);
  const request = has.request && target.request && smaller(has.request, target.request);
  if (together) return lower ? { limit: target.limit, request: request && smaller(request, target.limit) } : undefined;
  if (has.request !== undefined && request !== undefined && isWorth(has.request, request)) return { limit: has.limit, request };
  return lower ? { limit: target.limit, request: has.request && smaller(has.request, target.limit) } : undefined;
}

const isWorth = (has: Bytes, target: Bytes): boolean => has - target >= Math.max(MiB, has * leastShare);

// One shrink of an app at a time, the largest first. It is stored with the new limit among what was given: a lower limit than that
// would count as a revert by another client.

function begin(seen: ObservedApp, record: AppRecord, plan: Plan, verdicts: readonly ShrinkVerdict[], policy: Policy): AppRecord {
  const open = record.shrinks.some(({ state }) => state === "Pending" || state === "Reverting");
  const isRaised = plan.verdicts.some(({ decision }) => decision.kind === "raise");
  if (open || isRaised || policy.strategy === "Recommend") return record;
  const [first] = verdicts
    .flatMap(({ pod, container, decision }) => (decision.kind === "shrink" ? [{ pod, container, ...decision }] : []))
    .toSorted((a, b) => b.from.limit - b.to.limit - (a.from.limit - a.to.limit) || (a.pod.name < b.pod.name ? -1 : 1));
  if (first === undefined) return record;
  const { pod, container, from, to } = first;
  const others = record.shrinks.filter((shrink) => shrink.pod.uid !== pod.uid || shrink.container !== container);
  const given = record.given.map((each) =>
    each.uid === pod.uid && each.container === container ? { ...each, limit: smaller(each.limit, to.limit) } : each,
  );
  const shrink: Shrink = { pod, container, from, to, atMs: seen.nowMs, state: "Pending" };
  return { ...record, given, shrinks: [...others, shrink].slice(-mostShrinks) };
}

function commandOf(seen: ObservedApp, { shrinks }: AppRecord): ShrinkPlan["command"] {
  const shrink = shrinks.find(({ state }) => state === "Pending" || state === "Reverting");
  const pod = shrink && podOf(seen, shrink.pod.uid);
  const container = pod && containerOf(pod, shrink.container);
  if (
    shrink === undefined ||
    pod === undefined ||
    container === undefined ||
    seen.policies.some(({ strategy }) => strategy === "Recommend")
  )
    return undefined;
  if (shrink.state === "Pending" && isAsked(container, shrink.to)) return undefined; // the kubelet has not confirmed it yet
  return { shrink, resourceVersion: pod.resourceVersion };
}
