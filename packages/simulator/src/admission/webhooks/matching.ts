// Which webhooks a request concerns: by operation, group, version, resource and scope (rules), by the labels of its namespace,
// and by those of the object, before or after.
import { type LabelSelector, matches } from "@memhog/runtime";
import { type ApiObject, isObject, type JsonObject, listAt, objectAt } from "../../json.ts";
import type { KindEntry } from "../../kinds/kind-entry.ts";
import type { AdmissionRequest } from "../../server/admission.ts";
import type { ServerCore } from "../../server/core.ts";

const namespaces = { group: "", plural: "namespaces" };

/** Nobody may be asked about these: a webhook could lock everybody out, itself included. */
const exempt = new Set([
  "mutatingwebhookconfigurations",
  "validatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
]);

export interface Subject {
  /** After the change; undefined for a deletion. */
  readonly object: ApiObject | undefined;
  readonly request: AdmissionRequest;
}

/** The version of the kind that the webhook wants to be asked in; undefined if it does not want to be asked. */
export function concernedKind(
  webhook: JsonObject,
  subject: Subject,
  core: Pick<ServerCore, "kinds" | "storage">,
): KindEntry | undefined {
  const { request } = subject;
  const { kind } = request;
  if (kind.group === "admissionregistration.k8s.io" && exempt.has(kind.plural)) return undefined;
  if (!isInNamespace(webhook, subject, core) || !hasLabels(webhook, subject)) return undefined;
  const rules = listAt(webhook, "rules");
  if (rules.some((rule) => isMatch(rule, kind, request))) return kind;
  if (webhook.matchPolicy !== "Equivalent") return undefined;
  const others = core.kinds.all().filter((other) => isOtherVersion(other, kind));
  return others.find((other) => rules.some((rule) => isMatch(rule, other, request)));
}

function isOtherVersion(other: KindEntry, { group, plural, version }: KindEntry): boolean {
  return other.group === group && other.plural === plural && other.version !== version;
}

function isMatch(rule: JsonObject, kind: KindEntry, { operation, subresource }: AdmissionRequest): boolean {
  const { scope = "*" } = rule;
  const isScope = scope === "*" || (scope === "Namespaced") === kind.namespaced;
  return (
    isScope &&
    lists(rule.operations, operation) &&
    lists(rule.apiGroups, kind.group) &&
    lists(rule.apiVersions, kind.version) &&
    listsResource(rule.resources, kind.plural, subresource)
  );
}

function lists(wanted: unknown, value: string): boolean {
  return Array.isArray(wanted) && (wanted.includes("*") || wanted.includes(value));
}

/** "pods", "pods/resize", "pods/*", and stars in either place. */
function listsResource(wanted: unknown, plural: string, subresource: string | undefined): boolean {
  return (Array.isArray(wanted) ? wanted : []).some((resource) => {
    const [name, door] = String(resource).split("/");
    if (name !== "*" && name !== plural) return false;
    return door === undefined ? subresource === undefined : door === "*" || door === subresource;
  });
}

function isInNamespace(webhook: JsonObject, { object, request }: Subject, { storage }: Pick<ServerCore, "storage">): boolean {
  const { kind, ref, oldObject } = request;
  const isNamespace = kind.group === "" && kind.plural === "namespaces";
  if (!kind.namespaced && !isNamespace) return true;
  const place = isNamespace ? (object ?? oldObject) : storage.get(namespaces, { name: ref.namespace ?? "" });
  return matches(selectorAt(webhook, "namespaceSelector"), place?.metadata.labels);
}

function hasLabels(webhook: JsonObject, { object, request }: Subject): boolean {
  const selector = selectorAt(webhook, "objectSelector");
  return [object, request.oldObject].some((each) => each !== undefined && matches(selector, each.metadata.labels));
}

function selectorAt(webhook: JsonObject, field: string): LabelSelector {
  return isObject(webhook[field]) ? (objectAt(webhook, field) as LabelSelector) : {};
}
