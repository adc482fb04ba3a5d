// How much memory a container uses, as a function of the time since it started. A model consists of straight lines, so the time at
// which usage crosses a limit is computed instead of polled for.
//
// Times are milliseconds since the start of the container, amounts are bytes.
import { parseQuantity } from "@memhog/runtime";
import { parseDuration } from "@memhog/runtime/objects";
import { hogBaseline, hogBehaviorOf, hogBuffers } from "./hog.ts";

/** A linear segment: bytes at its start, and bytes per millisecond. */
export interface Stretch {
  readonly fromMs: number;
  /** The start of the next segment; Infinity for the last. */
  readonly untilMs: number;
  readonly bytes: number;
  readonly perMs: number;
}

export interface MemoryModel {
  /** The segment at this time (0 or later). */
  stretchAt(ms: number): Stretch;
  /** An upper bound of the usage: no limit above it is ever crossed. Infinity if there is none. */
  readonly ceiling: number;
}

/** The usage at this time, in whole bytes. */
export function usageAt(model: MemoryModel, ms: number): number {
  return Math.round(usageWithin(model.stretchAt(ms), ms));
}

function usageWithin({ fromMs, bytes, perMs }: Stretch, ms: number): number {
  return bytes + perMs * (ms - fromMs);
}

/**
 * The first whole millisecond, at `fromMs` or later, at which the usage exceeds `limit`; undefined if that does not
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
    // A segment may end between two milliseconds. Then the next one begins at the following whole millisecond.
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

// The available models.

/** A constant amount. */
export function constant(bytes: number): MemoryModel {
  return pieces([{ fromMs: 0, untilMs: Number.POSITIVE_INFINITY, bytes, perMs: 0 }]);
}

interface Rise {
  readonly perSecond: number;
  /** @default 0 */
  readonly from?: number;
  /** Stays at `from` for so long. @default 0 */
  readonly idleMs?: number;
}

/** A linear rise from one amount to another, which it then keeps. */
export function ramp({ perSecond, from = 0, idleMs = 0, to }: Rise & { readonly to: number }) {
  if (!(perSecond > 0)) throw new RangeError(`expected a ramp to rise, found ${perSecond} bytes per second`);
  const top = Math.max(from, to);
  return trace([
    [idleMs, from],
    [idleMs + ((top - from) / perSecond) * 1_000, top],
  ]);
}

/** A ramp without an end. */
export function leak({ perSecond, from = 0, idleMs = 0 }: Rise): MemoryModel {
  return pieces([
    { fromMs: 0, untilMs: idleMs, bytes: from, perMs: 0 },
    { fromMs: idleMs, untilMs: Number.POSITIVE_INFINITY, bytes: from, perMs: perSecond / 1_000 },
  ]);
}

/** Steps from one amount to the next at given times: `[0, mib(50)], [30_000, mib(200)]`. */
export function step(steps: readonly (readonly [ms: number, bytes: number])[]): MemoryModel {
  const sorted = inOrder(steps);
  return pieces(sorted.map(([fromMs, bytes], at) => ({ fromMs, untilMs: begins(sorted, at + 1), bytes, perMs: 0 })));
}

/** Measured amounts with straight lines between them. The last amount stays. */
export function trace(points: readonly (readonly [ms: number, bytes: number])[]): MemoryModel {
  const sorted = inOrder(points);
  const stretches = sorted.map(([fromMs, bytes], at): Stretch => {
    const [untilMs, next] = sorted[at + 1] ?? [Number.POSITIVE_INFINITY, bytes];
    return { fromMs, untilMs, bytes, perMs: untilMs > fromMs ? (next - bytes) / (untilMs - fromMs) : 0 };
  });
  return pieces(stretches);
}

/** A linear rise from low to high in each period, then back to low: a garbage collector, or a batch job. */
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

/** The given segments in order, without gaps. */
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

/** Before its first point a model has the value of that point. */
function inOrder(points: readonly (readonly [ms: number, bytes: number])[]): readonly (readonly [number, number])[] {
  const sorted = points.toSorted(([a], [b]) => a - b);
  const [first] = sorted;
  return first === undefined || first[0] <= 0 ? sorted : [[0, first[1]], ...sorted];
}

function begins(points: readonly (readonly [number, number])[], at: number): number {
  return points[at]?.[0] ?? Number.POSITIVE_INFINITY;
}

/** The last segment that has begun, by binary search: a trace of a day has many. */
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

