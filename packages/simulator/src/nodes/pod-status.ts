// The status of a pod, computed from what the node knows, and the patch that brings the API server up to date.
import type { Pod, Stored } from "@memhog/runtime";
import type { ContainerState, ContainerStateTerminated, ContainerStatus, PodCondition, PodStatus } from "@memhog/runtime/kinds";
import { equals, formatTime, setCondition } from "@memhog/runtime/objects";
import { totalRequirements } from "./amounts.ts";
import type { ContainerRun } from "./container-run.ts";
import { type Ended, type Instant, instantAt } from "./life.ts";
import type { PodRun } from "./pod-run.ts";
import { canonicalImage, imageId, type PodTools } from "./pod-tools.ts";
import type { ResizeState } from "./resize.ts";

export interface StatusTools extends Pick<PodTools, "environment"> {
  /** Addresses of the node. */
  readonly hostIp: string;
}

export function statusOf(run: PodRun, { environment, hostIp }: StatusTools): PodStatus {
  const { pod } = run;
  if (run.isDeleted && !run.isOver) return untouched(pod);
  if (run.isRejected) return { ...observedIn(pod), phase: "Failed", ...run.failure, startTime: formatTime(run.startTime.wall) };
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
  const known = run.containers.filter(({ role }) => role !== "init");
  const allocated = totalRequirements(known.map((container) => container.allocated));
  const { limits } = totalRequirements(known.map(({ actual, allocated }) => actual ?? allocated));
  const resources = { ...(limits && { limits }), ...(allocated.requests && { requests: allocated.requests }) };
  return {
    ...observedIn(pod),
    phase: shownPhase(run),
    ...run.failure,
    conditions: conditionsOf(run, instantAt(environment.clock, run.now)),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...addressOf(run, hostIp),
    startTime: formatTime(run.startTime.wall),
    ...(run.init.length > 0 && { initContainerStatuses: run.init.map((container) => statusOfContainer(container, run)) }),
    containerStatuses: run.main.map((container) => statusOfContainer(container, run)).sort(byName),
    ...(allocated.requests && { allocatedResources: allocated.requests }),
    ...(Object.keys(resources).length > 0 && { resources }),
  };
}

/** While a pod terminates, the kubelet acknowledges the deletion once and then reports nothing until the end. */
function untouched(pod: Stored<Pod>): PodStatus {
  const observed = observedIn(pod);
  const { status = {} } = pod;
  if (status.conditions === undefined) return { ...status, ...observed };
  return { ...status, ...observed, conditions: status.conditions.map((condition) => ({ ...condition, ...observed })) };
}

function observedIn({ metadata }: Stored<Pod>): Pick<PodStatus, "observedGeneration"> {
  return metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
}

/** The final status is reported only after the cleanup. */
function shownPhase(run: PodRun): Phase {
  const phase = phaseOf(run);
  if (run.isOver || (phase !== "Succeeded" && phase !== "Failed")) return phase;
  return run.pod.status?.phase ?? "Pending";
}

/** The kubelet reports the address with the first container. With hostNetwork it is the address of the host. */
function addressOf({ sandbox, containers, pod }: PodRun, hostIp: string): Pick<PodStatus, "podIP" | "podIPs"> {
  const isKnown = containers.some(
    ({ life, ended, state }) => life !== undefined || ended.length > 0 || state.kind === "no image",
  );
  if (sandbox.kind === "none" || !isKnown) return {};
  const ip = pod.spec.hostNetwork ? hostIp : sandbox.ip;
  return { podIP: ip, podIPs: [{ ip }] };
}

// The phase of a pod. A pod is not reported as Succeeded or Failed before it is cleaned up.

export type Phase = NonNullable<PodStatus["phase"]>;

export function phaseOf(run: PodRun): Phase {
  if (run.failure !== undefined) return "Failed";
  if (run.init.some(({ role, isOver, exitCode }) => role === "init" && isOver && exitCode !== 0)) return "Failed";
  const ran = run.main.filter(({ life, ended }) => life !== undefined || ended.length > 0);
  if (!run.isInitialized || ran.length < run.main.length) return run.isEnding ? "Failed" : "Pending";
  if (run.main.some(({ life }) => life !== undefined)) return "Running";
  const succeeded = run.main.every(({ exitCode }) => exitCode === 0);
  const goesOn = !run.isEnding && run.main.some(({ isOver }) => !isOver);
  if (goesOn || run.containers.some(({ life }) => life !== undefined)) return "Running";
  return succeeded ? "Succeeded" : "Failed";
}

// Pod conditions, in the order and with the messages of the kubelet.

