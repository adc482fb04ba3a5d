// The order of resource versions. For a long time they were opaque; since Kubernetes 1.35 the API promises that those of
// built-in kinds and of custom resources are decimal numbers that grow, and every server since 2015 kept it without a
// promise. A server of another make (an aggregated API) may spell them as it likes: then there is no order, and whoever
// asks has to go by equality.

/** Decimal, no sign, no leading zero: anything else is opaque. */
const decimal = /^[1-9][0-9]*$/;

/**
 * Negative, zero or positive as `a` is older than, the same as or newer than `b`; undefined if they have no order.
 * They outgrow 2^53 in principle, so they are compared as text: the longer number is the larger one.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Surely older: an event to ignore. */
export function isOlder(a: string, b: string): boolean {
  const order = compareVersions(a, b);
  return order !== undefined && order < 0;
}

/** Surely at least as new: a view that has seen `b`. */
export function isAtLeast(a: string, b: string): boolean {
  const order = compareVersions(a, b);
  return order !== undefined && order >= 0;
}
