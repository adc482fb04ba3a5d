// What a pod says about itself, in the order and the words of the kubelet.
import { formatTime, type PodCondition, setCondition } from "@memhog/runtime";
import type { Instant } from "./instant.ts";
import { type Phase, phaseOf } from "./pod-phase.ts";
import type { PodRun } from "./pod-run.ts";
import type { ResizeState } from "./resize.ts";

/** Conditions that the kubelet owns and takes back. The others of this list stay for ever, and those of others are left alone. */
export const passing = ["PodResizePending", "PodResizeInProgress"] as const;

type Stated = Omit<PodCondition, "lastTransitionTime">;

/** All conditions of the kubelet, with the times they have had so far. */
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
  // Unlike the others, these speak of the generation they are about, and begin anew with it.
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

/** Others may have a say in whether a pod is ready. */
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
