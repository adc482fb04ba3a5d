// One life of a container, from its start to its end. Everything that will happen in it is known when it begins (see
// program/), except that somebody may stop it, or change its limit; so a life can say when something will happen next.
import type { Container } from "@memhog/runtime";
import type { Instant } from "./instant.ts";
import { crossingAfter, usageAt } from "./memory/model.ts";
import { type ProbeResult, probeResults, resultAt } from "./program/probe-results.ts";
import type { Program } from "./program/program.ts";

/** How a life ended. */
export interface Ended {
  readonly containerId: string;
  readonly startedAt: Instant;
  readonly finishedAt: Instant;
  readonly exitCode: number;
  readonly reason: "Completed" | "Error" | "OOMKilled" | "Unknown";
}

/** Something happens to it, at this time of the monotonic clock. */
export type Fate =
  | { readonly at: number; readonly kind: "ends"; readonly exitCode: number; readonly reason: Ended["reason"] }
  | { readonly at: number; readonly kind: "fails"; readonly probe: "startup" | "liveness" }
  /** Started or ready, or no longer. */
  | { readonly at: number; readonly kind: "changes"; readonly unready: boolean }
  /** So far ahead memory was looked at; look again. */
  | { readonly at: number; readonly kind: "look again" };

/** Memory is looked at this far ahead; models may be endless. */
const horizonMs = 3_600_000;

export interface Birth {
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
  /** When it counts as started; undefined: never. Everything else that probes find comes after. */
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

  /** This is its limit from now on; also called to look further ahead with the one it has. */
  limit(memoryLimit: number, now: number): void {
    this.#death = this.#foresee(memoryLimit, now);
  }

  /** SIGTERM, after a `preStopMs` that counts, and SIGKILL when the grace is over. A shorter grace may follow. */
  stop({ now, graceMs, preStopMs = 0 }: { readonly now: number; readonly graceMs: number; readonly preStopMs?: number }): void {
    const killedAt = now + graceMs;
    const { stop } = this.#program;
    const stopsAt = stop === undefined ? Number.POSITIVE_INFINITY : now + preStopMs + stop.afterMs;
    const inTime = stop !== undefined && stopsAt <= killedAt;
    const next = inTime ? { endsAt: stopsAt, exitCode: stop.exitCode } : { endsAt: killedAt, exitCode: 137 };
    if (this.#stop === undefined || next.endsAt < this.#stop.endsAt) this.#stop = next;
  }

  /** What happens next, after `since`. */
  next(since: number): Fate {
    // Nobody probes what is being stopped.
    const fates = this.isStopping ? [this.#death, this.#stopping()] : [this.#death, ...this.#failures, this.#change(since)];
    return fates.filter((fate) => fate !== undefined).reduce((a, b) => (b.at < a.at ? b : a));
  }

  end(finishedAt: Instant, exitCode: number, reason: Ended["reason"]): Ended {
    return { containerId: this.containerId, startedAt: this.startedAt, finishedAt, exitCode, reason };
  }

  /** By itself, or by its greed: whichever comes first. */
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
