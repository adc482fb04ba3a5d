// Every way webhooks can go wrong on our side, once. A refused write is not here: that is an answer (`denied`), not an error.

/** Anything this folder throws on purpose. */
export abstract class WebhookError extends Error {
  /** Stable: safe to match on, to log and to count. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The webhooks as declared cannot be served or registered. Only a change of the program helps. */
export class WebhookDeclarationError extends WebhookError {
  readonly code = "WEBHOOK_DECLARATION";
}

/** What arrived is not a review the API server would send. */
export class BadReviewError extends WebhookError {
  readonly code = "WEBHOOK_BAD_REVIEW";
}

/** There is no way from the version an object has to the version it is wanted in, or a step of it failed (`cause`). */
export class ConversionError extends WebhookError {
  readonly code = "WEBHOOK_CONVERSION";
}

/** The API server was not told of a webhook, or of a conversion: nobody will ask us. Whoever installs the operator can help. */
export class NotRegisteredError extends WebhookError {
  readonly code = "WEBHOOK_NOT_REGISTERED";
}

/** The certificate to serve with could not be read, made or stored. */
export class CertificateError extends WebhookError {
  readonly code = "WEBHOOK_CERTIFICATE";
}
