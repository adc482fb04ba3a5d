// A moment, on both clocks. Durations go by the monotonic one; what is written into objects is the wall clock as it stood
// then. It is noted once: if somebody steps the wall clock afterwards, what has happened keeps its time.
import type { Clock } from "@memhog/runtime";

export interface Instant {
  /** On the monotonic clock. */
  readonly ms: number;
  /** Milliseconds since 1970. */
  readonly wall: number;
}

/** The moment at this time of the monotonic clock, which may be a little past: nodes wake up when they can. */
export function instantAt(clock: Pick<Clock, "now" | "monotonic">, ms: number): Instant {
  return { ms, wall: clock.now() - (clock.monotonic() - ms) };
}
