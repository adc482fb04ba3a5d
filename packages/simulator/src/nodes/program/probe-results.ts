// What a probe says and when, without running it: it would ask every few seconds, and the answers are known in advance
// (timeline.ts), so the moments at which enough answers of one kind have come together can be computed.
import type { Probe } from "@memhog/runtime";
import type { Timeline } from "./timeline.ts";

/** From this moment on the probe has this result. */
export interface ProbeResult {
  readonly atMs: number;
  readonly ok: boolean;
}

export interface ProbeQuestion {
  readonly probe: Probe;
  readonly answers: Timeline;
  /** When asking begins, at the earliest; `initialDelaySeconds` counts from the start of the container all the same. */
  readonly fromMs?: number;
  /** What holds before enough answers came: a container is not ready, and alive, until proven otherwise. */
  readonly initially?: boolean;
}

/** Every change of the result, in order. Times are milliseconds since the start of the container. */
export function probeResults({ probe, answers, fromMs = 0, initially }: ProbeQuestion): readonly ProbeResult[] {
  const periodMs = (probe.periodSeconds ?? 10) * 1_000;
  const firstAsked = Math.max(fromMs, (probe.initialDelaySeconds ?? 0) * 1_000);
  const results: ProbeResult[] = [];
  let holds = initially;
  for (const [index, { fromMs: since, ok }] of answers.entries()) {
    const until = answers[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
    const rounds = Math.max(0, Math.ceil((since - firstAsked) / periodMs));
    const needed = ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
    const atMs = firstAsked + (rounds + needed - 1) * periodMs;
    if (ok === holds || atMs >= until) continue;
    results.push({ atMs, ok });
    holds = ok;
  }
  return results;
}

/** The result at this moment. */
export function resultAt(results: readonly ProbeResult[], ms: number, initially: boolean): boolean {
  return results.findLast(({ atMs }) => atMs <= ms)?.ok ?? initially;
}
