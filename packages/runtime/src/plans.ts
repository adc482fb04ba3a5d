// @memhog/runtime/plans: long work in steps, with its progress in the status.
export { failed, jobDone, met, rolledOut, type StepCheck, waiting } from "./plans/checks.ts";
export type { Progress } from "./plans/executor.ts";
export { explainPlans } from "./plans/explain.ts";
export {
  type Block,
  type Operations,
  type Phase,
  type PlanBuilders,
  type PlanDefinition,
  type Planned,
  type PlanOptions,
  type PlanRun,
  plansFor,
  type Step,
  type StepOptions,
} from "./plans/plan.ts";
export { type PlansStatus, planColumns, plansStatus, type RunStatus, type StepStatus } from "./plans/status.ts";
