// One cgroup as cAdvisor knows it: labels that stay the same, and memory that was measured some seconds ago. cAdvisor looks
// at each cgroup on its own every 10 to 15 seconds and exposes what it saw together with the time at which it saw it; so
// does this, except that nobody has to look: what would have been seen then can be computed when somebody asks.
import type { Labels, Sample } from "../../prometheus/exposition.ts";
import type { Instant } from "../instant.ts";

export interface CgroupOptions {
  readonly labels: Labels;
  readonly since: Instant;
  /** Milliseconds between two measurements. */
  readonly everyMs: number;
}

export class Cgroup {
  readonly #options: CgroupOptions;
  #samples: readonly Sample[] = [];
  /** By the wall clock as it was then: nobody steps what was measured. */
  #measuredAt: Instant | undefined;
  #limit: number | undefined;

  constructor(options: CgroupOptions) {
    this.#options = options;
  }

  /**
   * What is exposed. Amounts carry the time at which they were measured; what is configured does not.
   *
   * @param now what is measured after a step of the wall clock has the new time
   * @param usage bytes in use at a time of the monotonic clock
   * @param limit bytes; 0 where there is no limit, as cAdvisor has it
   */
  samples(now: Instant, usage: (ms: number) => number, limit: number): readonly Sample[] {
    const { labels, since } = this.#options;
    const ms = since.ms + this.#elapsed(now.ms);
    const isNew = ms !== this.#measuredAt?.ms;
    // Most scrapes come between two measurements: they see the very same samples.
    if (!isNew && limit === this.#limit) return this.#samples;
    const measuredAt = isNew ? { ms, wall: now.wall - (now.ms - ms) } : (this.#measuredAt ?? now);
    this.#measuredAt = measuredAt;
    this.#limit = limit;
    const timestampMs = Math.round(measuredAt.wall);
    const value = usage(ms);
    this.#samples = [
      { name: "container_memory_rss", labels, value, timestampMs },
      { name: "container_memory_usage_bytes", labels, value, timestampMs },
      { name: "container_memory_working_set_bytes", labels, value, timestampMs },
      { name: "container_spec_memory_limit_bytes", labels, value: limit },
      { name: "container_start_time_seconds", labels, value: Math.floor(since.wall / 1_000) },
    ];
    return this.#samples;
  }

  /** It is measured at its beginning, and at every interval since. */
  #elapsed(now: number): number {
    const { since, everyMs } = this.#options;
    return Math.max(0, Math.floor((now - since.ms) / everyMs)) * everyMs;
  }
}

export const help = {
  container_memory_rss: { type: "gauge", help: "Size of RSS in bytes." },
  container_memory_usage_bytes: {
    type: "gauge",
    help: "Current memory usage in bytes, including all memory regardless of when it was accessed",
  },
  container_memory_working_set_bytes: { type: "gauge", help: "Current working set in bytes." },
  container_spec_memory_limit_bytes: { type: "gauge", help: "Memory limit for the container." },
  container_start_time_seconds: { type: "gauge", help: "Start time of the container since unix epoch in seconds." },
} as const;
