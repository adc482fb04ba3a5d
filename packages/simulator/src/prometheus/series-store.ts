// Every series that was ever scraped, as far back as is remembered. A series is two columns of numbers, times and values,
// in order of time; what comes too late is not taken, as Prometheus does: nothing that is not later than the last of its
// series, and nothing that is an hour older than the newest of all. So after the wall clock was set back there is nothing new
// until it has caught up, and after it was set ahead all goes on.
//
// A series that has come to an end says so by a last sample that is no number but a mark: from then on it has no value,
// instead of its last one for another five minutes.
import type { Labels } from "./exposition.ts";
import { labelKey, labelSet, nameLabel } from "./labels.ts";
import { type Matcher, matches } from "./matcher.ts";

/** Where the mark of an end stands among values. JavaScript knows one NaN, so it is kept beside them. */
export const ended = Symbol("ended");

/** How much older than the newest sample of all another may be: half of what the real one keeps in its head. */
const tooOldMs = 3_600_000;

export interface Point {
  /** Milliseconds since 1970. */
  readonly t: number;
  readonly v: number;
}

export class Series {
  readonly labels: Labels;
  /** @see labelKey */
  readonly key: string;
  /** The store has let go of it: what comes later belongs to another. */
  isForgotten = false;
  #times: number[] = [];
  #values: number[] = [];
  /** Times at which it came to an end. */
  readonly #ends = new Set<number>();

  constructor(labels: Labels, key: string) {
    this.labels = labels;
    this.key = key;
  }

  /** The time of its last sample; -Infinity if it has none. */
  get lastTime(): number {
    return this.#times.at(-1) ?? Number.NEGATIVE_INFINITY;
  }

  get isEmpty(): boolean {
    return this.#times.length === 0;
  }

  get size(): number {
    return this.#times.length;
  }

  /** False: it is not later than what is there. */
  append(t: number, v: number | typeof ended): boolean {
    if (t <= this.lastTime) return false;
    if (v === ended) this.#ends.add(t);
    this.#times.push(t);
    this.#values.push(v === ended ? Number.NaN : v);
    return true;
  }

  /** The last sample between these times, both included; undefined if there is none, or the series had ended. */
  latest(from: number, to: number): Point | undefined {
    const at = this.#after(to) - 1;
    const [t, v] = [this.#times[at], this.#values[at]];
    if (t === undefined || v === undefined || t < from || this.#ends.has(t)) return undefined;
    return { t, v };
  }

  /** All samples between these times, both included. */
  between(from: number, to: number): readonly Point[] {
    const points: Point[] = [];
    for (let at = this.#after(from - 1e-6); at < this.#times.length; at += 1) {
      const [t = 0, v = 0] = [this.#times[at], this.#values[at]];
      if (t > to) break;
      if (!this.#ends.has(t)) points.push({ t, v });
    }
    return points;
  }

  /** Lets go of what is older. */
  forget(before: number): void {
    const count = this.#after(before - 1e-6);
    // Not at every scrape: moving a column costs as much as it is long.
    if (count < 64 || count < this.#times.length / 2) return;
    for (const t of this.#times.slice(0, count)) this.#ends.delete(t);
    this.#times = this.#times.slice(count);
    this.#values = this.#values.slice(count);
  }

  /** Where the samples after this time begin. */
  #after(time: number): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? 0) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class SeriesStore {
  readonly #byKey = new Map<string, Series>();
  readonly #byName = new Map<string, Set<Series>>();
  #newest = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#byKey.size;
  }

  /** The series of these labels, name included; a new one if it is not known. */
  series(labels: Labels): Series {
    const key = labelKey(labels);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const series = new Series(Object.freeze(labelSet(labels)), key);
    this.#byKey.set(key, series);
    const name = labels[nameLabel] ?? "";
    const family = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, family.add(series));
    return series;
  }

  /** False: it comes too late. */
  append(series: Series, t: number, v: number | typeof ended): boolean {
    if (t < this.#newest - tooOldMs || !series.append(t, v)) return false;
    this.#newest = Math.max(this.#newest, t);
    return true;
  }

  /** Those that match, in the order of their labels. */
  select(matchers: readonly Matcher[]): readonly Series[] {
    const name = matchers.find(({ label, op }) => label === nameLabel && op === "=")?.value;
    const candidates = name === undefined ? this.#byKey.values() : (this.#byName.get(name) ?? []);
    const found = Array.from(candidates).filter(({ labels }) => matchers.every((matcher) => matches(matcher, labels)));
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Lets go of samples before this time, and of series that have nothing later. */
  forget(before: number): void {
    for (const [key, series] of this.#byKey) {
      series.forget(before);
      if (series.lastTime >= before) continue;
      series.isForgotten = true;
      this.#byKey.delete(key);
      this.#byName.get(series.labels[nameLabel] ?? "")?.delete(series);
    }
  }
}
