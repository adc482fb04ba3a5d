// Admission webhooks: strangers that the configurations in the cluster invite to change or refuse what is written. Those that
// change are asked one after the other, each seeing what the ones before it made; those that refuse are asked together. One
// that cannot be asked refuses too, unless its failure policy says Ignore. Nobody is asked twice (reinvocationPolicy Never).
import { type ApiObject, type Draft, draftOf, type JsonObject, listAt, objectAt } from "../../json.ts";
import { applyJsonPatch } from "../../patch/json-patch.ts";
import type { Admission, AdmissionRequest } from "../../server/admission.ts";
import type { ServerCore } from "../../server/core.ts";
import { badRequest, internalError, notImplemented, StatusError } from "../../server/status-error.ts";
import { concernedKind, type Subject } from "./matching.ts";
import { postReview, WebhookCallError } from "./post-review.ts";
import { denial, InvalidReviewError, reviewOf, type Verdict, verdictIn } from "./review.ts";

const group = "admissionregistration.k8s.io";

export function webhookAdmission(core: ServerCore): Admission {
  const webhooksIn = (plural: string) => core.storage.list({ group, plural }).flatMap((each) => listAt(each, "webhooks"));
  return {
    mutate: async (draft, request) => {
      let changed = false;
      for (const webhook of webhooksIn("mutatingwebhookconfigurations")) {
        const verdict = await ask(core, webhook, { object: draft as ApiObject, request }, "mutate");
        if (verdict !== undefined && change(draft, verdict, String(webhook.name))) changed = true;
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

/** Undefined if the webhook has no say, or could not be asked and does not matter. @throws StatusError */
async function ask(
  core: ServerCore,
  webhook: JsonObject,
  subject: Subject,
  role: "mutate" | "validate",
): Promise<Verdict | undefined> {
  const name = String(webhook.name);
  const kind = concernedKind(webhook, subject, core);
  if (kind === undefined) return undefined;
  if (listAt(webhook, "matchConditions").length > 0) throw notImplemented(`matchConditions, which webhook ${name} has`);
  mustBearDryRun(webhook, subject.request);
  try {
    const shown = await inVersion(subject, kind);
    const uid = core.environment.uuid();
    const review = reviewOf(shown, kind, uid);
    const call = {
      clientConfig: objectAt(webhook, "clientConfig"),
      review,
      timeoutSeconds: Number(webhook.timeoutSeconds ?? 10),
    };
    const answer = await postReview(call, { clock: core.environment.clock, storage: core.storage });
    const verdict = verdictIn(answer, uid, role === "mutate");
    for (const warning of verdict.warnings) subject.request.warn?.(warning);
    if (!verdict.allowed) throw denial(name, verdict.status);
    return verdict;
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

function mustBearDryRun({ name, sideEffects }: JsonObject, { dryRun }: AdmissionRequest): void {
  if (!dryRun || sideEffects === "None" || sideEffects === "NoneOnDryRun") return;
  throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
}

/** The objects as another version of the kind shows them. */
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

/** Makes the draft what the patch makes of it, if there is one. @throws StatusError 500 if it does not fit */
function change(draft: Draft, { patch }: Verdict, name: string): boolean {
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
