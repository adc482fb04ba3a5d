// Eviction: a deletion that asks the disruption budgets first. A budget that allows one is charged for it at once, so that
// two evictions cannot both spend the last one.
import { type LabelSelector, matches } from "@memhog/runtime";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt, valueAt } from "../../json.ts";
import { ChangedError } from "../../storage/storage.ts";
import { nowText, type ServerCore, type Target } from "../core.ts";
import { type Deletion, deleteObject } from "../delete.ts";
import { type DeleteOptions, readOptions } from "../delete-options.ts";
import { badRequest, internalError, notFound, tooManyRequests } from "../status-error.ts";

const budgets = { group: "policy", plural: "poddisruptionbudgets" };
const pods = { group: "", plural: "pods" };

/** @throws StatusError: 429 if a budget says not now, 500 if several cover the pod */
export async function evict(core: ServerCore, target: Target, eviction: JsonObject): Promise<Deletion> {
  const { name = "", namespace = "" } = target;
  if (objectAt(eviction, "metadata").name !== name) throw badRequest("name in URL does not match name in Eviction object");
  const given = objectAt(eviction, "deleteOptions");
  const options = readOptions(given);
  const pod = core.storage.get(pods, { namespace, name });
  if (pod === undefined) throw notFound(pods, name);
  if (mayIgnoreBudgets(pod)) return deleteObject(core, target, options);
  const covering = core.storage.list(budgets, { namespace }).filter((budget) => covers(budget, pod));
  if (covering.length > 1) {
    throw internalErrorOf("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  }
  const [budget] = covering;
  if (budget === undefined) return deleteObject(core, target, options);
  const unhealthy = isObject(budget.spec) && !isReady(pod) && mayEvictUnhealthy(budget);
  if (!unhealthy) charge(core, budget, name, options);
  // Only the pod that the budget was asked about: one that became ready since would need its own permission.
  const preconditions = unhealthy ? { resourceVersion: pod.metadata.resourceVersion ?? "" } : {};
  return deleteObject(core, target, { ...options, preconditions: { ...preconditions, ...options.preconditions } });
}

function internalErrorOf(message: string) {
  const error = internalError(message);
  Object.assign(error.body, { message });
  return error;
}

/** What has ended, waits for a node or is going already disrupts nobody. */
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

/** A pod that is not ready does not count as healthy, so it may go: always, or as long as enough others are. */
function mayEvictUnhealthy(budget: ApiObject): boolean {
  if (valueAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = objectAt(budget, "status");
  return Number(desiredHealthy) > 0 && Number(currentHealthy) >= Number(desiredHealthy);
}

const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";

function charge(core: ServerCore, budget: ApiObject, podName: string, { dryRun }: DeleteOptions): void {
  const name = budget.metadata.name ?? "";
  const status = objectAt(budget, "status");
  const { observedGeneration = 0, disruptionsAllowed = 0, currentHealthy, desiredHealthy } = status;
  if (Number(observedGeneration) < (budget.metadata.generation ?? 0)) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (Number(disruptionsAllowed) <= 0) {
    throw refused(`The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`);
  }
  if (dryRun) return;
  const disruptedPods = { ...objectAt(status, "disruptedPods"), [podName]: nowText(core) };
  const after = { ...budget, status: { ...status, disruptionsAllowed: Number(disruptionsAllowed) - 1, disruptedPods } };
  const ref = { namespace: budget.metadata.namespace ?? "", name };
  try {
    core.storage.write({ kind: budgets, ref, before: budget, after });
  } catch (error) {
    if (error instanceof ChangedError) throw refused(`The disruption budget ${name} is being changed.`, 10);
    throw error;
  }
}

function refused(why: string, retryAfterSeconds?: number) {
  const causes = [{ reason: "DisruptionBudget", message: why }];
  return tooManyRequests(refusal, { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}
