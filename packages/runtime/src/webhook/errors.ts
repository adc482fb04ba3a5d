// Errors of the webhook server. A rejected write is not an error but a response (`denied`).

/** Base class of the errors that this folder throws. */
export abstract class WebhookError extends Error {
  /** Stable: safe to match, log and count. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The declared webhooks cannot be served or registered. Fix the program. */
export class WebhookDeclarationError extends WebhookError {
  readonly code = "WEBHOOK_DECLARATION";
}

/** The request body is not a review that the API server would send. */
export class BadReviewError extends WebhookError {
  readonly code = "WEBHOOK_BAD_REVIEW";
}

/** There is no path from the object's version to the desired one, or a step failed (`cause`). */
export class ConversionError extends WebhookError {
  readonly code = "WEBHOOK_CONVERSION";
}

/** A webhook or conversion is not registered, so the API server does not call it. Apply the operator's manifests. */
export class NotRegisteredError extends WebhookError {
  readonly code = "WEBHOOK_NOT_REGISTERED";
}

/** The serving certificate could not be read, created or stored. */
export class CertificateError extends WebhookError {
  readonly code = "WEBHOOK_CERTIFICATE";
}
