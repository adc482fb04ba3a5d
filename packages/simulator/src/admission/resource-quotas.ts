// ResourceQuota: a write that would use more than the namespace may is refused. What is used stands in the status of the quota:
// the quota controller counts it afresh, and a write that is admitted is added at once, so that two cannot share the last of it.
import { type Quantity, quantityOf } from "@memhog/runtime";
import { type ApiObject, draftOf, type JsonObject, objectAt } from "../json.ts";
import type { Admission, AdmissionRequest } from "../server/admission.ts";
import type { ServerCore } from "../server/core.ts";
import { forbidden, type StatusError } from "../server/status-error.ts";
import { updateObject } from "../server/write.ts";
import { type Amounts, amountsIn, sum } from "./pod-amounts.ts";
import { isInScope, missingAmounts, usageOf } from "./quota-usage.ts";

const quotas = { group: "", plural: "resourcequotas" };

export function quotaAdmission(core: ServerCore): Admission {
  return {
    validate: async (object, request) => {
      if (!concerns(request)) return;
      const listed = core.storage.list(quotas, { namespace: request.ref.namespace });
      const charges = listed.flatMap((quota) => chargeOf(quota, object, request) ?? []);
      if (request.dryRun) return;
      for (const charge of charges) await book(core, charge);
    },
  };
}

function concerns({ kind, operation, subresource }: AdmissionRequest): boolean {
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
  /** What the write adds to what is used. */
  readonly added: Amounts;
}

/** Undefined if this quota is not touched. @throws StatusError 403 */
function chargeOf(quota: ApiObject, object: ApiObject, request: AdmissionRequest): Charge | undefined {
  if (!isInScope(object, quota)) return undefined;
  const { kind, ref, oldObject } = request;
  const refuse = (why: string): StatusError => forbidden(kind, ref.name, why);
  const name = quota.metadata.name ?? "";
  const [hard, used] = [amountsIn(objectAt(quota, "status").hard), amountsIn(objectAt(quota, "status").used)];
  const usage = usageOf(object, kind);
  // A quota that nobody has counted yet limits nothing.
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

/** Whether a name in a quota can be about objects of this kind. */
function isAbout(name: string, { group, plural }: AdmissionRequest["kind"], usage: Amounts): boolean {
  return usage.has(name) || (group === "" && plural === "pods" && computeNames.test(name));
}

/** What is used more than before; less is for the controller to find out. */
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

/** Adds to the status of the quota, as of this moment: others may have booked since it was looked at. */
async function book(core: ServerCore, { quota, added }: Charge): Promise<void> {
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
