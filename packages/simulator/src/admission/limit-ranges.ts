// LimitRange: default resources for containers that specify none, and minimum and maximum amounts. Applies when a pod is created or
// resized. Claims also have a minimum and a maximum.

import { parseQuantity } from "@memhog/runtime";
import type { Quantity } from "@memhog/runtime/objects";
import { type ApiObject, type Draft, isObject, type JsonObject, listAt, objectAt } from "../json.ts";
import type { Admission, AdmissionRequest } from "../server/admission.ts";
import type { ServerCore } from "../server/core.ts";
import { forbidden } from "../server/status-error.ts";

const limitRanges = { group: "", plural: "limitranges" };
const annotation = "kubernetes.io/limit-ranger";

export function limitRangeAdmission({ storage }: Pick<ServerCore, "storage">): Admission {
  const rangesFor = ({ ref, oldObject }: AdmissionRequest) =>
    oldObject?.metadata.deletionTimestamp === undefined ? storage.list(limitRanges, { namespace: ref.namespace }) : [];
  return {
    mutate: (draft, request) => {
      if (!appliesTo(request) || request.kind.plural !== "pods") return false;
      const ranges = rangesFor(request);
      for (const range of ranges) setDefaults(draft, range);
      return ranges.length > 0;
    },
    validate: (object, request) => {
      if (!appliesTo(request)) return;
      for (const range of rangesFor(request)) {
        const violations = violationsOf(object, range);
        if (violations.length > 0) throw forbidden(request.kind, request.ref.name, joined(violations));
      }
    },
  };
}

function appliesTo({ kind, operation, subresource }: AdmissionRequest): boolean {
  if (kind.group !== "" || operation === "DELETE") return false;
  if (kind.plural === "persistentvolumeclaims") return subresource === undefined;
  return kind.plural === "pods" && (operation === "CREATE" ? subresource === undefined : subresource === "resize");
}

