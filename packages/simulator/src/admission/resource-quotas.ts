// ResourceQuota: rejects writes that exceed the quota of the namespace. The status of the quota contains the usage. The quota
// controller recounts it. An admitted write adds to it at once, so that two requests cannot both use the remainder.

import { parseQuantity } from "@memhog/runtime";
import { type Quantity, quantityOf } from "@memhog/runtime/objects";
import { type ApiObject, draftOf, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { qosClassOf } from "../kinds/pod-template.ts";
import type { Admission, AdmissionRequest } from "../server/admission.ts";
import type { ServerCore } from "../server/core.ts";
import { forbidden, type StatusError } from "../server/status-error.ts";
import { updateObject } from "../server/write.ts";
import { type Amounts, amountsIn, podAmounts, sum } from "./limit-ranges.ts";

const quotas = { group: "", plural: "resourcequotas" };

export function quotaAdmission(core: ServerCore): Admission {
  return {
    validate: async (object, request) => {
      if (!appliesTo(request)) return;
      const listed = core.storage.list(quotas, { namespace: request.ref.namespace });
      const charges = listed.flatMap((quota) => chargeOf(quota, object, request) ?? []);
      if (request.dryRun) return;
      for (const charge of charges) await addUsage(core, charge);
    },
  };
}

function appliesTo({ kind, operation, subresource }: AdmissionRequest): boolean {
  if (!kind.namespaced || kind.plural === quotas.plural) return false;
  if (kind.group === "" && kind.plural === "events") return false;
  if (operation === "CREATE") return subresource === undefined;
  const isResize = kind.plural === "pods" && kind.group === "" && subresource === "resize";
  const isClaim = kind.plural === "persistentvolumeclaims" && subresource === undefined;
  const isService = kind.group === "" && kind.plural === "services" && subresource === undefined;
  return operation === "UPDATE" && (isResize || isClaim || isService);
}

interface Charge {
  readonly quota: ApiObject;
  /** The amount that the write adds to the usage. */
  readonly added: Amounts;
}

/** Returns undefined if the write does not affect this quota. @throws StatusError 403 */
function chargeOf(quota: ApiObject, object: ApiObject, request: AdmissionRequest): Charge | undefined {
  if (!isInScope(object, quota)) return undefined;
  const { kind, ref, oldObject } = request;
  const refuse = (why: string): StatusError => forbidden(kind, ref.name, why);
  const name = quota.metadata.name ?? "";
  const [hard, used] = [amountsIn(objectAt(quota, "status").hard), amountsIn(objectAt(quota, "status").used)];
  const usage = usageOf(object, kind);
  // A quota without a usage status limits nothing.
  const restricted = [...hard.keys()].filter((each) => isAbout(each, kind, usage)).sort();
  if (restricted.length === 0) return undefined;
  const missing = object.kind === "Pod" ? missingAmounts(object, restricted) : undefined;
  if (missing !== undefined) throw refuse(`failed quota: ${name}: ${missing}`);
  if (restricted.some((each) => !used.has(each)))
    throw refuse(`status unknown for quota: ${name}, resources: ${restricted.join(",")}`);
  const before: Amounts = oldObject !== undefined && isInScope(oldObject, quota) ? usageOf(oldObject, kind) : new Map();
  const added = increase(usage, before, restricted);
  const exceeded = [...added.keys()].filter((each) => isExceeded(each, { added, used, hard })).sort();
  if (exceeded.length > 0) {
    const shown = (amounts: Amounts) => exceeded.map((each) => `${each}=${amounts.get(each)}`).join(",");
    throw refuse(`exceeded quota: ${name}, requested: ${shown(added)}, used: ${shown(used)}, limited: ${shown(hard)}`);
  }
  return added.size === 0 ? undefined : { quota, added };
}

const computeNames = /^((requests|limits)\.)?(cpu|memory|ephemeral-storage|hugepages-.+)$|^requests\..+\/.+$|^pods$/;

/** Whether a resource name in a quota applies to this kind. */
function isAbout(name: string, { group, plural }: AdmissionRequest["kind"], usage: Amounts): boolean {
  return usage.has(name) || (group === "" && plural === "pods" && computeNames.test(name));
}

/** The increase over the previous usage. The controller handles decreases. */
function increase(usage: Amounts, before: Amounts, restricted: readonly string[]): Amounts {
  const more = restricted.flatMap((name) => {
    const now = usage.get(name);
    if (now === undefined) return [];
    const then = before.get(name);
    const delta = then === undefined ? now : now.sub(then);
    return delta.sign > 0 ? [[name, delta] as const] : [];
  });
  return new Map(more);
}

interface Balance {
  readonly added: Amounts;
  readonly used: Amounts;
  readonly hard: Amounts;
}

const zero: Quantity = quantityOf(0);

function isExceeded(name: string, { added, used, hard }: Balance): boolean {
  const limit = hard.get(name);
  const total = (used.get(name) ?? zero).add(added.get(name) ?? zero);
  return limit !== undefined && total.compare(limit) > 0;
}

/** Adds to the current status of the quota, which other requests may have changed since admission read it. */
async function addUsage(core: ServerCore, { quota, added }: Charge): Promise<void> {
  const kind = core.kinds.find({ group: "", version: "v1" }, quotas.plural);
  if (kind === undefined) return;
  const { namespace = "", name = "" } = quota.metadata;
  const target = { kind, namespace, name, subresource: "status" };
  const call = {
    target,
    dryRun: false,
    manager: "kube-apiserver",
    fieldValidation: "Ignore",
    options: {},
    warn: () => {},
  } as const;
  await updateObject(core, call, (old) => {
    const draft = draftOf(old);
    const used = sum(amountsIn(objectAt(old, "status").used), added);
    draft.status = { ...objectAt(draft, "status"), used: asJson(used) };
    return draft;
  });
}

function asJson(amounts: Amounts): JsonObject {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.toString()]));
}

// The quota usage of an object: pods use their requests and limits; all kinds count as objects.

const one = parseQuantity("1");
const compute = ["cpu", "memory", "ephemeral-storage"] as const;

/** Kinds of the core group that quotas can also name without "count/". */
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

/** A terminated pod uses no resources, but counts as an object. */
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

const requiredPerContainer = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);

/** A quota on CPU or memory requires every container to specify it. Returns, for example, "limits.memory for: app". */
function missingAmounts(pod: ApiObject, restricted: readonly string[]): string | undefined {
  const spec = objectAt(pod, "spec");
  if (Object.keys(objectAt(spec, "resources", "requests")).length + Object.keys(objectAt(spec, "resources", "limits")).length > 0)
    return undefined;
  const containers = [...listAt(spec, "containers"), ...listAt(spec, "initContainers")];
  const missing = restricted
    .filter((name) => requiredPerContainer.has(name))
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

/** Whether the quota applies to this object: the pod must match all scopes. */
function isInScope(object: ApiObject, quota: ApiObject): boolean {
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
