// @memhog/runtime/webhook: validation, defaulting and conversion at admission.
export { type AdmissionRequest, allowed, denied, type Verdict } from "./webhook/admission.ts";
export type { CertificateSource } from "./webhook/certificates.ts";
export {
  conversionFor,
  conversionThrough,
  namesOf,
  type WebhookAddress,
  type WebhookConfigurationOptions,
  webhookConfigurations,
} from "./webhook/configuration.ts";
export { convert } from "./webhook/conversion.ts";
export { WebhookError } from "./webhook/errors.ts";
export { fileCertificates } from "./webhook/file-certificates.ts";
export { selfSignedCertificates } from "./webhook/self-signed.ts";
export { type AdmissionWebhook, mutate, validate, type Webhook } from "./webhook/webhooks.ts";
