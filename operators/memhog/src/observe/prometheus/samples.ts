// The samples of the last response: a time and a value per sample. Invalid samples are filtered here (M2-M5):
//
//     missing                              not zero: a container without samples has none
//     NaN, ±Inf, negative, too large       dropped and counted
//     in the future                        dropped and counted, with a tolerance of some seconds for clock skew between nodes
//     several series of one container      the maximum per timestamp, never the sum; series with the ID of the running container
//                                          win over series without an ID, which anybody who is scraped can make up
//     of the container before a restart    dropped and counted, by the container ID of the series; if the series has no ID, samples
//                                          older than the container's start
//     of a pod that does not exist         dropped by the caller
//
// The age of a sample is computed from the Date header of the response and then advances with the monotonic clock, so the operator's
// wall clock may be wrong by hours (M5). It is used only if there is no Date header. Then a clock that is ahead makes samples too
// old, and one that is behind puts them into the future; both prevent raises.
import type { Clock } from "@memhog/runtime/concurrency";
import { type Bytes, bytes } from "../../model/bytes.ts";
import type { Metric, Sample } from "../../model/observed-app.ts";

/** Tolerated clock skew. */
const maxClockSkewMs = 10_000;

export interface ContainerKey {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The currently running instance of a container. */
export interface Life {
  /** The container ID (see `shortId`), which changes with each restart. Undefined if unknown. */
  readonly id: string | undefined;
  /** By the clock of its node, with a resolution of a second. */
  readonly startedAtMs: number | undefined;
}

export interface Found {
  /** Oldest first, one per timestamp. */
  readonly samples: readonly Sample[];
  /** Number of dropped samples. */
  readonly bad: number;
}

/** The samples of one instance of a container. */
interface Collected {
  /** The container ID; undefined if the series has none. */
  readonly id: string | undefined;
  /** Alternating times and bytes, sorted by time: [t, b, t, b, …]. A flat array takes less memory than one object per sample. */
  readonly points: readonly number[];
  readonly bad: number;
}

/** A sample in the format of the Prometheus API. */
export type RawPoint = readonly [seconds: number, value: string];

export class SampleStore {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #byMetric: Readonly<Record<Metric, Map<string, readonly Collected[]>>> = { WorkingSet: new Map(), Usage: new Map() };
  /** The time of the response by the clock of Prometheus, and by the monotonic clock of this process. */
  readonly #answeredAtMs: number;
  readonly #answeredMonotonic: number;
  #points = 0;

  /** @param dateMs The Date header of the response. */
  constructor(clock: Pick<Clock, "now" | "monotonic">, dateMs: number | undefined) {
    this.#clock = clock;
    this.#answeredAtMs = dateMs ?? clock.now();
    this.#answeredMonotonic = clock.monotonic();
  }

  /** Number of samples. */
  get size(): number {
    return this.#points;
  }

  has(metric: Metric): boolean {
    return this.#byMetric[metric].size > 0;
  }

