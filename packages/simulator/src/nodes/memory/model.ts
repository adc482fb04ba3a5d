// How much memory a container uses, as a function of the time since it started. Nothing here watches a clock: a model is
// made of straight stretches, so that the moment at which a limit is crossed can be computed and need not be waited for.
//
// Times are milliseconds since the start of the container, amounts are bytes (plain numbers: a petabyte still fits).

/** A straight piece: so many bytes at its beginning, and so many more each millisecond. */
export interface Stretch {
  readonly fromMs: number;
  /** Where the next one begins; Infinity for the last. */
  readonly untilMs: number;
  readonly bytes: number;
  readonly perMs: number;
}

export interface MemoryModel {
  /** The stretch that this moment (0 or later) belongs to. */
  stretchAt(ms: number): Stretch;
  /** It never uses more than this, so whoever has a higher limit is safe for ever. Infinity where there is no such thing. */
  readonly ceiling: number;
}

/** What is used at this moment, in whole bytes. */
export function usageAt(model: MemoryModel, ms: number): number {
  return Math.round(usageWithin(model.stretchAt(ms), ms));
}

function usageWithin({ fromMs, bytes, perMs }: Stretch, ms: number): number {
  return bytes + perMs * (ms - fromMs);
}

/**
 * The first whole millisecond, at `fromMs` or later, at which more than `limit` is used; undefined if that does not
 * happen before `untilMs`.
 *
 *     crossingAfter(ramp({ perSecond: mib(1), to: mib(500) }), { limit: mib(10), fromMs: 0, untilMs: 60_000 }); // 10001
 */
export function crossingAfter(
  model: MemoryModel,
  { limit, fromMs, untilMs }: { readonly limit: number; readonly fromMs: number; readonly untilMs: number },
): number | undefined {
  if (model.ceiling <= limit) return undefined;
  for (let ms = Math.ceil(fromMs); ms < untilMs; ) {
    const stretch = model.stretchAt(ms);
    const crossing = crossingWithin(stretch, limit, ms);
    if (crossing !== undefined) return crossing < untilMs ? crossing : undefined;
    // A stretch may end between two milliseconds; whoever looks at whole ones meets the next one at the following.
    ms = Math.max(Math.ceil(stretch.untilMs), ms + 1);
  }
  return undefined;
}

function crossingWithin(stretch: Stretch, limit: number, fromMs: number): number | undefined {
  if (usageWithin(stretch, fromMs) > limit) return fromMs;
  if (stretch.perMs <= 0) return undefined;
  const crossing = Math.floor(stretch.fromMs + (limit - stretch.bytes) / stretch.perMs) + 1;
  return crossing < stretch.untilMs ? crossing : undefined;
}
