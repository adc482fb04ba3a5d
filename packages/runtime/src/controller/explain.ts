// The memory behind "why did it (not) do anything about this object?": the last reconciles of each key, with what set them
// off, what they read and wrote, and how they ended. Everything is bounded: keys, reconciles per key, lines per reconcile,
// characters per line (a server may refuse in pages). A reconcile that went like the one before and wrote nothing is counted,
// not kept, so an object that is looked at every few seconds still shows when and why it last did something.
import { formatMicroTime } from "../objects/time.ts";

/** One reconcile, or several that went the same way. */
export interface ReconcileRecord {
  /** When it began, RFC 3339; of several, the last one. */
  readonly at: string;
  /** What set it off: "Pod home/web-0 changed", "resync", "retry 3". */
  readonly because: readonly string[];
  /** Milliseconds between being queued and being begun, whatever for. */
  readonly waitedMs: number;
  /** What it waited for when its turn had come: for the caches to be right, or to have seen its own writes. */
  readonly waitedFor?: readonly ("caches" | "own writes")[];
  readonly tookMs: number;
  /** From the caches and from the server: "Gordon home/a@17", "Pod ×3", "live Pod home/a-0: none". */
  readonly read: readonly string[];
  /** "apply Pod home/a-0 → @18", "delete Pod home/a-1 → API_CONFLICT". */
  readonly wrote: readonly string[];
  /** What the reconciler noted itself. */
  readonly notes: readonly string[];
  /** "done", "checks again in 60 s: …", "failed: …". */
  readonly ended: string;
  /** How many times it went like this, in a row. */
  readonly times: number;
}

/** As it is kept: times become text when somebody asks. */
export interface KeptRecord extends Omit<ReconcileRecord, "at"> {
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

export interface HistoryOptions {
  /** Keys to remember: the most recently reconciled ones. @default 2000 */
  readonly keys?: number;
  /** Records per key. @default 8 */
  readonly perKey?: number;
}

/** Lines kept of one list in one record. */
const mostLines = 24;

/** Characters kept of one line. */
const mostCharacters = 500;

export class History {
  readonly #records = new Map<string, readonly KeptRecord[]>();
  readonly #limits: Required<HistoryOptions>;

  constructor({ keys = 2_000, perKey = 8 }: HistoryOptions = {}) {
    this.#limits = { keys, perKey };
  }

  /** Newest last; empty if nothing is remembered. */
  of(key: string): readonly ReconcileRecord[] {
    const records = this.#records.get(key) ?? [];
    return records.map(({ atMs, ...record }) => {
      const times = { waitedMs: toTenths(record.waitedMs), tookMs: toTenths(record.tookMs) };
      return { at: formatMicroTime(atMs), ...record, ...times };
    });
  }

  /** The keys that are remembered, the most recently reconciled last. */
  keys(): readonly string[] {
    return [...this.#records.keys()];
  }

  add(key: string, record: Omit<KeptRecord, "times">): void {
    const before = this.#records.get(key) ?? [];
    const last = before.at(-1);
    const repeats = last !== undefined && wentTheSame(last, record);
    const others = repeats ? before.slice(0, -1) : before;
    const times = repeats ? last.times + 1 : 1;
    const records = [...others, { ...record, because: record.because.map(cut), ended: cut(record.ended), times }];
    this.#records.delete(key); // so that it moves to the end
    this.#records.set(key, records.slice(-this.#limits.perKey));
    if (this.#records.size > this.#limits.keys) this.#forgetOldest();
  }

  #forgetOldest(): void {
    for (const key of this.#records.keys()) {
      this.#records.delete(key);
      return;
    }
  }
}

/** A list of lines that ends before it is too long, and says how much is missing. Most lists are empty and stay so. */
export class Lines {
  #lines: string[] | undefined;
  #more = 0;

  add(line: string): void {
    this.#lines ??= [];
    if (this.#lines.length < mostLines) this.#lines.push(cut(line));
    else this.#more += 1;
  }

  /** A copy, with no room to grow: it may be kept for long. */
  list(): readonly string[] {
    if (this.#lines === undefined) return noLines;
    return this.#more === 0 ? this.#lines.slice() : [...this.#lines, `… and ${this.#more} more`];
  }
}

const toTenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

const noLines: readonly string[] = Object.freeze([]);

/** By way of bytes: a part of a string keeps the whole of it in memory. */
function cut(line: string): string {
  return line.length <= mostCharacters ? line : `${Buffer.from(line.slice(0, mostCharacters - 1)).toString()}…`;
}

function wentTheSame(a: KeptRecord, b: Omit<KeptRecord, "times">): boolean {
  return a.wrote.length === 0 && b.wrote.length === 0 && a.ended === cut(b.ended) && a.notes.join() === b.notes.join();
}