// Memory models in annotations:
//
//     100Mi                                          constant
//     ramp 1Mi/s to 500Mi                            or: ramp 1Mi/s from 50Mi to 500Mi
//     leak 200Ki/s from 50Mi
//     step 50Mi, 200Mi at 30s, 300Mi at 2m
//     sawtooth 100Mi to 300Mi every 60s
//     trace 50Mi, 80Mi at 30s, 70Mi at 1m            straight lines between the points
//     hog                                            the workload: random buffers
//     hog --start 20Mi --ramp 1Mi/s --to 500Mi       the workload with flags
//
// Amounts are Kubernetes quantities, times are Go durations.

/** The text is not a memory model. */
export class MemoryModelError extends Error {
  readonly code = "SIMULATOR_MEMORY_MODEL";
  override readonly name = "MemoryModelError";
  constructor(text: string, cause?: unknown) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    super(
      `expected a memory model such as "100Mi", "ramp 1Mi/s to 500Mi", "leak 1Mi/s", "step 50Mi, 200Mi at 30s", ` +
        `"sawtooth 100Mi to 300Mi every 1m", "trace 50Mi, 80Mi at 30s" or "hog", found ${JSON.stringify(text)}${why}`,
      { cause },
    );
  }
}

/** @param seed for models with random parts. @throws MemoryModelError */
export function parseMemoryModel(text: string, seed = 1): MemoryModel {
  try {
    const model = parse(text.trim(), seed);
    if (model !== undefined) return model;
  } catch (error) {
    throw new MemoryModelError(text, error);
  }
  throw new MemoryModelError(text);
}

function parse(text: string, seed: number): MemoryModel | undefined {
  const [, verb = "", rest = ""] = /^([a-z]+)?\s*(.*)$/s.exec(text) ?? [];
  if (verb === "hog") return hogModel(rest.split(/\s+/).filter(Boolean), seed);
  if (verb === "" || verb === "constant") return constant(bytes(rest));
  if (verb === "ramp") return parseRamp(rest);
  if (verb === "leak") return parseLeak(rest);
  if (verb === "sawtooth") return parseSawtooth(rest);
  if (verb === "step") return step(points(rest));
  return verb === "trace" ? trace(points(rest)) : undefined;
}

/** The workload with these arguments: a ramp, random buffers, or constant memory; always plus the memory of Node.js. */
export function hogModel(args: readonly string[], seed: number): MemoryModel {
  const plan = hogBehaviorOf(args);
  if (plan.kind === "exit") throw new TypeError(plan.message);
  const from = hogBaseline + plan.start;
  if (plan.kind === "hold") return constant(from);
  if (plan.kind === "buffers") return hogBuffers(seed, plan.start);
  const { bytesPerSecond: perSecond, idleMs, to } = plan;
  const rise = { perSecond, from, idleMs };
  return to === Number.POSITIVE_INFINITY ? leak(rise) : ramp({ ...rise, to: hogBaseline + to });
}

function parseRamp(rest: string): MemoryModel | undefined {
  const [, rate, from, to] = /^(\S+)(?:\s+from\s+(\S+))?\s+to\s+(\S+)$/.exec(rest) ?? [];
  if (rate === undefined || to === undefined) return undefined;
  return ramp({ perSecond: perSecond(rate), from: from === undefined ? 0 : bytes(from), to: bytes(to) });
}

function parseLeak(rest: string): MemoryModel | undefined {
  const [, rate, from] = /^(\S+)(?:\s+from\s+(\S+))?$/.exec(rest) ?? [];
  return rate === undefined ? undefined : leak({ perSecond: perSecond(rate), from: from === undefined ? 0 : bytes(from) });
}

function parseSawtooth(rest: string): MemoryModel | undefined {
  const [, low, high, every] = /^(\S+)\s+to\s+(\S+)\s+every\s+(\S+)$/.exec(rest) ?? [];
  if (low === undefined || high === undefined || every === undefined) return undefined;
  return sawtooth({ low: bytes(low), high: bytes(high), everyMs: parseDuration(every) });
}

/** "50Mi, 200Mi at 30s": the first point defaults to 0s. */
function points(rest: string): readonly (readonly [ms: number, bytes: number])[] {
  return rest.split(",").map((point) => {
    const [amount = "", when = "0s"] = point.trim().split(/\s+at\s+/);
    return [parseDuration(when), bytes(amount)] as const;
  });
}

function bytes(text: string): number {
  const amount = parseQuantity(text).toNumber();
  if (amount < 0) throw new RangeError(`expected an amount of at least 0, found ${text}`);
  return amount;
}

/** "1Mi/s" or "10Mi/m": bytes per second. */
function perSecond(text: string): number {
  const [amount = "", per = "s"] = text.split("/");
  return (bytes(amount) * 1_000) / parseDuration(`1${per}`);
}
