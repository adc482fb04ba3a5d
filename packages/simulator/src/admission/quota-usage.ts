// How much of a quota an object uses. Pods use what they request and may take; of everything there can be so many.
import { parseQuantity } from "@memhog/runtime";
import { type ApiObject, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { qosClassOf } from "../kinds/qos.ts";
import { type Amounts, amountsIn, podAmounts } from "./pod-amounts.ts";

const one = parseQuantity("1");
const compute = ["cpu", "memory", "ephemeral-storage"] as const;

/** Kinds of the core group that have a name in quotas beside "count/…". */
const counted = new Set([
  "configmaps",
  "secrets",
  "services",
  "persistentvolumeclaims",
  "replicationcontrollers",
  "resourcequotas",
]);

export function usageOf(object: ApiObject, { group, plural }: Pick<KindEntry, "group" | "plural">): Amounts {
  const name = group === "" ? plural : `${plural}.${group}`;
  const count = new Map([[`count/${name}`, one]]);
  if (group !== "") return count;
  if (plural === "pods") return new Map([...count, ...podUsage(object)]);
  if (counted.has(plural)) count.set(plural, one);
  if (plural === "services") return new Map([...count, ...serviceUsage(object)]);
  if (plural !== "persistentvolumeclaims") return count;
  const storage = amountsIn(objectAt(object, "spec", "resources", "requests")).get("storage");
  return storage === undefined ? count : new Map([...count, ["requests.storage", storage]]);
}

/** A pod that has ended uses nothing any more, though it is still there to be counted. */
function podUsage(pod: ApiObject): Amounts {
  const phase = valueAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed"
    ? new Map()
    : resourcesUsage(podAmounts(objectAt(pod, "spec"), "requests"), podAmounts(objectAt(pod, "spec"), "limits"));
}

function resourcesUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map([["pods", one]]);
  for (const name of compute) {
    const [request, limit] = [requests.get(name), limits.get(name)];
    if (request !== undefined) usage.set(name, request).set(`requests.${name}`, request);
    if (limit !== undefined) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests)
    if (name.includes("/") || name.startsWith("hugepages-")) usage.set(`requests.${name}`, request);
  return usage;
}

function serviceUsage(service: ApiObject): Amounts {
  const { type, ports } = objectAt(service, "spec");
  const nodePorts = type === "NodePort" || type === "LoadBalancer" ? (Array.isArray(ports) ? ports.length : 0) : 0;
  return new Map([
    ["services.nodeports", parseQuantity(nodePorts)],
    ["services.loadbalancers", parseQuantity(type === "LoadBalancer" ? 1 : 0)],
  ]);
}

const mustBeSaid = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);

/** Where a quota counts CPU or memory, every container must say how much: "limits.memory for: app". */
export function missingAmounts(pod: ApiObject, restricted: readonly string[]): string | undefined {
  const spec = objectAt(pod, "spec");
  if (Object.keys(objectAt(spec, "resources", "requests")).length + Object.keys(objectAt(spec, "resources", "limits")).length > 0)
    return undefined;
  const containers = [...listAt(spec, "containers"), ...listAt(spec, "initContainers")];
  const missing = restricted
    .filter((name) => mustBeSaid.has(name))
    .sort()
    .map(
      (name) =>
        [name, containers.filter((container) => !says(container, name)).map((container) => String(container.name))] as const,
    )
    .filter(([, names]) => names.length > 0)
    .map(([name, names]) => `${name} for: ${[...new Set(names)].sort().join(",")}`);
  return missing.length === 0 ? undefined : `must specify ${missing.join("; ")}`;
}

function says(container: JsonObject, name: string): boolean {
  const { requests, limits } = objectAt(container, "resources");
  return resourcesUsage(amountsIn(requests), amountsIn(limits)).has(name);
}

/** Whether a quota is about this object at all: its scopes must all be those of the pod. */
export function isInScope(object: ApiObject, quota: ApiObject): boolean {
  const scopes = (valueAt(quota, "spec", "scopes") ?? []) as readonly string[];
  const selectors = listAt(quota, "spec", "scopeSelector", "matchExpressions");
  if (scopes.length + selectors.length === 0) return true;
  if (object.kind !== "Pod") return false;
  const all: readonly JsonObject[] = [...scopes.map((scopeName) => ({ scopeName, operator: "Exists" })), ...selectors];
  return all.every((scope) => matchesScope(object, scope));
}

function matchesScope(pod: ApiObject, { scopeName, operator, values }: JsonObject): boolean {
  const spec = objectAt(pod, "spec");
  const isTerminating = typeof spec.activeDeadlineSeconds === "number";
  const isBestEffort = qosClassOf(spec) === "BestEffort";
  if (scopeName === "Terminating") return isTerminating;
  if (scopeName === "NotTerminating") return !isTerminating;
  if (scopeName === "BestEffort") return isBestEffort;
  if (scopeName === "NotBestEffort") return !isBestEffort;
  if (scopeName !== "PriorityClass") return false;
  const name = spec.priorityClassName;
  if (operator === "Exists") return Boolean(name);
  if (operator === "DoesNotExist") return !name;
  const isListed = Array.isArray(values) && values.includes(name);
  return operator === "In" ? isListed : !isListed;
}
