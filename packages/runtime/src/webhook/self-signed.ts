// Self-signed certificates, renewed while the operator runs. Replicas share them through a Secret: each replica polls it and
// renews what is due with a compare-and-swap write. If two write at the same time, one wins and the other uses its result.
import type { Client } from "../client/client.ts";
import { AlreadyExistsError, ConflictError } from "../client/errors.ts";
import { Backoff, jittered } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import { Secret } from "../objects/kinds/core.ts";
import type { ObjectRef, Stored } from "../objects/object.ts";
import {
  belongTogether,
  type CertificateSource,
  type CertifiedKey,
  covers,
  isSignedBy,
  issueServing,
  makeAuthority,
  type ServingCertificate,
  validityOf,
} from "./certificates.ts";

export interface SelfMadeCertificatesOptions extends RotationOptions {
  /** The Secret that replicas share, and a client with access to it. @default none: kept in the memory of this process */
  readonly shared?: { readonly client: Pick<Client, "find" | "create" | "update">; readonly secret: ObjectRef };
  /** Polling interval in milliseconds. @default 60 s */
  readonly everyMs?: number;
  readonly environment: Environment;
  /** Called when a poll failed; the previous certificate stays in use until the next poll. */
  readonly onProblem?: (error: unknown) => void;
}

/** Stores the certificates between polls. */
export interface CertificateStore {
  read(signal: AbortSignal): Promise<Kept | undefined>;
  /** Replaces the state that was read, or creates it. @throws ConflictError, AlreadyExistsError after a concurrent write */
  write(state: CertificateState, instead: Kept | undefined, signal: AbortSignal): Promise<void>;
}

export interface Kept {
  /** Undefined if the stored data is invalid. */
  readonly state: CertificateState | undefined;
  readonly version: string;
}

/** Yields certificates signed by an authority of this operator, for callers that trust it through caBundle. */
export function selfSignedCertificates(options: SelfMadeCertificatesOptions): CertificateSource {
  const { environment, shared, everyMs = 60_000 } = options;
  const store = shared === undefined ? memoryStore() : secretStore(shared.client, shared.secret, options.name);
  return async function* (signal) {
    const backoff = new Backoff({ initialMs: 500, maxMs: everyMs, jitter: 0.5 }, environment);
    let last: CertificateState | undefined;
    while (!signal.aborted) {
      const found = await settle(store, last, options, signal).catch((error: unknown) => problem(error, options, signal));
      const shown = last;
      last = found ?? last;
      if (found !== undefined && !same(shownOf(found), shown && shownOf(shown))) yield shownOf(found);
      if (found !== undefined) backoff.reset();
      const waitMs = found === undefined ? backoff.next() : jittered(everyMs, 0.1, environment.random);
      await environment.clock.sleep(waitMs, signal).catch(() => {}); // the loop condition handles the abort
    }
  };
}

/**
 * Reads the state, renews what is due, and returns the result. Retries after write conflicts a limited number of times. If the
 * Secret was deleted, restores the last known state: a new authority would make calls to each replica fail until all replicas
 * and the API server have it. To force new certificates (a leaked key), delete the Secret while no replica runs.
 */
async function settle(
  store: CertificateStore,
  last: CertificateState | undefined,
  options: SelfMadeCertificatesOptions,
  signal: AbortSignal,
): Promise<CertificateState> {
  for (let lost = 0; ; lost += 1) {
    const kept = await store.read(signal);
    const state = await rotated(kept?.state ?? last, options, options.environment);
    if (state === kept?.state) return state;
    try {
      await store.write(state, kept, signal);
      return state;
    } catch (error) {
      const somebodyWasFirst = error instanceof ConflictError || error instanceof AlreadyExistsError;
      if (!somebodyWasFirst || lost === 5) throw error;
    }
  }
}

function problem(error: unknown, { onProblem }: SelfMadeCertificatesOptions, signal: AbortSignal): undefined {
  if (!signal.aborted) onProblem?.(error);
}

function shownOf({ authorities, serving }: CertificateState): ServingCertificate {
  return { ...serving, trust: authorities.map(({ certificate }) => certificate).join("") };
}

function same(a: ServingCertificate, b: ServingCertificate | undefined): boolean {
  return a.certificate === b?.certificate && a.key === b.key && a.trust === b.trust;
}

function memoryStore(): CertificateStore {
  let kept: Kept | undefined;
  return {
    read: async () => kept,
    write: async (state) => {
      kept = { state, version: "" };
    },
  };
}

// Rotation: a pure function of the stored state and the time. Replicas that run it on the same state reach the same result, and
// the first write wins.
//
// An authority is replaced long before it expires, and in two steps, so that no request fails in between:
//
//     age of the old authority   stored authorities   serving certificate signed by
//     0                          old                  old
//     2/3 of its lifetime        new, old             old    ← callers start to trust both
//     + settle time              new, old             new    ← every caller trusts the new one
//     at its expiry              new                  new

/** The state that replicas share. */
export interface CertificateState {
  /** Newest first. Callers trust all of them. */
  readonly authorities: readonly CertifiedKey[];
  readonly serving: CertifiedKey;
}

