// Whether a probe would succeed at a given time in the life of a container, as a timeline. Annotations spell it "always", "never",
// "after 10s", "until 1m" or "after 3s until 20s".
import type { Probe } from "@memhog/runtime/kinds";
import { parseDuration } from "@memhog/runtime/objects";

/** Changes of the answer: the first is at 0, times increase, and successive answers differ. */
export type Timeline = readonly { readonly fromMs: number; readonly ok: boolean }[];

export const always: Timeline = [{ fromMs: 0, ok: true }];

/** False until `afterMs`, true until `untilMs`, false from then on. */
export function between(afterMs: number, untilMs = Number.POSITIVE_INFINITY): Timeline {
  const [from, until] = [Math.max(0, afterMs), Math.max(0, untilMs)];
  if (until <= from) return [{ fromMs: 0, ok: false }];
  return [
    ...(from > 0 ? [{ fromMs: 0, ok: false }] : []),
    { fromMs: from, ok: true },
    ...(Number.isFinite(until) ? [{ fromMs: until, ok: false }] : []),
  ];
}

/** Undefined if the text is not a timeline. @throws DurationError */
export function parseTimeline(text: string): Timeline | undefined {
  const words = text.trim();
  if (words === "always") return always;
  if (words === "never") return between(0, 0);
  const [, after, until] = /^(?:after\s+(\S+))?\s*(?:until\s+(\S+))?$/.exec(words) ?? [];
  if (after === undefined && until === undefined) return undefined;
  return between(after === undefined ? 0 : parseDuration(after), until === undefined ? undefined : parseDuration(until));
}

// The results of a probe over time, computed from its timeline, period and thresholds.

/** The result of the probe from this time on. */
export interface ProbeResult {
  readonly atMs: number;
  readonly ok: boolean;
}

interface ProbeQuestion {
  readonly probe: Probe;
  readonly answers: Timeline;
  /** The earliest time of the first probe. `initialDelaySeconds` still counts from the start of the container. */
  readonly fromMs?: number;
  /** The result before the threshold is reached: not ready, or alive. */
  readonly initially?: boolean;
}

/** All changes of the result, in order. Times are milliseconds since the start of the container. */
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

/** A range of probes, numbered from 0, that get the same answer. */
interface Rounds {
  readonly ok: boolean;
  readonly first: number;
  last: number;
}

/** Changes between two probes are not noticed. */
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

/** The result at this time. */
export function resultAt(results: readonly ProbeResult[], ms: number, initially: boolean): boolean {
  return results.findLast(({ atMs }) => atMs <= ms)?.ok ?? initially;
}
