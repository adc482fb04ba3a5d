// Most tests of verdicts are about one container: the first of the first pod.
import type { Decision, Inputs, Verdict } from "../model/plan.ts";
import type { AppSeen } from "../model/seen.ts";
import { verdictOn } from "./verdict.ts";

export function verdictOf(seen: AppSeen): Verdict {
  const pod = seen.pods[0];
  const container = pod?.containers[0];
  if (pod === undefined || container === undefined) throw new Error("this test needs a pod with a container");
  return verdictOn(seen, pod, container);
}

export const decisionOf = (seen: AppSeen): Decision => verdictOf(seen).decision;
export const reasonOf = (seen: AppSeen): string => decisionOf(seen).reason;
export const inputsFor = (seen: AppSeen): Inputs => verdictOf(seen).inputs;
