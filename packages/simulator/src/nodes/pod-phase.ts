// In which phase a pod is, as far as its containers tell. What the API server hears may lag behind: a pod is not called
// Succeeded or Failed before everything of it is gone (pod-status.ts).
import type { PodStatus } from "@memhog/runtime";
import type { PodRun } from "./pod-run.ts";

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
