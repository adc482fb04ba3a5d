// Eviction: a deletion that PodDisruptionBudgets must allow. An allowed eviction reduces the budget at once, so that two
// evictions cannot both use the last allowed disruption.
import type { LabelSelector } from "@memhog/runtime/kinds";
import { matches } from "@memhog/runtime/objects";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import { ChangedError } from "../storage/storage.ts";
import { nowText, type ServerCore, type Target } from "./core.ts";
import { checkPreconditions, type DeleteOptions, type Deletion, deleteObject, readOptions } from "./delete.ts";
import { badRequest, internalError, notFound, tooManyRequests } from "./status-error.ts";

const budgets = { group: "policy", plural: "poddisruptionbudgets" };
const pods = { group: "", plural: "pods" };

/** @throws StatusError: 429 if a budget does not allow it now, 500 if several budgets cover the pod */
export async function evict(core: ServerCore, target: Target, eviction: JsonObject): Promise<Deletion> {
  const { name = "", namespace = "" } = target;
  if (objectAt(eviction, "metadata").name !== name) throw badRequest("name in URL does not match name in Eviction object");
  const options = readOptions(objectAt(eviction, "deleteOptions"));
  const pod = core.storage.get(pods, { namespace, name });
  if (pod === undefined) throw notFound(pods, name);
  checkPreconditions(options, pod, target.kind);
  const budget = mayIgnoreBudgets(pod) ? undefined : budgetOf(core, pod);
  // A budget counts only ready pods, so evicting a pod that is not ready uses no disruption.
  if (budget !== undefined && (isReady(pod) || !mayEvictUnhealthy(budget))) useDisruption(core, budget, name, options);
  const noted = options.dryRun ? pod : setDisruptionTarget(core, pod);
  return deleteObject(core, target, { ...options, preconditions: preconditionsOn(noted, options) });
}

/** The eviction itself has written to the pod, so the new resourceVersion replaces the requested one. */
function preconditionsOn({ metadata }: ApiObject, { preconditions: { uid, resourceVersion } = {} }: DeleteOptions) {
  return { ...(uid && { uid }), ...(resourceVersion && { resourceVersion: metadata.resourceVersion ?? "" }) };
}

/** Returns the budget that covers a pod. @throws StatusError if there are several */
function budgetOf({ storage }: ServerCore, pod: ApiObject): ApiObject | undefined {
  const { namespace } = pod.metadata;
  const [budget, ...more] = storage.list(budgets, { namespace }).filter((each) => covers(each, pod));
  if (more.length === 0) return budget;
  throw internalErrorOf("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
}

/** Sets the DisruptionTarget condition before the deletion. */
function setDisruptionTarget(core: ServerCore, pod: ApiObject): ApiObject {
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: nowText(core),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  const { name = "", namespace = "" } = pod.metadata;
  const status = objectAt(pod, "status");
  const others = listAt(status, "conditions").filter(({ type }) => type !== condition.type);
  const after = { ...pod, status: { ...status, conditions: [...others, condition] } };
  return core.storage.write({ kind: pods, ref: { namespace, name }, before: pod, after });
}

/** The real server returns this 500 without a reason or details. */
function internalErrorOf(message: string) {
  const error = internalError(message);
  Object.assign(error.body, { message, reason: undefined, details: undefined });
  return error;
}

/** Evicting a pod that is terminal, pending, or already being deleted disrupts nothing. */
function mayIgnoreBudgets(pod: ApiObject): boolean {
  const phase = valueAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || pod.metadata.deletionTimestamp !== undefined;
}

function covers(budget: ApiObject, pod: ApiObject): boolean {
  const selector = valueAt(budget, "spec", "selector");
  return isObject(selector) && matches(selector as LabelSelector, pod.metadata.labels);
}

function isReady(pod: ApiObject): boolean {
  return listAt(pod, "status", "conditions").some(({ type, status }) => type === "Ready" && status === "True");
}

/** Applies unhealthyPodEvictionPolicy: AlwaysAllow, or IfHealthyBudget while enough pods are healthy. */
function mayEvictUnhealthy(budget: ApiObject): boolean {
  if (valueAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = objectAt(budget, "status");
  return Number(desiredHealthy) > 0 && Number(currentHealthy) >= Number(desiredHealthy);
}

const budgetViolation = "Cannot evict pod as it would violate the pod's disruption budget.";

function useDisruption(core: ServerCore, budget: ApiObject, podName: string, { dryRun }: DeleteOptions): void {
  const name = budget.metadata.name ?? "";
  const status = objectAt(budget, "status");
  const { observedGeneration = 0, disruptionsAllowed = 0, currentHealthy, desiredHealthy } = status;
  if (Number(observedGeneration) < (budget.metadata.generation ?? 0)) {
    throw evictionError(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (Number(disruptionsAllowed) <= 0) {
    throw evictionError(`The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`);
  }
  if (dryRun) return;
  const disruptedPods = { ...objectAt(status, "disruptedPods"), [podName]: nowText(core) };
  const after = { ...budget, status: { ...status, disruptionsAllowed: Number(disruptionsAllowed) - 1, disruptedPods } };
  const ref = { namespace: budget.metadata.namespace ?? "", name };
  try {
    core.storage.write({ kind: budgets, ref, before: budget, after });
  } catch (error) {
    if (error instanceof ChangedError) throw evictionError(`The disruption budget ${name} is being changed.`, 10);
    throw error;
  }
}

function evictionError(why: string, retryAfterSeconds?: number) {
  const causes = [{ reason: "DisruptionBudget", message: why }];
  return tooManyRequests(budgetViolation, { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}
