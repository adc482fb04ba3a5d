// Certificates of our own making, renewed for as long as the operator runs. Replicas share them through a Secret: all
// of them look at it now and then, whoever finds something to renew writes it, and a write is a compare-and-swap, so of
// two who try at once one wins and the other takes what the winner wrote.
import type { Client } from "../client/client.ts";
import { AlreadyExistsError, ConflictError } from "../client/errors.ts";
import { Backoff, jittered } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import type { ObjectRef } from "../objects/object.ts";
import type { CertificateSource, ServingCertificate } from "./certificate-source.ts";
import { type CertificateState, type RotationOptions, rotated } from "./rotation.ts";
import { secretStore } from "./secret-store.ts";

export interface SelfMadeCertificatesOptions extends RotationOptions {
  /** The Secret that replicas share, and who may read and write it. @default none: this process keeps them to itself */
  readonly shared?: { readonly client: Pick<Client, "find" | "create" | "update">; readonly secret: ObjectRef };
  /** Milliseconds between two looks. @default 60 s */
  readonly everyMs?: number;
  readonly environment: Environment;
  /** Told when a look failed; what was there before stays in use and the next look comes. */
  readonly onProblem?: (error: unknown) => void;
}

/** Where the state is kept between looks. */
export interface CertificateStore {
  read(signal: AbortSignal): Promise<Kept | undefined>;
  /** Replaces what was read, or creates. @throws ConflictError, AlreadyExistsError if somebody else was first */
  write(state: CertificateState, instead: Kept | undefined, signal: AbortSignal): Promise<void>;
}

export interface Kept {
  /** Undefined if what is kept there makes no sense. */
  readonly state: CertificateState | undefined;
  readonly version: string;
}

/** Certificates signed by an authority of our own, for callers that are told to trust it (caBundle). */
export function selfMadeCertificates(options: SelfMadeCertificatesOptions): CertificateSource {
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
      await environment.clock.sleep(waitMs, signal).catch(() => {}); // the loop's condition sees the abort
    }
  };
}

/**
 * Reads, renews what is due, and says what there is now. Loses races gladly, but not for ever. What is gone from the store is put
 * back as we last knew it: with an authority made anew, each replica would be refused until all have it and the API server, too.
 * Whoever wants new ones (a key got out) deletes the Secret while no replica runs.
 */
async function settle(
  store: CertificateStore,
  last: CertificateState | undefined,
  options: SelfMadeCertificatesOptions,
  signal: AbortSignal,
): Promise<CertificateState> {
  for (let lost = 0; ; lost += 1) {
    const kept = await store.read(signal);
    const state = rotated(kept?.state ?? last, options, options.environment);
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
