// One run of a container, from start to end. Its program (program.ts) defines all of it in advance, except that it may be stopped
// or get another limit. So it knows when its next change is due.
import type { Clock } from "@memhog/runtime/concurrency";
import type { Container } from "@memhog/runtime/kinds";
import { crossingAfter, usageAt } from "./memory-model.ts";
import { type ProbeResult, probeResults, resultAt } from "./probes.ts";
import type { Program } from "./program.ts";

/** How a run ended. */
export interface Ended {
  readonly containerId: string;
  readonly startedAt: Instant;
  readonly finishedAt: Instant;
  readonly exitCode: number;
  readonly reason: "Completed" | "Error" | "OOMKilled" | "Unknown";
}

/** A future change, at a time of the monotonic clock. */
export type Fate =
  | { readonly at: number; readonly kind: "ends"; readonly exitCode: number; readonly reason: Ended["reason"] }
  | { readonly at: number; readonly kind: "fails"; readonly probe: "startup" | "liveness" }
  /** A change of started or ready. */
  | { readonly at: number; readonly kind: "changes"; readonly unready: boolean }
  /** The end of the lookahead for memory: look further. */
  | { readonly at: number; readonly kind: "look again" };

/** The lookahead for memory, because models may be infinite. */
const horizonMs = 3_600_000;

interface Birth {
  readonly containerId: string;
  readonly spec: Container;
  readonly program: Program;
  readonly startedAt: Instant;
  /** Bytes; Infinity without a limit. */
  readonly memoryLimit: number;
}

export class Life {
  readonly containerId: string;
  readonly startedAt: Instant;
  readonly #program: Program;
  /** When the container counts as started; undefined: never. The other probes begin afterwards. */
  readonly #startedAfterMs: number | undefined;
  readonly #readiness: readonly ProbeResult[] | undefined;
  readonly #failures: readonly Fate[];
  #death: Fate;
  #stop: { readonly endsAt: number; readonly exitCode: number } | undefined;

