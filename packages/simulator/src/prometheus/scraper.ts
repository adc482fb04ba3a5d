// Scrapes every target at an interval and stores the samples by Prometheus's rules:
//
// - The labels of the target (job, instance, …) are added; a label of the same name in a sample becomes exported_….
// - A sample without a timestamp gets that of the scrape. If it is missing in the next scrape, or the target does not answer, its
//   series ends with a staleness marker.
// - A sample with a timestamp (cAdvisor's) keeps it and gets no staleness marker: queries find it for the whole lookback period.
//   That is how a container that ended long ago can seem to use memory.
// - `up` is 1 or 0.
import type { Environment } from "@memhog/runtime";
import type { Cancel } from "@memhog/runtime/concurrency";
import { type Labels, parseExposition, type Sample } from "./exposition.ts";
import { nameLabel } from "./labels.ts";
import { ended, type Series, type SeriesStore } from "./series-store.ts";

export interface Target {
  /** At least `job` and `instance`. */
  readonly labels: Labels;
  /** Samples, or their text. If it throws or rejects, the target is down. */
  readonly scrape: () => readonly Sample[] | string | Promise<readonly Sample[] | string>;
}

/** Changes the scraped samples before they are stored, to inject faults. */
export type Tamper = (samples: readonly Sample[], target: Target) => readonly Sample[];

export interface ScraperOptions {
  readonly environment: Environment;
  readonly store: SeriesStore;
  /** Called before each round, because targets may change. */
  readonly targets: () => readonly Target[];
  readonly intervalMs: number;
  /** Milliseconds for which samples are kept. */
  readonly retentionMs: number;
  readonly tamper: () => Tamper | undefined;
}

/** The state of a target between two scrapes. */
interface Known {
  /** The time of the last scrape. Later ones are not before it: the real Prometheus waits for a clock that was set back. */
  scrapedAt: number;
  /** The series without timestamps of the last scrape. */
  live: ReadonlySet<Series>;
  /** Series by the labels object of a sample, which is the same for the lifetime of the series. */
  readonly bySample: WeakMap<Labels, Map<string, Series>>;
}

export class Scraper {
  readonly #options: ScraperOptions;
  readonly #known = new Map<string, Known>();
  #cancel: Cancel | undefined;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(options: ScraperOptions) {
    this.#options = options;
  }

  /** The first round starts after one interval. */
  start(): void {
    const { environment, intervalMs } = this.#options;
    this.#cancel = environment.clock.after(intervalMs, () => {
      this.start();
      void this.scrapeAll();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Scrapes all targets once. Never rejects. */
  async scrapeAll(): Promise<void> {
    const { environment, store, retentionMs, targets } = this.#options;
    const now = environment.clock.now();
    for (const target of targets()) await this.#scrape(target, now);
    // Not at every scrape, because it goes through all series.
    if (now - this.#forgotAt < retentionMs / 20) return;
    this.#forgotAt = now;
    store.forget(now - retentionMs);
  }

  async #scrape(target: Target, wallClock: number): Promise<void> {
    const { store } = this.#options;
    const known = this.#knownOf(target);
    const now = Math.max(wallClock, known.scrapedAt);
    known.scrapedAt = now;
    const samples = await this.#ask(target);
    const live = new Set<Series>();
    for (const { name, labels, value, timestampMs } of samples ?? []) {
      const series = this.#seriesOf(target, known, name, labels);
      store.append(series, timestampMs ?? now, value);
      if (timestampMs === undefined) live.add(series);
    }
    for (const series of known.live) if (!live.has(series)) store.append(series, now, ended);
    known.live = live;
    store.append(store.series({ ...target.labels, [nameLabel]: "up" }), now, samples === undefined ? 0 : 1);
  }

  async #ask(target: Target): Promise<readonly Sample[] | undefined> {
    const tamper = this.#options.tamper();
    try {
      const answer = await target.scrape();
      const samples = typeof answer === "string" ? parseExposition(answer) : answer;
      return tamper === undefined ? samples : tamper(samples, target);
    } catch {
      return undefined; // down; `up` is 0
    }
  }

  #seriesOf(target: Target, { bySample }: Known, name: string, labels: Labels): Series {
    const names = bySample.get(labels) ?? new Map<string, Series>();
    const found = names.get(name);
    if (found !== undefined && !found.isForgotten) return found;
    const own = Object.entries(labels).map(([label, value]) => [label in target.labels ? `exported_${label}` : label, value]);
    const series = this.#options.store.series({ ...Object.fromEntries(own), ...target.labels, [nameLabel]: name });
    names.set(name, series);
    bySample.set(labels, names);
    return series;
  }

  #knownOf({ labels }: Target): Known {
    const key = JSON.stringify(labels);
    const known = this.#known.get(key) ?? { scrapedAt: Number.NEGATIVE_INFINITY, live: new Set(), bySample: new WeakMap() };
    this.#known.set(key, known);
    return known;
  }
}
