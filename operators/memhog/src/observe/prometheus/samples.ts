// What the last answer said, kept small: of each container two numbers per sample, its time and its bytes. Everything that makes a
// sample unfit to decide anything is dealt with here (promises M2-M5):
//
//     no data is not zero                  a container without samples has none
//     NaN, ±Inf, negative, absurdly large  dropped and counted
//     from the future                      dropped and counted; a few seconds are forgiven, clocks of nodes differ
//     several series of one container      per timestamp the largest, never the sum
//     of the container before the restart  dropped and counted: its series has another id; where series have none (cAdvisor's
//                                          do), what is older than the container
//     no such pod                          dropped at once: whoever collects says which pods there are
//
// Age. Sample times come from the clocks of nodes and of Prometheus, so they are compared with the Date of Prometheus's answer, and
// from then on our monotonic clock counts: our own wall clock is not asked, and may be wrong by hours. Only where the answer has
// no Date is it asked; then a clock that is fast makes samples old, one that is slow puts them into the future, and both hold.
import type { Clock } from "@memhog/runtime";
import { type Bytes, bytes } from "../../model/bytes.ts";
import type { Metric } from "../../model/policy.ts";
import type { Sample } from "../../model/seen.ts";

/** Clocks that differ by less are taken for the same. */
const forgivenMs = 10_000;

export interface ContainerKey {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The container that runs now. */
export interface Life {
  /** What the runtime calls it (see `shortId`): another one after each restart. Undefined if it is not known. */
  readonly id: string | undefined;
  /** By the clock of its node, to the second. */
  readonly startedAtMs: number | undefined;
}

export interface Found {
  /** Oldest first, one per timestamp. */
  readonly samples: readonly Sample[];
  /** How many were dropped. */
  readonly bad: number;
}

/** What one container, or one of its former lives, was measured at. */
interface Collected {
  /** Of the container that was measured; undefined if the series does not say. */
  readonly id: string | undefined;
  /** Time and bytes in turn, in the order of time: [t, b, t, b, …]. Plain numbers, since one object for each would weigh more. */
  readonly points: readonly number[];
  readonly bad: number;
}

/** Any value as text beside its time in seconds, as Prometheus has it. */
export type RawPoint = readonly [seconds: number, value: string];

export class SampleStore {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #byMetric: Readonly<Record<Metric, Map<string, readonly Collected[]>>> = { WorkingSet: new Map(), Usage: new Map() };
  /** By the clock of Prometheus, when the answer was given; and by ours. */
  readonly #answeredAtMs: number;
  readonly #answeredMonotonic: number;
  #points = 0;

  /** @param dateMs When Prometheus says it answered. */
  constructor(clock: Pick<Clock, "now" | "monotonic">, dateMs: number | undefined) {
    this.#clock = clock;
    this.#answeredAtMs = dateMs ?? clock.now();
    this.#answeredMonotonic = clock.monotonic();
  }

  /** Samples that are kept. */
  get size(): number {
    return this.#points;
  }

  has(metric: Metric): boolean {
    return this.#byMetric[metric].size > 0;
  }

  /** Milliseconds since the newest sample of all was measured; undefined if there is none. */
  get newestAgeMs(): number | undefined {
    let newest = Number.NEGATIVE_INFINITY;
    for (const all of Object.values(this.#byMetric)) {
      for (const { points } of [...all.values()].flat()) newest = Math.max(newest, points.at(-2) ?? newest);
    }
    return Number.isFinite(newest) ? this.#ageMs(newest) : undefined;
  }

  /** @param id Of the container that was measured, if the series says. */
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

  /** @param life Undefined: none runs, so nothing is about it. */
  of(metric: Metric, key: ContainerKey, life: Life | undefined): Found {
    const name = nameOf(key);
    const found = this.#byMetric[metric].get(name) ?? (metric === "WorkingSet" ? this.#byMetric.Usage.get(name) : undefined);
    if (found === undefined) return { samples: [], bad: 0 };
    const points = found.map((each) => ownPoints(each, life)).reduce(merge, []);
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
      const isGood = value !== undefined && time > last && time <= this.#answeredAtMs + forgivenMs;
      if (isGood) points.push(time, value);
      else bad += 1;
      if (isGood) last = time;
    }
    return { points: points.slice(), bad }; // a list that grew has room to spare, twice what is in it; a copy has none
  }
}

/**
 * What is about this life of a container. A series that names its container is believed: nodes measure a container the moment it
 * exists, before it counts as started, and a trend cannot do without that first sample. Any other is told by its time, and since
 * the API cuts off fractions of a second, the second in which a container was started belongs to the one before.
 */
function ownPoints({ id, points }: Collected, life: Life | undefined): readonly number[] {
  if (life === undefined) return [];
  if (id !== undefined && life.id !== undefined) return id === life.id ? points : [];
  const since = (life.startedAtMs ?? Number.POSITIVE_INFINITY) + 1000;
  let from = 0;
  while (from < points.length && (points[from] ?? 0) < since) from += 2;
  return points.slice(from);
}

/** Enough of a container's id to tell it from others: "containerd://5f0c…", "/kubepods/burstable/pod…/5f0c…", "cri-containerd-5f0c….scope". */
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

/** Two series as one: in the order of time; of two values at one time the larger. */
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
