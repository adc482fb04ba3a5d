// Most tests of verdicts are about one container: the first of the first pod.
import type { ObservedApp } from "../model/observed-app.ts";
import type { Decision, Inputs, Verdict } from "../model/plan.ts";
import { verdictOn } from "./verdict.ts";

export function verdictOf(seen: ObservedApp): Verdict {
  const pod = seen.pods[0];
  const container = pod?.containers[0];
  if (pod === undefined || container === undefined) throw new Error("this test needs a pod with a container");
  return verdictOn(seen, pod, container);
}

export const decisionOf = (seen: ObservedApp): Decision => verdictOf(seen).decision;
export const reasonOf = (seen: ObservedApp): string => decisionOf(seen).reason;
export const inputsFor = (seen: ObservedApp): Inputs => verdictOf(seen).inputs;
