// Decides before every write whether the desired state is already there, because a steady state must cost no writes (E1):
//
// - The server adds defaults: then there is more than desired, which is fine (`isSubset`).
// - The server rewrites values ("1000m" is stored as "1", an empty map is dropped), and a projecting cache omits fields: then
//   the object never equals what was written. So the result of the last write is remembered, in memory: while both the desired
//   state and that result are unchanged, there is nothing to write.
// - The desired state can shrink: everything desired is there, plus a field of ours that is no longer desired. So a child
//   carries the hash of what was last applied.
import { createHash } from "node:crypto";
import { differences, isRecord, isSubset, ownValue } from "../objects/diff.ts";

/** The results of writes that the server stored differently, by UID. Keeps only hashes, so that objects can be collected. */
export class WriteResults {
  readonly #hashes = new Map<string, string>();

  /** Whether the last write of the same desired state to this object had this result. */
  has(uid: string, wanted: unknown, result: unknown): boolean {
    const last = this.#hashes.get(uid);
    return last !== undefined && last === hashOf([wanted, result]);
  }

  remember(uid: string, wanted: unknown, result: unknown): void {
    this.#hashes.set(uid, hashOf([wanted, result]));
  }

  /** The object is gone, or exactly as desired. */
  forget(uid: string): void {
    this.#hashes.delete(uid);
  }
}

/** Decides whether children are as desired, and whether they may be written. */
export class AppliedChildren {
  readonly #results = new WriteResults();
  /** The results of the search for foreign fields (apply-exact.ts). */
  readonly exact = new WriteResults();
  readonly rates = new WriteRates();

  /** Whether the object with this UID is as desired, or as close to it as the server allows. */
  isApplied(uid: string, wanted: unknown, actual: unknown): boolean {
    return isSubset(wanted, actual) || this.#results.has(uid, wanted, sameShape(wanted, actual));
  }

  /** `wanted` was written, and the server stored `actual`. */
  remember(uid: string, wanted: unknown, actual: unknown): void {
    if (isSubset(wanted, actual)) this.#results.forget(uid);
    else this.#results.remember(uid, wanted, sameShape(wanted, actual));
  }

  /** The object is gone. */
  forget(uid: string): void {
    this.#results.forget(uid);
    this.exact.forget(uid);
  }
}

/** Where an object differs from what is desired of it, as JSON paths. Without values, which may be secret. */
export function changedPaths(wanted: unknown, actual: unknown): readonly string[] {
  return differences(sameShape(wanted, actual), wanted, 5).map(({ path }) => path);
}

/**
 * How often a child may be written. A child whose desired state has a random part is written by every reconcile, and every
 * write triggers the next one: thousands per second. The same happens if another writer reverts ours.
 *
 *     writes at once    20, then one every 10 s
 */
export class WriteRates {
  /** By name, not by UID: a child that is replaced again and again has another UID each time. */
  readonly #written = new Map<string, { readonly tokens: number; readonly asOfMs: number }>();
  /** The size at which children that were not written for a while are removed from the map. */
  #sweepAt = 64;

  /** Takes a write. Returns 0, or the milliseconds until the next one is allowed. */
  take(child: string, nowMs: number): number {
    const tokens = this.#tokensOf(child, nowMs);
    const waitMs = tokens >= 1 ? 0 : Math.ceil((1 - tokens) * refillMs);
    this.#written.set(child, { tokens: waitMs === 0 ? tokens - 1 : tokens, asOfMs: nowMs });
    if (this.#written.size > this.#sweepAt) this.#sweep(nowMs);
    return waitMs;
  }

  #tokensOf(child: string, nowMs: number): number {
    const last = this.#written.get(child);
    return last === undefined ? burst : Math.min(burst, last.tokens + (nowMs - last.asOfMs) / refillMs);
  }

  #sweep(nowMs: number): void {
    for (const child of this.#written.keys()) if (this.#tokensOf(child, nowMs) >= burst) this.#written.delete(child);
    this.#sweepAt = Math.max(64, 2 * this.#written.size);
  }
}

const burst = 20;
const refillMs = 10_000;

/** The part of a value that the desired one specifies. */
export function sameShape(wanted: unknown, actual: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(actual) && wanted.length === actual.length) {
    return wanted.map((item, at) => sameShape(item, actual[at]));
  }
  if (!isRecord(wanted) || !isRecord(actual)) return actual;
  return Object.fromEntries(Object.keys(wanted).map((key) => [key, sameShape(wanted[key], ownValue(actual, key))]));
}

/** Equal for equal JSON, whatever the order of its properties. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex").slice(0, 16);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join()}}`;
}
