// The records behind `explain`: the last reconciles of each key, with their triggers, reads, writes and results. Everything is
// bounded: keys, reconciles per key, lines per reconcile, and characters per line (a rejection can be several pages long). A
// reconcile that wrote nothing and ended like the one before is counted, not stored, so an object that is reconciled every few
// seconds still shows its last writes.
import { formatMicroTime } from "../objects/time.ts";

/** One reconcile, or several consecutive ones that wrote nothing and ended alike. */
export interface ReconcileRecord {
  /** When it began, in RFC 3339; for several, when the last one began. */
  readonly at: string;
  /** The triggers: "Pod home/web-0 changed", "resync", "retry 3". */
  readonly because: readonly string[];
  /** Milliseconds from the first trigger to the start of the reconcile. */
  readonly waitedMs: number;
  /** What delayed it after it left the queue: caches that were not synced, or that had not seen its own writes. */
  readonly waitedFor?: readonly ("caches" | "own writes")[];
  readonly tookMs: number;
  /** From the caches and from the server: "Gordon home/a@17", "Pod ×3", "live Pod home/a-0: none". */
  readonly read: readonly string[];
  /** "apply Pod home/a-0 → @18", "delete Pod home/a-1 → API_CONFLICT". */
  readonly wrote: readonly string[];
  /** The lines added by `ctx.note`, and the Events. */
  readonly notes: readonly string[];
  /** "done", "requeues after 60 s: …", "failed: …". */
  readonly ended: string;
  /** The number of consecutive reconciles that this record stands for. */
  readonly times: number;
}

/** A record as stored: times are formatted on read. */
export interface StoredRecord extends Omit<ReconcileRecord, "at"> {
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

export interface HistoryOptions {
  /** The number of keys with records; the least recently reconciled are dropped first. @default 2000 */
  readonly keys?: number;
  /** Records per key. @default 8 */
  readonly perKey?: number;
}

/** The maximum number of lines in one list of one record. */
const maxLines = 24;

/** The maximum number of characters in one line. */
const maxCharacters = 500;

export class History {
  readonly #records = new Map<string, readonly StoredRecord[]>();
  readonly #limits: Required<HistoryOptions>;

  constructor({ keys = 2_000, perKey = 8 }: HistoryOptions = {}) {
    this.#limits = { keys, perKey };
  }

  /** Newest last; empty if there are no records. */
  of(key: string): readonly ReconcileRecord[] {
    const records = this.#records.get(key) ?? [];
    return records.map(({ atMs, ...record }) => {
      const times = { waitedMs: toTenths(record.waitedMs), tookMs: toTenths(record.tookMs) };
      return { at: formatMicroTime(atMs), ...record, ...times };
    });
  }

  /** The keys with records, the most recently reconciled last. */
  keys(): readonly string[] {
    return [...this.#records.keys()];
  }

  add(key: string, record: Omit<StoredRecord, "times">): void {
    const before = this.#records.get(key) ?? [];
    const last = before.at(-1);
    const repeats = last !== undefined && endedAlike(last, record);
    const others = repeats ? before.slice(0, -1) : before;
    const times = repeats ? last.times + 1 : 1;
    const records = [...others, { ...record, because: record.because.map(cut), ended: cut(record.ended), times }];
    this.#records.delete(key); // so that it moves to the end
    this.#records.set(key, records.slice(-this.#limits.perKey));
    if (this.#records.size > this.#limits.keys) this.#dropOldest();
  }

  #dropOldest(): void {
    for (const key of this.#records.keys()) {
      this.#records.delete(key);
      return;
    }
  }
}

/** A list of lines with a maximum length; it counts the lines beyond. Allocates nothing while empty, as most lists are. */
export class Lines {
  #lines: string[] | undefined;
  #more = 0;

  add(line: string): void {
    this.#lines ??= [];
    if (this.#lines.length < maxLines) this.#lines.push(cut(line));
    else this.#more += 1;
  }

  /** Returns a copy without spare capacity, because it is stored for a long time. */
  list(): readonly string[] {
    if (this.#lines === undefined) return noLines;
    return this.#more === 0 ? this.#lines.slice() : [...this.#lines, `… and ${this.#more} more`];
  }
}

const toTenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

const noLines: readonly string[] = Object.freeze([]);

/** Copies through bytes: V8 keeps the whole string in memory for a slice of it. */
function cut(line: string): string {
  return line.length <= maxCharacters ? line : `${Buffer.from(line.slice(0, maxCharacters - 1)).toString()}…`;
}

function endedAlike(a: StoredRecord, b: Omit<StoredRecord, "times">): boolean {
  return a.wrote.length === 0 && b.wrote.length === 0 && a.ended === cut(b.ended) && a.notes.join() === b.notes.join();
}
