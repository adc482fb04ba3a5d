// One cgroup as cAdvisor knows it: labels that stay the same, and memory that was measured some seconds ago. cAdvisor looks
// at each cgroup on its own every 10 to 15 seconds and exposes what it saw together with the time at which it saw it; so
// does this, except that nobody has to look: what would have been seen then can be computed when somebody asks.
import type { Labels, Sample } from "../../prometheus/exposition.ts";
import type { Instant } from "../instant.ts";

export interface Cgroup {
  readonly labels: Labels;
  readonly since: Instant;
  /** Milliseconds between two measurements. */
  readonly everyMs: number;
  /** Bytes in use at this time of the monotonic clock. */
  readonly usage: (ms: number) => number;
  /** Bytes; 0 where there is no limit, as cAdvisor has it. */
  readonly limit: number;
}

/** When a cgroup was last measured: at its beginning, and at every interval since. */
export function measuredAt({ since, everyMs }: Pick<Cgroup, "since" | "everyMs">, now: number): Instant {
  const rounds = Math.max(0, Math.floor((now - since.ms) / everyMs));
  const elapsed = rounds * everyMs;
  return { ms: since.ms + elapsed, wall: since.wall + elapsed };
}

/** What is exposed about a cgroup. Amounts carry the time at which they were measured; what is configured does not. */
export function samplesOf(cgroup: Cgroup, now: number): readonly Sample[] {
  const { labels, since, usage, limit } = cgroup;
  const measured = measuredAt(cgroup, now);
  const timestampMs = Math.round(measured.wall);
  const bytes = usage(measured.ms);
  return [
    { name: "container_memory_rss", labels, value: bytes, timestampMs },
    { name: "container_memory_usage_bytes", labels, value: bytes, timestampMs },
    { name: "container_memory_working_set_bytes", labels, value: bytes, timestampMs },
    { name: "container_spec_memory_limit_bytes", labels, value: limit },
    { name: "container_start_time_seconds", labels, value: Math.floor(since.wall / 1_000) },
  ];
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
