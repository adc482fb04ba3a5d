// Memory models in words, as they stand in annotations:
//
//     100Mi                                          constant
//     ramp 1Mi/s to 500Mi                            or: ramp 1Mi/s from 50Mi to 500Mi
//     leak 200Ki/s from 50Mi
//     step 50Mi, 200Mi at 30s, 300Mi at 2m
//     sawtooth 100Mi to 300Mi every 60s
//     trace 50Mi, 80Mi at 30s, 70Mi at 1m            straight lines between the points
//     memhog                                         the workload: random buffers
//     memhog --start 20Mi --ramp 1Mi/s --to 500Mi    as its arguments say
//
// Amounts are quantities of Kubernetes, times are durations of Go.
import { parseDuration, parseQuantity } from "@memhog/runtime";
import { memhog, memhogItself } from "./memhog.ts";
import { memhogPlanOf } from "./memhog-flags.ts";
import type { MemoryModel } from "./model.ts";
import { constant, leak, ramp, sawtooth, step, trace } from "./models.ts";

/** A text that is no memory model. */
export class MemoryModelError extends Error {
  readonly code = "SIMULATOR_MEMORY_MODEL";
  override readonly name = "MemoryModelError";
  constructor(text: string, cause?: unknown) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    super(
      `expected a memory model such as "100Mi", "ramp 1Mi/s to 500Mi", "leak 1Mi/s", "step 50Mi, 200Mi at 30s", ` +
        `"sawtooth 100Mi to 300Mi every 1m", "trace 50Mi, 80Mi at 30s" or "memhog", found ${JSON.stringify(text)}${why}`,
      { cause },
    );
  }
}

/** @param seed for models that have something random in them. @throws MemoryModelError */
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
  if (verb === "memhog") return memhogWith(rest.split(/\s+/).filter(Boolean), seed);
  if (verb === "" || verb === "constant") return constant(bytes(rest));
  if (verb === "ramp") return parseRamp(rest);
  if (verb === "leak") return parseLeak(rest);
  if (verb === "sawtooth") return parseSawtooth(rest);
  if (verb === "step") return step(points(rest));
  return verb === "trace" ? trace(points(rest)) : undefined;
}

/** The workload as its arguments say: a ramp, its buffers, or nothing but what it starts with; and always Node's own share. */
export function memhogWith(args: readonly string[], seed: number): MemoryModel {
  const plan = memhogPlanOf(args);
  if (plan.kind === "end") throw new TypeError(plan.says);
  const from = memhogItself + plan.start;
  if (plan.kind === "hold") return constant(from);
  if (plan.kind === "buffers") return memhog(seed, plan.start);
  const { perSecond, to } = plan;
  return to === Number.POSITIVE_INFINITY ? leak({ perSecond, from }) : ramp({ perSecond, from, to: memhogItself + to });
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

/** "50Mi, 200Mi at 30s": the first may leave out that it is at 0s. */
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
