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
  for (const { ok, first, last } of roundsOf(answers, (ms) => Math.max(0, Math.ceil((ms - firstAsked) / periodMs)))) {
    const needed = ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
    const decided = first + needed - 1;
    if (ok === holds || decided > last) continue;
    results.push({ atMs: firstAsked + decided * periodMs, ok });
    holds = ok;
  }
  return results;
}

/** Questions are numbered from 0. These get the same answer, from the first to the last. */
interface Rounds {
  readonly ok: boolean;
  readonly first: number;
  last: number;
}

/** What happens between two questions is not noticed. */
function roundsOf(answers: Timeline, roundAt: (ms: number) => number): readonly Rounds[] {
  const all: Rounds[] = [];
  for (const [index, { fromMs, ok }] of answers.entries()) {
    const first = roundAt(fromMs);
    const last = roundAt(answers[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY) - 1;
    const before = all.at(-1);
    if (last < first) continue;
    if (before?.ok === ok) before.last = last;
    else all.push({ ok, first, last });
  }
  return all;
}

/** The result at this moment. */
export function resultAt(results: readonly ProbeResult[], ms: number, initially: boolean): boolean {
  return results.findLast(({ atMs }) => atMs <= ms)?.ok ?? initially;
}
