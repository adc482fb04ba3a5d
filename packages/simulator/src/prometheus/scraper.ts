// Asks every target at an interval and keeps what it says, with Prometheus's rules about what is kept:
//
// - The target's own labels (job, instance, …) are added; a label of the same name in a sample becomes exported_….
// - A sample without a time gets that of the scrape, and when it is not there the next time, its series ends: a mark says
//   so at once. So does a target that does not answer.
// - A sample with a time of its own (cAdvisor's) keeps it. Nobody marks its end: it is simply not renewed, and a query
//   still finds it for as long as it looks back. That is how a container that is long dead can seem to use memory.
// - `up` is 1 or 0.
import type { Cancel, Environment } from "@memhog/runtime";
import { type Labels, parseExposition, type Sample } from "./exposition.ts";
import { nameLabel } from "./labels.ts";
import { ended, type Series, type SeriesStore } from "./series-store.ts";

export interface Target {
  /** `job` and `instance` at least. */
  readonly labels: Labels;
  /** Samples, or the text of them. Throwing, and rejecting, means that the target is down. */
  readonly scrape: () => readonly Sample[] | string | Promise<readonly Sample[] | string>;
}

/** May change what a target said before it is kept: how tests tell lies. */
export type Tamper = (samples: readonly Sample[], target: Target) => readonly Sample[];

export interface ScraperOptions {
  readonly environment: Environment;
  readonly store: SeriesStore;
  /** Asked before each round, so targets may come and go. */
  readonly targets: () => readonly Target[];
  readonly intervalMs: number;
  /** Milliseconds for which samples are kept. */
  readonly retentionMs: number;
  readonly tamper: () => Tamper | undefined;
}

/** What is remembered of a target between two scrapes. */
interface Known {
  /** The time of the last scrape, which no later one is before: the real one waits for a wall clock that was set back. */
  scrapedAt: number;
  /** Those without a time of their own, as of the last scrape. */
  live: ReadonlySet<Series>;
  /** Series by the labels object of a sample, which stays the same for as long as the series does. */
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

  /** The first round comes after one interval. */
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

  /** One round. Never rejects. */
  async scrapeAll(): Promise<void> {
    const { environment, store, retentionMs, targets } = this.#options;
    const now = environment.clock.now();
    for (const target of targets()) await this.#scrape(target, now);
    // Looking through everything at every scrape would cost more than what is gained by it.
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
      return undefined; // down, and `up` says so
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
