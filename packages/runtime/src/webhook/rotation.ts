// When certificates of our own making are renewed, as a pure function of what there is and what time it is. Several
// replicas run it on the same stored state and come to the same conclusion; whoever writes first wins (self-made.ts).
//
// An authority is replaced long before it ends, and in two steps, so that no request fails in between:
//
//     age of the old authority   stored authorities   serving certificate signed by
//     0                          old                  old
//     2/3 of its life            new, old             old    ← callers learn to trust both
//     + settle time              new, old             new    ← nobody is left who trusts only the old one
//     at its end                 new                  new
import type { Environment } from "../concurrency/environment.ts";
import { type CertifiedKey, covers, isSignedBy, issueServing, makeAuthority, validityOf } from "./certificates.ts";

/** Everything replicas share. */
export interface CertificateState {
  /** Newest first. Callers trust all of them. */
  readonly authorities: readonly CertifiedKey[];
  readonly serving: CertifiedKey;
}

export interface RotationOptions {
  /** Whose webhooks these are; the issuer's name. */
  readonly name: string;
  /** DNS names and IP addresses by which the API server calls us. */
  readonly names: readonly string[];
  /** @default 10 years */
  readonly authorityLifetimeMs?: number;
  /** @default 90 days */
  readonly servingLifetimeMs?: number;
  /** How long a new authority is only trusted before it signs. @default 1 hour */
  readonly settleMs?: number;
}

const day = 86_400_000;

/** The state there should be; the very same value if there is nothing to do. */
export function rotated(
  state: CertificateState | undefined,
  options: RotationOptions,
  environment: Environment,
): CertificateState {
  const now = environment.clock.now();
  const authorities = withFreshAuthority(state?.authorities ?? [], options, environment);
  const signer = signerAmong(authorities, options, now);
  if (state !== undefined && isFine(state.serving, signer, options, now)) {
    return authorities === state.authorities ? state : { authorities, serving: state.serving };
  }
  // Not longer than its authority: the end of the chain is the end of all of it.
  const lifetimeMs = Math.min(options.servingLifetimeMs ?? 90 * day, validityOf(signer.certificate).untilMs - now);
  return { authorities, serving: issueServing(signer, { names: options.names, lifetimeMs }, environment) };
}

function withFreshAuthority(
  stored: readonly CertifiedKey[],
  { name, authorityLifetimeMs = 3650 * day }: RotationOptions,
  environment: Environment,
): readonly CertifiedKey[] {
  const now = environment.clock.now();
  const living = stored.filter(({ certificate }) => validityOf(certificate).untilMs > now);
  const [newest] = living;
  if (newest !== undefined && !isOld(newest, now)) return living.length === stored.length ? stored : living;
  return [makeAuthority({ name, lifetimeMs: authorityLifetimeMs }, environment), ...living];
}

/** The newest authority that everybody has had time to learn of; if none has, the one known for longest. */
function signerAmong(authorities: readonly CertifiedKey[], { settleMs = 3_600_000 }: RotationOptions, now: number): CertifiedKey {
  const settled = authorities.find(({ certificate }) => now - validityOf(certificate).fromMs >= settleMs);
  const signer = settled ?? authorities.at(-1);
  if (signer === undefined) throw new TypeError("expected at least one authority, found none");
  return signer;
}

function isFine(serving: CertifiedKey, signer: CertifiedKey, { names }: RotationOptions, now: number): boolean {
  return !isOld(serving, now) && covers(serving.certificate, names) && isSignedBy(serving.certificate, signer.certificate);
}

/** Past two thirds of its life: time enough is left to fail a few times. */
function isOld({ certificate }: CertifiedKey, now: number): boolean {
  const { fromMs, untilMs } = validityOf(certificate);
  return now >= fromMs + ((untilMs - fromMs) * 2) / 3;
}