  /** Milliseconds since the newest sample was measured; undefined if there is none. */
  get newestAgeMs(): number | undefined {
    let newest = Number.NEGATIVE_INFINITY;
    for (const all of Object.values(this.#byMetric)) {
      for (const { points } of [...all.values()].flat()) newest = Math.max(newest, points.at(-2) ?? newest);
    }
    return Number.isFinite(newest) ? this.#ageMs(newest) : undefined;
  }

  /** @param id The container ID, if the series has one. */
  add(metric: Metric, key: ContainerKey, raw: readonly RawPoint[], id?: string): void {
    const all = this.#byMetric[metric];
    const name = nameOf(key);
    const known = all.get(name) ?? [];
    const same = known.find((each) => each.id === id);
    const { points, bad } = this.#good(raw);
    const merged = same === undefined ? points : merge(same.points, points);
    this.#points += (merged.length - (same?.points.length ?? 0)) / 2;
    const others = known.filter((each) => each !== same);
    all.set(name, [...others, { id, points: merged, bad: bad + (same?.bad ?? 0) }]);
  }

  /** @param life Undefined if the container does not run; then there are no samples. */
  of(metric: Metric, key: ContainerKey, life: Life | undefined): Found {
    const name = nameOf(key);
    const found = this.#byMetric[metric].get(name) ?? (metric === "WorkingSet" ? this.#byMetric.Usage.get(name) : undefined);
    if (found === undefined) return { samples: [], bad: 0 };
    const own = found.filter(({ id, points }) => id !== undefined && id === life?.id && points.length > 0);
    const points = (own.length > 0 ? own : found).map((each) => ownPoints(each, life)).reduce(merge, []);
    const all = found.reduce((sum, each) => sum + each.bad + each.points.length / 2, 0);
    const samples: Sample[] = [];
    for (let at = 0; at < points.length; at += 2)
      samples.push({ bytes: (points[at + 1] ?? 0) as Bytes, ageMs: this.#ageMs(points[at] ?? 0) });
    return { samples, bad: all - samples.length };
  }

  #ageMs(time: number): number {
    const sinceAnswer = this.#clock.monotonic() - this.#answeredMonotonic;
    return Math.max(0, this.#answeredAtMs - time) + sinceAnswer;
  }

  #good(raw: readonly RawPoint[]): Pick<Collected, "points" | "bad"> {
    const points: number[] = [];
    let last = Number.NEGATIVE_INFINITY;
    let bad = 0;
    for (const [seconds, text] of raw) {
      const time = Math.round(Number(seconds) * 1000);
      const value = bytesIn(text);
      const isGood = value !== undefined && time > last && time <= this.#answeredAtMs + maxClockSkewMs;
      if (isGood) points.push(time, value);
      else bad += 1;
      if (isGood) last = time;
    }
    return { points: points.slice(), bad }; // a copy: an array that grew has up to twice the capacity
  }
}

/**
 * The points of the running instance. A series with a container ID is matched by the ID only: kubelets measure a container before its
 * start time, and the trend needs that first sample. Other series are matched by time. The API truncates the start time to seconds, so
 * samples within the second of the start count as those of the previous instance.
 */
function ownPoints({ id, points }: Collected, life: Life | undefined): readonly number[] {
  if (life === undefined) return [];
  if (id !== undefined && life.id !== undefined) return id === life.id ? points : [];
  const since = (life.startedAtMs ?? Number.POSITIVE_INFINITY) + 1000;
  let from = 0;
  while (from < points.length && (points[from] ?? 0) < since) from += 2;
  return points.slice(from);
}

/** The first digits of the container ID in "containerd://5f0c…", "/kubepods/burstable/pod…/5f0c…" or "cri-containerd-5f0c….scope". */
export function shortId(text: string | undefined): string | undefined {
  return /[0-9a-f]{64}/.exec(text ?? "")?.[0].slice(0, 12);
}

function nameOf({ namespace, pod, container }: ContainerKey): string {
  return `${namespace}/${pod}/${container}`;
}

function bytesIn(text: string): Bytes | undefined {
  const value = text === "" ? Number.NaN : Math.round(Number(text));
  return Number.isSafeInteger(value) && value >= 0 ? bytes(value) : undefined;
}

/** Merges two series by time. For equal times the larger value counts. */
function merge(a: readonly number[], b: readonly number[]): readonly number[] {
  if (a.length === 0) return b;
  const merged: number[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [ta, tb] = [a[i] ?? Number.POSITIVE_INFINITY, b[j] ?? Number.POSITIVE_INFINITY];
    const value = Math.max(ta <= tb ? (a[i + 1] ?? 0) : 0, tb <= ta ? (b[j + 1] ?? 0) : 0);
    merged.push(Math.min(ta, tb), value);
    if (ta <= tb) i += 2;
    if (tb <= ta) j += 2;
  }
  return merged;
}