/** Conditions that the kubelet removes. It keeps the others of this list, and leaves those of other controllers alone. */
export const passing = ["PodResizePending", "PodResizeInProgress"] as const;

type Stated = Omit<PodCondition, "lastTransitionTime">;

/** All conditions of the kubelet, with their transition times. */
export function conditionsOf(run: PodRun, now: Instant): readonly PodCondition[] {
  const { metadata, status } = run.pod;
  const { generation } = metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const state = (stated: Stated, since: Instant = now): PodCondition[] => {
    const all = setCondition<PodCondition>(status?.conditions, { lastProbeTime: null, ...observed, ...stated }, since.wall);
    return all.filter(({ type }) => type === stated.type);
  };
  const phase = phaseOf(run);
  return [
    ...resizing("PodResizePending", run.resize.pending, state),
    ...resizing("PodResizeInProgress", run.resize.inProgress, state),
    ...state({ type: "PodReadyToStartContainers", ...sandboxed(run) }),
    ...state({ type: "Initialized", ...initialized(run, phase) }),
    ...state({ type: "Ready", ...gated(run, ready(run, phase)) }),
    ...state({ type: "ContainersReady", ...ready(run, phase) }),
    ...state({ type: "PodScheduled", status: "True" }),
  ];
}

function resizing(
  type: (typeof passing)[number],
  resize: ResizeState | undefined,
  state: (stated: Stated, since?: Instant) => PodCondition[],
): readonly PodCondition[] {
  if (resize === undefined) return [];
  const { since, probed, generation, reason, message } = resize;
  const words = { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  const lastProbeTime = formatTime(probed.wall);
  // Unlike the others, these have an observedGeneration, and a new generation resets their times.
  const [condition] = state({ type, status: "True", ...words, observedGeneration: generation, lastProbeTime }, since);
  return condition === undefined ? [] : [{ ...condition, lastTransitionTime: formatTime(since.wall) }];
}

type Verdict = Pick<Stated, "status" | "reason" | "message">;

function sandboxed({ sandbox }: PodRun): Verdict {
  if (sandbox.kind === "ready") return { status: "True" };
  const message = sandbox.kind === "none" ? "no pod sandbox exists" : "pod sandbox is not ready";
  return { status: "False", reason: "PodSandboxNotReady", message };
}

function initialized(run: PodRun, phase: Phase): Verdict {
  if (phase === "Succeeded") return { status: "True", reason: "PodCompleted" };
  const incomplete = run.init.filter((container) => !container.isDone(run.now)).map(({ name }) => name);
  if (run.isInitialized || incomplete.length === 0) return { status: "True" };
  const message = `containers with incomplete status: [${incomplete.join(" ")}]`;
  return { status: "False", reason: "ContainersNotInitialized", message };
}

function ready(run: PodRun, phase: Phase): Verdict {
  if (phase === "Succeeded") return { status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { status: "False", reason: "PodFailed" };
  const counted = run.containers.filter(({ role }) => role !== "init");
  const unready = counted.filter((container) => !container.isReady(run.now)).map(({ name }) => name);
  if (unready.length === 0) return { status: "True" };
  return { status: "False", reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
}

/** Readiness gates, which other controllers set. */
function gated({ pod }: PodRun, verdict: Verdict): Verdict {
  if (verdict.status !== "True") return verdict;
  const closed = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = pod.status?.conditions?.find(({ type }) => type === conditionType);
    const name = JSON.stringify(conditionType);
    if (gate === undefined) return [`corresponding condition of pod readiness gate ${name} does not exist.`];
    return gate.status === "True" ? [] : [`the status of pod readiness gate ${name} is not "True", but ${gate.status}`];
  });
  if (closed.length === 0) return verdict;
  const message = closed.length === 1 ? (closed[0] ?? "") : `[${closed.join(", ")}]`;
  return { status: "False", reason: "ReadinessGatesNotReady", message };
}

// The status of one container, with the fields that a kubelet 1.37 writes.

/** The only container runtime of hollow nodes. */
const scheme = "containerd://";

function statusOfContainer(container: ContainerRun, run: PodRun): ContainerStatus {
  const { name, spec, life, ended, restartCount, allocated, actual } = container;
  const containerId = life?.containerId ?? ended[0]?.containerId;
  const wasCreated = containerId !== undefined;
  const { state, lastState } = statesOf(container, run);
  return {
    name,
    state,
    lastState,
    ready: container.isReady(run.now),
    restartCount,
    image: wasCreated ? canonicalImage(spec.image ?? "") : (spec.image ?? ""),
    imageID: wasCreated ? imageId(spec.image ?? "") : "",
    ...(wasCreated && { containerID: `${scheme}${containerId}` }),
    started: life?.isStarted(run.now) ?? false,
    ...(wasCreated && hasSome(allocated.requests) && { allocatedResources: allocated.requests }),
    ...(wasCreated && { resources: actual ?? {} }),
    ...(spec.volumeMounts && { volumeMounts: spec.volumeMounts.map(mountOf) }),
  };
}

function statesOf(container: ContainerRun, run: PodRun): { readonly state: ContainerState; readonly lastState: ContainerState } {
  const { state, ended } = container;
  const [last, before] = ended;
  if (state.kind === "running")
    return { state: { running: { startedAt: formatTime(state.life.startedAt.wall) } }, lastState: terminated(last) };
  if (state.kind === "no image") return { state: { waiting: state.problem }, lastState: terminated(last) };
  if (state.kind === "waiting" || last === undefined) {
    const reason = run.init.length > 0 ? "PodInitializing" : "ContainerCreating";
    return { state: { waiting: { reason } }, lastState: terminated(last) };
  }
  if (state.saysBackOff) return { state: { waiting: crashLoop(container, run) }, lastState: terminated(last) };
  return { state: terminated(last), lastState: terminated(before) };
}

function crashLoop({ name, backOff }: ContainerRun, { pod }: PodRun): { readonly reason: string; readonly message: string } {
  const { name: podName, namespace, uid } = pod.metadata;
  const message = `back-off ${summaries(backOff.delayMs)} restarting failed container=${name} pod=${podName}_${namespace}(${uid})`;
  return { reason: "CrashLoopBackOff", message };
}

/** "10s", "2m40s", "5m0s", as Go prints it. */
function summaries(ms: number): string {
  const seconds = ms / 1_000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function terminated(ended: Ended | undefined): { readonly terminated?: ContainerStateTerminated } {
  if (ended === undefined) return {};
  const { containerId, exitCode, reason, startedAt, finishedAt } = ended;
  return {
    terminated: {
      exitCode,
      reason,
      startedAt: formatTime(startedAt.wall),
      finishedAt: formatTime(finishedAt.wall),
      containerID: `${scheme}${containerId}`,
    },
  };
}

function mountOf({ name, mountPath, readOnly }: NonNullable<ContainerRun["spec"]["volumeMounts"]>[number]) {
  return { name, mountPath, ...(readOnly && { readOnly, recursiveReadOnly: "Disabled" }) };
}

function hasSome(list: object | undefined): list is object {
  return list !== undefined && Object.keys(list).length > 0;
}

// A strategic merge patch with the changed fields only. It leaves the conditions of other controllers alone and cannot fail with
// a conflict.

/** Undefined if nothing has changed. */
export function statusPatch(before: PodStatus, after: PodStatus): object | undefined {
  const { conditions: had = [], ...rest } = before;
  const { conditions = [], ...wanted } = after;
  const fields = merging(rest, wanted);
  const entries = [...conditions.flatMap((condition) => entryFor(had, condition)), ...deletions(had, conditions)];
  if (fields === undefined && entries.length === 0) return undefined;
  const order = conditions.map(({ type }) => ({ type }));
  return { ...fields, ...(entries.length > 0 && { "$setElementOrder/conditions": order, conditions: entries }) };
}

function entryFor(had: readonly PodCondition[], condition: PodCondition): readonly object[] {
  const before = had.find(({ type }) => type === condition.type);
  if (before === undefined) return [condition];
  const changes = merging(withoutNulls(before), withoutNulls(condition), { removing: true });
  return changes === undefined ? [] : [{ type: condition.type, ...changes }];
}

function deletions(had: readonly PodCondition[], conditions: readonly PodCondition[]): readonly object[] {
  const has = (all: readonly PodCondition[], type: string) => all.some((condition) => condition.type === type);
  const gone = passing.filter((type) => has(had, type) && !has(conditions, type));
  return gone.map((type) => ({ $patch: "delete", type }));
}

/** The merge patch from one value to the other; undefined if they are equal. Lists are replaced. */
function merging(before: object, after: object, { removing = false } = {}): object | undefined {
  const old = before as Readonly<Record<string, unknown>>;
  const changed = Object.entries(after).flatMap(([name, value]) => {
    const was = old[name];
    if (equals(was, value)) return [];
    const within = isRecord(was) && isRecord(value) ? merging(was, value, { removing: true }) : value;
    return within === undefined ? [] : [[name, within] as const];
  });
  const removed = removing ? Object.keys(old).filter((name) => !(name in after)) : [];
  if (changed.length === 0 && removed.length === 0) return undefined;
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)]);
}

function withoutNulls(condition: object): object {
  return Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== null && value !== undefined));
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