/** Joins messages as Go does, without duplicates. */
function joined(violations: readonly string[]): string {
  const distinct = [...new Set(violations)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

function limitsOf(range: ApiObject, type: string): readonly JsonObject[] {
  return listAt(range, "spec", "limits").filter((limit) => limit.type === type);
}

/** Sets defaults in every container, and records them in an annotation. */
function setDefaults(draft: Draft, range: ApiObject): void {
  const limits = limitsOf(range, "Container");
  const defaults = {
    requests: Object.assign({}, ...limits.map((limit) => limit.defaultRequest)) as JsonObject,
    limits: Object.assign({}, ...limits.map((limit) => limit.default)) as JsonObject,
  };
  const notes = [
    ...listAt(draft, "spec", "containers").flatMap((container) => fillContainer(container, defaults, "container")),
    ...listAt(draft, "spec", "initContainers").flatMap((container) => fillContainer(container, defaults, "init container")),
  ];
  if (notes.length === 0) return;
  draft.metadata.annotations = { ...draft.metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join("; ")}` };
}

type Defaults = Readonly<Record<"requests" | "limits", JsonObject>>;

function fillContainer(container: JsonObject, defaults: Defaults, what: string): readonly string[] {
  const resources = objectAt(container, "resources");
  return (["requests", "limits"] as const).flatMap((part) => {
    const own = objectAt(resources, part);
    const missing = Object.keys(defaults[part]).filter((name) => !(name in own));
    if (missing.length === 0) return [];
    for (const name of missing) own[name] = defaults[part][name];
    container.resources = { ...objectAt(container, "resources"), [part]: own };
    return [`${missing.sort().join(", ")} ${part.slice(0, -1)} for ${what} ${container.name}`];
  });
}

function violationsOf(object: ApiObject, range: ApiObject): readonly string[] {
  const spec = objectAt(object, "spec");
  if (object.kind === "PersistentVolumeClaim") {
    const requests = amountsIn(objectAt(spec, "resources", "requests"));
    return limitsOf(range, "PersistentVolumeClaim").flatMap((limit) => claimViolations(limit, requests));
  }
  const containers = [...listAt(spec, "containers"), ...listAt(spec, "initContainers")];
  return [
    ...limitsOf(range, "Container").flatMap((limit) =>
      containers.flatMap((container) => asked(limit, objectAt(container, "resources"))),
    ),
    ...limitsOf(range, "Pod").flatMap((limit) =>
      constraints(limit, { requests: podAmounts(spec, "requests"), limits: podAmounts(spec, "limits") }),
    ),
  ];
}

function asked(limit: JsonObject, resources: JsonObject): readonly string[] {
  return constraints(limit, { requests: amountsIn(resources.requests), limits: amountsIn(resources.limits) });
}

interface Asked {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function constraints(limit: JsonObject, given: Asked): readonly string[] {
  const every = (field: string, check: (name: string, enforced: Quantity) => string | undefined) =>
    [...amountsIn(limit[field])].flatMap(([name, enforced]) => check(name, enforced) ?? []);
  const type = String(limit.type);
  return [
    ...every("min", (name, enforced) => belowMin({ name, type, enforced }, given)),
    ...every("max", (name, enforced) => aboveMax({ name, type, enforced }, given)),
    ...every("maxLimitRequestRatio", (name, enforced) => aboveRatio({ name, type, enforced }, given)),
  ];
}

interface Bound {
  readonly name: string;
  readonly type: string;
  readonly enforced: Quantity;
}

function belowMin({ name, type, enforced }: Bound, { requests, limits }: Asked): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `minimum ${name} usage per ${type} is ${enforced}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (request.compare(enforced) < 0) return `${rule}, but request is ${request}`;
  return limit !== undefined && limit.compare(enforced) < 0 ? `${rule}, but limit is ${limit}` : undefined;
}

function aboveMax({ name, type, enforced }: Bound, { requests, limits }: Asked): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `maximum ${name} usage per ${type} is ${enforced}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (limit.compare(enforced) > 0) return `${rule}, but limit is ${limit}`;
  return request !== undefined && request.compare(enforced) > 0 ? `${rule}, but request is ${request}` : undefined;
}

function aboveRatio({ name, type, enforced }: Bound, { requests, limits }: Asked): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `${name} max limit to request ratio per ${type} is ${enforced}`;
  if (request === undefined || request.sign === 0) return `${rule}, but no request is specified or request is 0`;
  if (limit === undefined || limit.sign === 0) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = limit.toNumber() / request.toNumber();
  return ratio > enforced.toNumber() ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

function claimViolations(limit: JsonObject, requests: Amounts): readonly string[] {
  const none: Amounts = new Map();
  const type = String(limit.type);
  const below = [...amountsIn(limit.min)].flatMap(
    ([name, enforced]) => belowMin({ name, type, enforced }, { requests, limits: none }) ?? [],
  );
  // A claim has no limits, so the maximum applies to its request.
  const above = [...amountsIn(limit.max)].flatMap(([name, enforced]) => {
    const request = requests.get(name);
    const rule = `maximum ${name} usage per ${type} is ${enforced}`;
    if (request === undefined) return `${rule}.  No request is specified`;
    return request.compare(enforced) > 0 ? `${rule}, but request is ${request}` : [];
  });
  return [...below, ...above];
}

// The resources of a whole pod: the sum over its containers or the peak of its init containers, whichever is larger.

/** By resource name: "memory", "cpu", … */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Returns the total `requests` or `limits`. Pod-level resources override those of the containers. */
export function podAmounts(spec: JsonObject, part: "requests" | "limits"): Amounts {
  let sidecars: Amounts = new Map();
  let peak: Amounts = new Map();
  for (const container of listAt(spec, "initContainers")) {
    const own = amountsIn(objectAt(container, "resources", part));
    peak = larger(peak, sum(sidecars, own));
    if (container.restartPolicy === "Always") sidecars = sum(sidecars, own);
  }
  const running = listAt(spec, "containers").reduce<Amounts>(
    (total, container) => sum(total, amountsIn(objectAt(container, "resources", part))),
    sidecars,
  );
  return new Map([...larger(running, peak), ...amountsIn(objectAt(spec, "resources", part))]);
}

export function amountsIn(list: unknown): Amounts {
  if (!isObject(list)) return new Map();
  return new Map(Object.entries(list).map(([name, amount]) => [name, parseQuantity(String(amount))]));
}

export function sum(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (left, right) => left.add(right));
}

function larger(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (left, right) => (left.compare(right) < 0 ? right : left));
}

function combined(a: Amounts, b: Amounts, combine: (left: Quantity, right: Quantity) => Quantity): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) {
    const before = result.get(name);
    result.set(name, before === undefined ? amount : combine(before, amount));
  }
  return result;
}
