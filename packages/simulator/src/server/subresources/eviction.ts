// Eviction: a deletion that asks the disruption budgets first. A budget that allows one is charged for it at once, so that
// two evictions cannot both spend the last one.
import { type LabelSelector, matches } from "@memhog/runtime";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt, valueAt } from "../../json.ts";
import { ChangedError } from "../../storage/storage.ts";
import { nowText, type ServerCore, type Target } from "../core.ts";
import { type Deletion, deleteObject, mustMeet } from "../delete.ts";
import { type DeleteOptions, readOptions } from "../delete-options.ts";
import { badRequest, internalError, notFound, tooManyRequests } from "../status-error.ts";

const budgets = { group: "policy", plural: "poddisruptionbudgets" };
const pods = { group: "", plural: "pods" };

/** @throws StatusError: 429 if a budget says not now, 500 if several cover the pod */
export async function evict(core: ServerCore, target: Target, eviction: JsonObject): Promise<Deletion> {
  const { name = "", namespace = "" } = target;
  if (objectAt(eviction, "metadata").name !== name) throw badRequest("name in URL does not match name in Eviction object");
  const options = readOptions(objectAt(eviction, "deleteOptions"));
  const pod = core.storage.get(pods, { namespace, name });
  if (pod === undefined) throw notFound(pods, name);
  mustMeet(options, pod, target.kind);
  const budget = mayIgnoreBudgets(pod) ? undefined : budgetOf(core, pod);
  // A pod that is not ready is not among those that the budget counts, so its going costs nothing.
  if (budget !== undefined && (isReady(pod) || !mayEvictUnhealthy(budget))) charge(core, budget, name, options);
  const noted = options.dryRun ? pod : announce(core, pod);
  return deleteObject(core, target, { ...options, preconditions: preconditionsOn(noted, options) });
}

/** The version that was asked for is the one before we wrote to the pod ourselves. */
function preconditionsOn({ metadata }: ApiObject, { preconditions: { uid, resourceVersion } = {} }: DeleteOptions) {
  return { ...(uid && { uid }), ...(resourceVersion && { resourceVersion: metadata.resourceVersion ?? "" }) };
}

/** The one budget that covers a pod. @throws StatusError if there are several */
function budgetOf({ storage }: ServerCore, pod: ApiObject): ApiObject | undefined {
  const { namespace } = pod.metadata;
  const [budget, ...more] = storage.list(budgets, { namespace }).filter((each) => covers(each, pod));
  if (more.length === 0) return budget;
  throw internalErrorOf("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
}

/** Says in the pod's status why it is going, before it goes. */
function announce(core: ServerCore, pod: ApiObject): ApiObject {
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