  constructor({ containerId, spec, program, startedAt, memoryLimit }: Birth) {
    this.containerId = containerId;
    this.startedAt = startedAt;
    this.#program = program;
    const startup = spec.startupProbe && probeResults({ probe: spec.startupProbe, answers: program.started });
    this.#startedAfterMs = startup === undefined ? 0 : startup.find(({ ok }) => ok)?.atMs;
    const fromMs = this.#startedAfterMs ?? Number.POSITIVE_INFINITY;
    const probed = (probe: Container["readinessProbe"], answers: Program["ready"], initially: boolean) =>
      probe && Number.isFinite(fromMs) ? probeResults({ probe, answers, fromMs, initially }) : undefined;
    this.#readiness = probed(spec.readinessProbe, program.ready, false);
    this.#failures = [
      ...this.#failure("startup", startup?.[0]),
      ...this.#failure(
        "liveness",
        probed(spec.livenessProbe, program.live, true)?.find(({ ok }) => !ok),
      ),
    ];
    this.#death = this.#foresee(memoryLimit, startedAt.ms);
  }

  isStarted(now: number): boolean {
    return this.#startedAfterMs !== undefined && now - this.startedAt.ms >= this.#startedAfterMs;
  }

  isReady(now: number): boolean {
    if (!this.isStarted(now)) return false;
    return this.#readiness === undefined || resultAt(this.#readiness, now - this.startedAt.ms, false);
  }

  get isStopping(): boolean {
    return this.#stop !== undefined;
  }

  /** Bytes in use. */
  usage(now: number): number {
    return usageAt(this.#program.memory, Math.max(0, now - this.startedAt.ms));
  }

  /** Sets the limit from now on. Also called with the same limit to look further ahead. */
  limit(memoryLimit: number, now: number): void {
    this.#death = this.#foresee(memoryLimit, now);
  }

  /** SIGTERM after `preStopMs`, which counts toward the grace period, then SIGKILL at its end. A later call may shorten it. */
  stop({ now, graceMs, preStopMs = 0 }: { readonly now: number; readonly graceMs: number; readonly preStopMs?: number }): void {
    const killedAt = now + graceMs;
    const { stop } = this.#program;
    const stopsAt = stop === undefined ? Number.POSITIVE_INFINITY : now + preStopMs + stop.afterMs;
    const inTime = stop !== undefined && stopsAt <= killedAt;
    const next = inTime ? { endsAt: stopsAt, exitCode: stop.exitCode } : { endsAt: killedAt, exitCode: 137 };
    if (this.#stop === undefined || next.endsAt < this.#stop.endsAt) this.#stop = next;
  }

  /** The next change after `since`. */
  next(since: number): Fate {
    // A container that is being stopped is not probed.
    const fates = this.isStopping ? [this.#death, this.#stopping()] : [this.#death, ...this.#failures, this.#change(since)];
    return fates.filter((fate) => fate !== undefined).reduce((a, b) => (b.at < a.at ? b : a));
  }

  end(finishedAt: Instant, exitCode: number, reason: Ended["reason"]): Ended {
    return { containerId: this.containerId, startedAt: this.startedAt, finishedAt, exitCode, reason };
  }

  /** The end by itself or by OOM kill, whichever comes first. */
  #foresee(memoryLimit: number, now: number): Fate {
    const { end, memory } = this.#program;
    const start = this.startedAt.ms;
    const endsAt = end === undefined ? Number.POSITIVE_INFINITY : start + end.afterMs;
    const untilMs = now - start + horizonMs;
    const crossing = crossingAfter(memory, { limit: memoryLimit, fromMs: now - start, untilMs });
    if (crossing !== undefined && start + crossing < endsAt)
      return { at: start + crossing, kind: "ends", exitCode: 137, reason: "OOMKilled" };
    if (memory.ceiling > memoryLimit && start + untilMs < endsAt) return { at: start + untilMs, kind: "look again" };
    return { at: endsAt, kind: "ends", ...endOf(end?.exitCode ?? 0) };
  }

  #stopping(): Fate | undefined {
    return this.#stop && { at: this.#stop.endsAt, kind: "ends", ...endOf(this.#stop.exitCode) };
  }

  #failure(probe: "startup" | "liveness", result: ProbeResult | undefined): readonly Fate[] {
    return result === undefined || result.ok ? [] : [{ at: this.startedAt.ms + result.atMs, kind: "fails", probe }];
  }

  /** The next change of started or ready. */
  #change(since: number): Fate | undefined {
    const after = since - this.startedAt.ms;
    const started = this.#startedAfterMs ?? Number.POSITIVE_INFINITY;
    const ready = this.#readiness?.find(({ atMs }) => atMs > after);
    if (started > after) return Number.isFinite(started) ? this.#changeAt(started, false) : undefined;
    return ready && this.#changeAt(ready.atMs, !ready.ok);
  }

  #changeAt(atMs: number, unready: boolean): Fate {
    return { at: this.startedAt.ms + atMs, kind: "changes", unready };
  }
}

function endOf(exitCode: number): Pick<Extract<Fate, { kind: "ends" }>, "exitCode" | "reason"> {
  return { exitCode, reason: exitCode === 0 ? "Completed" : "Error" };
}

// A point in time on both clocks: durations use the monotonic clock, objects the wall clock at that time. A later step of the
// wall clock does not change it.

export interface Instant {
  /** On the monotonic clock. */
  readonly ms: number;
  /** Milliseconds since 1970. */
  readonly wall: number;
}

/** The instant at this time of the monotonic clock, which may be slightly in the past. */
export function instantAt(clock: Pick<Clock, "now" | "monotonic">, ms: number): Instant {
  return { ms, wall: clock.now() - (clock.monotonic() - ms) };
}
