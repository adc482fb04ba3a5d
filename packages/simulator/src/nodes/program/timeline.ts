// Yes or no, over time: whether a probe would succeed at a given moment of a container's life. In words, as annotations
// have it: "always", "never", "after 10s", "until 1m", "after 3s until 20s".
import { parseDuration } from "@memhog/runtime";

/** From when on it is so; the first begins at 0, times grow, and neighbours differ. */
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

/** Undefined if these words mean nothing. @throws DurationError */
export function parseTimeline(text: string): Timeline | undefined {
  const words = text.trim();
  if (words === "always") return always;
  if (words === "never") return between(0, 0);
  const [, after, until] = /^(?:after\s+(\S+))?\s*(?:until\s+(\S+))?$/.exec(words) ?? [];
  if (after === undefined && until === undefined) return undefined;
  return between(after === undefined ? 0 : parseDuration(after), until === undefined ? undefined : parseDuration(until));
}
