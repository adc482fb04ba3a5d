// What the last answer said, kept small: of each container two numbers per sample, its time and its bytes. Everything that makes a
// sample unfit to decide anything is dealt with here (promises M2-M5):
//
//     no data is not zero                  a container without samples has none
//     NaN, ±Inf, negative, absurdly large  dropped and counted
//     from the future                      dropped and counted; a few seconds are forgiven, clocks of nodes differ
//     several series of one container      per timestamp the largest, never the sum
//     older than the container             dropped and counted: it is the series of the one before the restart
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

export interface Found {
  /** Oldest first, one per timestamp. */
  readonly samples: readonly Sample[];
  /** How many were dropped. */
  readonly bad: number;
}

/** Time and bytes in turn, in the order of time: [t, b, t, b, …]. Plain numbers, since one array object for each would weigh more. */
interface Collected {
  points: number[];
  bad: number;
}

/** Any value as text beside its time in seconds, as Prometheus has it. */
export type RawPoint = readonly [seconds: number, value: string];

const nothing: Found = { samples: [], bad: 0 };

export class SampleStore {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #byMetric: Readonly<Record<Metric, Map<string, Collected>>> = { WorkingSet: new Map(), Usage: new Map() };
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
    const times = Object.values(this.#byMetric).flatMap((all) => [...all.values()].map(({ points }) => points.at(-2) ?? 0));
    return times.length === 0 ? undefined : this.#ageMs(times.reduce((a, b) => Math.max(a, b), 0));
  }

  add(metric: Metric, key: ContainerKey, raw: readonly RawPoint[]): void {
    const all = this.#byMetric[metric];
    const name = nameOf(key);
    const known = all.get(name) ?? { points: [], bad: 0 };
    const { points, bad } = this.#good(raw);
    const merged = known.points.length === 0 ? points : merge(known.points, points);
    this.#points += (merged.length - known.points.length) / 2;
    all.set(name, { points: merged, bad: known.bad + bad });
  }

  /** @param startedAtMs When the container that runs now was started, to the second; undefined: none does, so nothing is about it. */
  of(metric: Metric, key: ContainerKey, startedAtMs: number | undefined): Found {
    const name = nameOf(key);
    const found = this.#byMetric[metric].get(name) ?? (metric === "WorkingSet" ? this.#byMetric.Usage.get(name) : undefined);
    if (found === undefined) return nothing;
    const { points, bad } = found;
    if (startedAtMs === undefined) return { samples: [], bad: bad + points.length / 2 };
    const samples: Sample[] = [];
    for (let at = 0; at < points.length; at += 2) {
      const time = points[at] ?? 0;
      // The API cuts off fractions of a second: within that second the sample may still be of the one before.
      if (time >= startedAtMs + 1000) samples.push({ bytes: (points[at + 1] ?? 0) as Bytes, ageMs: this.#ageMs(time) });
    }
    return { samples, bad: bad + points.length / 2 - samples.length };
  }

  #ageMs(time: number): number {
    const sinceAnswer = this.#clock.monotonic() - this.#answeredMonotonic;
    return Math.max(0, this.#answeredAtMs - time) + sinceAnswer;
  }

  #good(raw: readonly RawPoint[]): Collected {
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
    return { points, bad };
  }
}

function nameOf({ namespace, pod, container }: ContainerKey): string {
  return `${namespace}/${pod}/${container}`;
}

function bytesIn(text: string): Bytes | undefined {
  const value = text === "" ? Number.NaN : Math.round(Number(text));
  return Number.isSafeInteger(value) && value >= 0 ? bytes(value) : undefined;
}

/** Two series as one: in the order of time; of two values at one time the larger. */
function merge(a: readonly number[], b: readonly number[]): number[] {
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