export interface RotationOptions {
  /** Name of the operator; used for the issuer. */
  readonly name: string;
  /** DNS names and IP addresses at which the API server calls the webhooks. */
  readonly names: readonly string[];
  /** @default 10 years */
  readonly authorityLifetimeMs?: number;
  /** @default 90 days */
  readonly servingLifetimeMs?: number;
  /** How long a new authority is trusted before it signs. @default 1 hour */
  readonly settleMs?: number;
}

const day = 86_400_000;

/** Returns the desired state; the same value if nothing is due. */
export async function rotated(
  state: CertificateState | undefined,
  options: RotationOptions,
  environment: Environment,
): Promise<CertificateState> {
  const now = environment.clock.now();
  const authorities = await withFreshAuthority(state?.authorities ?? [], options, environment);
  const signer = signerAmong(authorities, options, now);
  if (state !== undefined && isFine(state.serving, signer, options, now)) {
    return authorities === state.authorities ? state : { authorities, serving: state.serving };
  }
  // A certificate must not outlive its authority: the chain is invalid once the authority expires.
  const lifetimeMs = Math.min(options.servingLifetimeMs ?? 90 * day, validityOf(signer.certificate).untilMs - now);
  return { authorities, serving: await issueServing(signer, { names: options.names, lifetimeMs }, environment) };
}

async function withFreshAuthority(
  stored: readonly CertifiedKey[],
  { name, authorityLifetimeMs = 3650 * day }: RotationOptions,
  environment: Environment,
): Promise<readonly CertifiedKey[]> {
  const now = environment.clock.now();
  const living = stored.filter(({ certificate }) => validityOf(certificate).untilMs > now);
  const [newest] = living;
  if (newest !== undefined && !isOld(newest, now)) return living.length === stored.length ? stored : living;
  return [await makeAuthority({ name, lifetimeMs: authorityLifetimeMs }, environment), ...living];
}

/** The newest authority whose settle time has passed; if there is none, the oldest. */
function signerAmong(authorities: readonly CertifiedKey[], { settleMs = 3_600_000 }: RotationOptions, now: number): CertifiedKey {
  const settled = authorities.find(({ certificate }) => now - validityOf(certificate).fromMs >= settleMs);
  const signer = settled ?? authorities.at(-1);
  if (signer === undefined) throw new TypeError("expected at least one authority, found none");
  return signer;
}

function isFine(serving: CertifiedKey, signer: CertifiedKey, { names }: RotationOptions, now: number): boolean {
  return !isOld(serving, now) && covers(serving.certificate, names) && isSignedBy(serving.certificate, signer.certificate);
}

/** Past two thirds of its lifetime, which leaves time for retries. */
function isOld({ certificate }: CertifiedKey, now: number): boolean {
  const { fromMs, untilMs } = validityOf(certificate);
  return now >= fromMs + ((untilMs - fromMs) * 2) / 3;
}

/**
 * Stores certificates in a Secret of type kubernetes.io/tls: tls.crt and tls.key are the serving certificate, ca.crt holds the
 * trusted authorities, ca.key their keys in the same order. `owner` becomes the managed-by label.
 */
export function secretStore(client: Pick<Client, "find" | "create" | "update">, ref: ObjectRef, owner: string): CertificateStore {
  let lastRead: Stored<Secret> | undefined;
  return {
    async read(signal) {
      lastRead = await client.find(Secret, ref, { signal });
      return lastRead && { state: stateIn(lastRead.data ?? {}), version: lastRead.metadata.resourceVersion };
    },
    async write(state, instead, signal) {
      const data = dataOf(state);
      if (instead === undefined || lastRead === undefined) {
        const labels = { "app.kubernetes.io/managed-by": owner };
        await client.create(Secret, { metadata: { ...ref, labels }, type: "kubernetes.io/tls", data }, { signal });
      } else {
        // The update carries the resourceVersion that was read, so it never overwrites newer certificates.
        await client.update(Secret, { ...lastRead, data: { ...lastRead.data, ...data } }, { signal });
      }
    },
  };
}

function dataOf({ authorities, serving }: CertificateState): Readonly<Record<string, string>> {
  const plain = {
    "tls.crt": serving.certificate,
    "tls.key": serving.key,
    "ca.crt": authorities.map(({ certificate }) => certificate).join(""),
    "ca.key": authorities.map(({ key }) => key).join(""),
  };
  return Object.fromEntries(Object.entries(plain).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
}

/**
 * Undefined if the data is not valid, for example after an edit or a partial restore; then it is created again. With a serving key
 * that does not match its certificate the server could not start; with such an authority key nothing it signs would be trusted.
 */
function stateIn(data: Readonly<Record<string, string>>): CertificateState | undefined {
  const text = (name: string) => Buffer.from(data[name] ?? "", "base64").toString("utf8");
  const keys = pemBlocks(text("ca.key"));
  const authorities = pemBlocks(text("ca.crt")).map((certificate, i) => ({ certificate, key: keys[i] ?? "" }));
  const serving = { certificate: text("tls.crt"), key: text("tls.key") };
  return authorities.length > 0 && [serving, ...authorities].every(belongTogether) ? { authorities, serving } : undefined;
}

const pemBlocks = (text: string): readonly string[] => text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n?/g) ?? [];
