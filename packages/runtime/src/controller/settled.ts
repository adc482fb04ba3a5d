// Is what we want already there? Asked before every write, since a steady world must cost no writes (promise E1), and not
// as easy as it sounds:
//
// - The server fills in defaults: then there is more than we want, which is fine (`isSubset`).
// - The server rewrites values ("1000m" is stored as "1", an empty map is dropped), and a projecting cache leaves things
//   out: then what we want is never there, however often we write. So what came of our last write is remembered, in
//   memory: if it is still so, it is as good as it gets.
// - We may want less than before: everything we want is there, and something of ours too many. So a child carries the hash
//   of what was last wanted of it.
import { createHash } from "node:crypto";
import { isRecord, isSubset } from "../objects/diff.ts";

/** What came of writes that did not come out as they were wanted, by UID. Hashes: objects would be kept alive by it. */
export class Outcomes {
  readonly #hashes = new Map<string, string>();

  /** The same was wanted of the object with this UID, and the same came of it. */
  has(uid: string, wanted: unknown, outcome: unknown): boolean {
    const last = this.#hashes.get(uid);
    return last !== undefined && last === hashOf([wanted, outcome]);
  }

  remember(uid: string, wanted: unknown, outcome: unknown): void {
    this.#hashes.set(uid, hashOf([wanted, outcome]));
  }

  /** The object is gone, or just as it was wanted. */
  forget(uid: string): void {
    this.#hashes.delete(uid);
  }
}

/** Whether children are as they should be. */
export class Settled {
  readonly #outcomes = new Outcomes();

  /** The object with this UID is as wanted, or as near to it as the server lets it be. */
  isSo(uid: string, wanted: unknown, actual: unknown): boolean {
    return isSubset(wanted, actual) || this.#outcomes.has(uid, wanted, sameShape(wanted, actual));
  }

  /** This was written, and that is what the server made of it. */
  remember(uid: string, wanted: unknown, actual: unknown): void {
    if (isSubset(wanted, actual)) this.#outcomes.forget(uid);
    else this.#outcomes.remember(uid, wanted, sameShape(wanted, actual));
  }

  /** The object is gone. */
  forget(uid: string): void {
    this.#outcomes.forget(uid);
  }
}

/** Of a value, the places that the wanted one has something to say about. */
export function sameShape(wanted: unknown, actual: unknown): unknown {
  if (Array.isArray(wanted) && Array.isArray(actual) && wanted.length === actual.length) {
    return wanted.map((item, at) => sameShape(item, actual[at]));
  }
  if (!isRecord(wanted) || !isRecord(actual)) return actual;
  return Object.fromEntries(Object.keys(wanted).map((key) => [key, sameShape(wanted[key], actual[key])]));
}

/** The same for the same JSON, whatever the order of its properties. */
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
