// All series, each as two columns: timestamps and values. As in Prometheus, a sample is dropped if it is not newer than the last
// one of its series, or an hour older than the newest of all. So after the wall clock is set back nothing is stored until it has
// caught up; after it is set ahead, everything continues.
//
// A staleness marker ends a series: it has no value from then on, instead of its last one for five more minutes.
import type { Labels } from "./exposition.ts";
import { labelKey, labelSet, type Matcher, matches, nameLabel } from "./labels.ts";

/** Staleness markers are kept beside the values, because JavaScript has only one NaN. */
export const ended = Symbol("ended");

/** The out-of-order bound relative to the newest sample of all: half of the head block of the real Prometheus. */
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
  /** The store has dropped this series: later samples belong to a new one. */
  isForgotten = false;
  #times: number[] = [];
  #values: number[] = [];
  /** Times of its staleness markers. */
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

  /** False: the sample is not newer than the last one. */
  append(t: number, v: number | typeof ended): boolean {
    if (t <= this.lastTime) return false;
    if (v === ended) this.#ends.add(t);
    this.#times.push(t);
    this.#values.push(v === ended ? Number.NaN : v);
    return true;
  }

  /** The last sample between these times (inclusive); undefined if there is none or the series is stale. */
  latest(from: number, to: number): Point | undefined {
    const at = this.#after(to) - 1;
    const [t, v] = [this.#times[at], this.#values[at]];
    if (t === undefined || v === undefined || t < from || this.#ends.has(t)) return undefined;
    return { t, v };
  }

  /** All samples between these times (inclusive). */
  between(from: number, to: number): readonly Point[] {
    const points: Point[] = [];
    for (let at = this.#after(from - 1e-6); at < this.#times.length; at += 1) {
      const [t = 0, v = 0] = [this.#times[at], this.#values[at]];
      if (t > to) break;
      if (!this.#ends.has(t)) points.push({ t, v });
    }
    return points;
  }

  /** Drops older samples. */
  forget(before: number): void {
    const count = this.#after(before - 1e-6);
    // Not at every scrape, because moving a column takes time proportional to its length.
    if (count < 64 || count < this.#times.length / 2) return;
    for (const t of this.#times.slice(0, count)) this.#ends.delete(t);
    this.#times = this.#times.slice(count);
    this.#values = this.#values.slice(count);
  }

  /** The index of the first sample after this time. */
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

  /** The series with these labels, including the name; created if it does not exist. */
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

  /** False: the sample is too old. */
  append(series: Series, t: number, v: number | typeof ended): boolean {
    if (t < this.#newest - tooOldMs || !series.append(t, v)) return false;
    this.#newest = Math.max(this.#newest, t);
    return true;
  }

  /** The matching series, ordered by labels. */
  select(matchers: readonly Matcher[]): readonly Series[] {
    const name = matchers.find(({ label, op }) => label === nameLabel && op === "=")?.value;
    const candidates = name === undefined ? this.#byKey.values() : (this.#byName.get(name) ?? []);
    const found = Array.from(candidates).filter(({ labels }) => matchers.every((matcher) => matches(matcher, labels)));
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Drops samples before this time, and series without later samples. */
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
