// Where the server's certificate comes from: an endless sequence of them. The first is there before the server starts;
// each later one replaces the one before without a restart.
import type { CertifiedKey } from "./certificates.ts";

/** What the server shows. */
export interface ServingCertificate extends CertifiedKey {
  /** PEM certificates that callers must trust, for caBundle. Absent where somebody else sees to that (cert-manager). */
  readonly trust?: string;
}

/** Yields the present certificate, then every new one, until the signal aborts (then it just ends). */
export type CertificateSource = (signal: AbortSignal) => AsyncIterable<ServingCertificate>;
