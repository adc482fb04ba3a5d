// Admission webhooks. Mutating webhooks run one after the other, each on the result of the one before; validating webhooks run in
// parallel. If a webhook cannot be reached, the server rejects the request unless the failure policy is Ignore. The server calls no
// webhook twice (reinvocationPolicy Never).

import { Environment } from "@marcbachmann/cel-js";
import type { LabelSelector } from "@memhog/runtime/kinds";
import { matches } from "@memhog/runtime/objects";
import { type ApiObject, type Draft, draftOf, isObject, type JsonObject, listAt, objectAt } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { applyJsonPatch } from "../patch/json-patch.ts";
import type { Admission, AdmissionRequest } from "../server/admission.ts";
import type { ServerCore } from "../server/core.ts";
import { badRequest, internalError, StatusError } from "../server/status-error.ts";
import {
  decisionIn,
  denial,
  InvalidReviewError,
  postReview,
  reviewOf,
  WebhookCallError,
  type WebhookDecision,
} from "./webhook-review.ts";

const group = "admissionregistration.k8s.io";

export function webhookAdmission(core: ServerCore): Admission {
  const webhooksIn = (plural: string) => core.storage.list({ group, plural }).flatMap((each) => listAt(each, "webhooks"));
  return {
    mutate: async (draft, request) => {
      let changed = false;
      for (const webhook of webhooksIn("mutatingwebhookconfigurations")) {
        const decision = await ask(core, webhook, { object: draft as ApiObject, request }, "mutate");
        if (decision !== undefined && applyPatch(draft, decision, String(webhook.name))) changed = true;
      }
      return changed;
    },
    validate: async (object, request) => {
      const asked = webhooksIn("validatingwebhookconfigurations").map((webhook) => {
        const subject = { object: request.operation === "DELETE" ? undefined : object, request };
        return ask(core, webhook, subject, "validate");
      });
      const answers = await Promise.allSettled(asked);
      const refused = answers.find((answer) => answer.status === "rejected");
      if (refused !== undefined) throw refused.reason;
    },
  };
}

/** Returns undefined if the webhook does not match, or if the call fails and the failure policy is Ignore. @throws StatusError */
async function ask(
  core: ServerCore,
  webhook: JsonObject,
  subject: Subject,
  role: "mutate" | "validate",
): Promise<WebhookDecision | undefined> {
  const name = String(webhook.name);
  const kind = concernedKind(webhook, subject, core);
  if (kind === undefined) return undefined;
  if (!meetsConditions(webhook, subject)) return undefined;
  checkDryRunSupport(webhook, subject.request);
  try {
    const shown = await inVersion(subject, kind);
    const uid = core.environment.uuid();
    const review = reviewOf(shown, kind, uid);
    const call = {
      clientConfig: objectAt(webhook, "clientConfig"),
      review,
      timeoutSeconds: Number(webhook.timeoutSeconds ?? 10),
    };
    const answer = await postReview(call, { clock: core.environment.clock, storage: core.storage, webhooks: core.webhooks });
    const decision = decisionIn(answer, uid, role === "mutate");
    for (const warning of decision.warnings) subject.request.warn?.(warning);
    if (!decision.allowed) throw denial(name, decision.status);
    return decision;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    if (webhook.failurePolicy === "Ignore") return undefined;
    throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${failure}`);
  }
}

function failureOf(error: unknown): string | undefined {
  if (error instanceof WebhookCallError) return `failed to call webhook: ${error.message}`;
  return error instanceof InvalidReviewError ? `received invalid webhook response: ${error.message}` : undefined;
}

/**
 * A condition that is false skips the webhook. If none is, one that cannot be evaluated skips it or rejects the request, as the failure
 * policy says. Only `object` and `oldObject` are defined. @throws StatusError
 */
function meetsConditions(webhook: JsonObject, { object, request }: Subject): boolean {
  const variables = { object: object ?? null, oldObject: request.oldObject ?? null };
  const results = listAt(webhook, "matchConditions").map(({ expression }) => {
    try {
      return conditions.evaluate(String(expression), variables);
    } catch (error) {
      return error;
    }
  });
  if (results.includes(false)) return false;
  const failed = results.find((result) => result !== true);
  if (failed === undefined || webhook.failurePolicy === "Ignore") return failed === undefined;
  throw internalError(`failed evaluating matchConditions of webhook ${JSON.stringify(webhook.name)}: ${String(failed)}`);
}

const conditions = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });

function checkDryRunSupport({ name, sideEffects }: JsonObject, { dryRun }: AdmissionRequest): void {
  if (!dryRun || sideEffects === "None" || sideEffects === "NoneOnDryRun") return;
  throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
}

/** Converts the objects to another version of the kind. */
async function inVersion(subject: Subject, kind: AdmissionRequest["kind"]): Promise<Subject> {
  const { object, request } = subject;
  if (kind === request.kind) return subject;
  const convert = async (each: ApiObject | undefined) => {
    if (each === undefined) return undefined;
    const stored = (await request.kind.conversion?.toStored(each)) ?? each;
    const [converted] = (await kind.conversion?.fromStored([stored])) ?? [stored];
    return converted;
  };
  return { object: await convert(object), request: { ...request, oldObject: await convert(request.oldObject) } };
}

/** Applies the patch of the response to the draft. @throws StatusError 500 if it cannot be applied */
function applyPatch(draft: Draft, { patch }: WebhookDecision, name: string): boolean {
  if (!Array.isArray(patch) || patch.length === 0) return false;
  const patched = patchedBy(draft, patch, name);
  for (const field of Object.keys(draft)) if (!(field in patched)) delete draft[field];
  Object.assign(draft, patched);
  return true;
}

function patchedBy(draft: Draft, patch: readonly unknown[], name: string): JsonObject {
  try {
    return applyJsonPatch(draftOf(draft as JsonObject), patch);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw internalError(`the patch of admission webhook ${JSON.stringify(name)} does not apply`);
  }
}

// Selects the webhooks for a request: by operation, group, version, resource, and scope (rules), by the labels of the namespace,
// and by the labels of the object before or after the change.

const namespaces = { group: "", plural: "namespaces" };

/** The server calls no webhook for these kinds: a broken webhook could otherwise block its own removal. */
const exempt = new Set([
  "mutatingwebhookconfigurations",
  "validatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
]);

export interface Subject {
  /** The object after the change. Undefined for a deletion. */
  readonly object: ApiObject | undefined;
  readonly request: AdmissionRequest;
}

/** Returns the version of the kind to send to the webhook, or undefined if the webhook does not match. */
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

/** Matches "pods", "pods/resize", "pods/*", and wildcards in either part. */
function listsResource(wanted: unknown, plural: string, subresource: string | undefined): boolean {
  return (Array.isArray(wanted) ? wanted : []).some((resource) => {
    const [name, part] = String(resource).split("/");
    if (name !== "*" && name !== plural) return false;
    return part === undefined ? subresource === undefined : part === "*" || part === subresource;
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
