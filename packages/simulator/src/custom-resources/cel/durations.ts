// Durations as Go spells them, for rules. CEL's library has the type and does not give it away, so it is asked to make one from
// the one spelling it has no doubts about.
import { evaluate } from "@marcbachmann/cel-js";
import { parseDuration } from "@memhog/runtime";

/** A duration of CEL. @throws DurationError */
export function durationValue(text: string): unknown {
  const total = BigInt(Math.round(parseDuration(text) * 1e6));
  const length = total < 0n ? -total : total;
  const fraction = String(length % 1_000_000_000n).padStart(9, "0");
  return evaluate("duration(text)", { text: `${total < 0n ? "-" : ""}${length / 1_000_000_000n}.${fraction}s` });
}
