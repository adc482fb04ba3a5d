// How a reconcile ends when nothing is wrong. "Not yet" is an outcome, not an error; and every wait has a reason, because
// sooner or later somebody asks why nothing happens.

export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "checkAgain"; readonly inMs: number; readonly reason: string }
  | { readonly kind: "waitForChange"; readonly reason: string };

/** The world is as it should be; the next change will be told. */
export function done(): Outcome {
  return { kind: "done" };
}

/**
 * Look again after a while, for what no watch tells: `checkAgainIn(minutes(1), "memory usage can only be sampled")`.
 * A change before that is looked at at once, as always.
 */
export function checkAgainIn(milliseconds: number, reason: string): Outcome {
  return { kind: "checkAgain", inMs: milliseconds, reason };
}

/** Nothing can be done until something changes: `waitForChange("no pod has a memory limit")`. */
export function waitForChange(reason: string): Outcome {
  return { kind: "waitForChange", reason };
}

/** For logs and `explain`. */
export function describeOutcome(outcome: Outcome): string {
  if (outcome.kind === "done") return "done";
  if (outcome.kind === "waitForChange") return `waits for a change: ${outcome.reason}`;
  return `checks again in ${outcome.inMs / 1000} s: ${outcome.reason}`;
}
