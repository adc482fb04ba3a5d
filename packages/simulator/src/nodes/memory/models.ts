// The models a test can choose from. Each is a value; the words for them in annotations are in parse-model.ts.
import type { MemoryModel, Stretch } from "./model.ts";

/** The same amount all the time. */
export function constant(bytes: number): MemoryModel {
  return pieces([{ fromMs: 0, untilMs: Number.POSITIVE_INFINITY, bytes, perMs: 0 }]);
}

/** From so much, so many bytes more each second, to so much, and there it stays. */
export function ramp({ perSecond, from = 0, to }: { readonly perSecond: number; readonly from?: number; readonly to: number }) {
  if (!(perSecond > 0)) throw new RangeError(`expected a ramp to rise, found ${perSecond} bytes per second`);
  const top = Math.max(from, to);
  return trace([
    [0, from],
    [((top - from) / perSecond) * 1_000, top],
  ]);
}

/** A ramp without an end. */
export function leak({ perSecond, from = 0 }: { readonly perSecond: number; readonly from?: number }): MemoryModel {
  return pieces([{ fromMs: 0, untilMs: Number.POSITIVE_INFINITY, bytes: from, perMs: perSecond / 1_000 }]);
}

/** From one amount to another at once, at given times: `[0, mib(50)], [30_000, mib(200)]`. */
export function step(steps: readonly (readonly [ms: number, bytes: number])[]): MemoryModel {
  const sorted = inOrder(steps);
  return pieces(sorted.map(([fromMs, bytes], at) => ({ fromMs, untilMs: begins(sorted, at + 1), bytes, perMs: 0 })));
}

/** Measured amounts, with straight lines between them; after the last it stays as it is. */
export function trace(points: readonly (readonly [ms: number, bytes: number])[]): MemoryModel {
  const sorted = inOrder(points);
  const stretches = sorted.map(([fromMs, bytes], at): Stretch => {
    const [untilMs, next] = sorted[at + 1] ?? [Number.POSITIVE_INFINITY, bytes];
    return { fromMs, untilMs, bytes, perMs: untilMs > fromMs ? (next - bytes) / (untilMs - fromMs) : 0 };
  });
  return pieces(stretches);
}

/** From low to high in one period, back at once, and again: a garbage collector, or a batch that ends. */
export function sawtooth({ low, high, everyMs }: { readonly low: number; readonly high: number; readonly everyMs: number }) {
  if (!(everyMs > 0)) throw new RangeError(`expected a sawtooth to take its time, found a period of ${everyMs} ms`);
  return {
    ceiling: Math.max(low, high),
    stretchAt(ms: number): Stretch {
      const fromMs = Math.floor(ms / everyMs) * everyMs;
      return { fromMs, untilMs: fromMs + everyMs, bytes: low, perMs: (high - low) / everyMs };
    },
  } satisfies MemoryModel;
}

/** Whatever is given, one after the other, without gaps. */
function pieces(given: readonly Stretch[]): MemoryModel {
  const stretches = given.filter(({ fromMs, untilMs }) => fromMs < untilMs);
  const last = stretches.at(-1);
  if (last === undefined) throw new RangeError("expected a model of at least one amount, found none");
  const peaks = stretches.map(({ bytes, perMs, fromMs, untilMs }) => (perMs > 0 ? bytes + perMs * (untilMs - fromMs) : bytes));
  return {
    ceiling: Math.max(...peaks),
    stretchAt: (ms) => stretches[indexAt(stretches, ms)] ?? last,
  };
}

/** Before its first point a model is as at its first point. */
function inOrder(points: readonly (readonly [ms: number, bytes: number])[]): readonly (readonly [number, number])[] {
  const sorted = points.toSorted(([a], [b]) => a - b);
  const [first] = sorted;
  return first === undefined || first[0] <= 0 ? sorted : [[0, first[1]], ...sorted];
}

function begins(points: readonly (readonly [number, number])[], at: number): number {
  return points[at]?.[0] ?? Number.POSITIVE_INFINITY;
}

/** The last stretch that has begun; a trace of a day has many. */
function indexAt(stretches: readonly Stretch[], ms: number): number {
  let low = 0;
  let high = stretches.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((stretches[middle]?.fromMs ?? 0) <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}
