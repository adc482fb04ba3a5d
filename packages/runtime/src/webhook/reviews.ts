// From a path and a body to an answer: which webhook is meant, is this a review at all, and what does the webhook say.
// Nothing here knows of sockets; server.ts carries bodies in and answers out.
import type { AdmissionRequest } from "./admission.ts";
import { answerConversion, type ConversionRequest } from "./conversion.ts";
import { BadReviewError, WebhookDeclarationError } from "./errors.ts";
import type { AdmissionWebhook, Webhook } from "./webhooks.ts";

/** Answers one parsed review with another. */
export type Reviewer = (review: unknown, signal: AbortSignal) => Promise<object>;

/** Told of what went wrong though it was answered: the answer to a conversion says that it failed, and not why. */
export type FailureReport = (path: string, error: unknown) => void;

/** Path → who answers there. Complains at once about two webhooks on one path: one of them would never be asked. */
export function reviewersOf(webhooks: readonly Webhook[], report?: FailureReport): ReadonlyMap<string, Reviewer> {
  const conversions = webhooks.filter((webhook) => webhook.type === "convert");
  const admissions = webhooks.filter((webhook) => webhook.type !== "convert");
  const reviewers = new Map<string, Reviewer>();
  for (const webhook of admissions) {
    if (reviewers.has(webhook.path)) throw new WebhookDeclarationError(twice(webhook));
    reviewers.set(webhook.path, admissionReviewer(webhook));
  }
  if (conversions.length > 0) {
    reviewers.set("/convert", async (review) => {
      const request = requestIn(review, "ConversionReview", "objects") as unknown as ConversionRequest;
      return answerWith(
        review,
        answerConversion(request, conversions, (error) => report?.("/convert", error)),
      );
    });
  }
  return reviewers;
}

function admissionReviewer(webhook: AdmissionWebhook): Reviewer {
  return async (review, signal) => {
    const request = requestIn(review, "AdmissionReview", "operation") as unknown as AdmissionRequest;
    return answerWith(review, await webhook.answer(request, signal));
  };
}

/** The request inside a review of this kind; `field` is one that such a request cannot be without. */
function requestIn(review: unknown, kind: string, field: string): Record<string, unknown> {
  const { kind: found, request } = (review ?? {}) as { readonly kind?: unknown; readonly request?: Record<string, unknown> };
  if (found !== kind || typeof request?.uid !== "string" || request[field] === undefined) {
    throw new BadReviewError(
      `expected a ${kind} with a request, found ${found === kind ? "one without" : `kind ${String(found)}`}`,
    );
  }
  return request;
}

/** The answer must come in the version the question came in. */
function answerWith(review: unknown, response: object): object {
  const { apiVersion, kind } = review as { readonly apiVersion: string; readonly kind: string };
  return { apiVersion, kind, response };
}

function twice({ type, kind, path }: AdmissionWebhook): string {
  return `expected one webhook at ${path}, found two: give one of the ${type}(${kind.kind}, …) a name in its options`;
}
