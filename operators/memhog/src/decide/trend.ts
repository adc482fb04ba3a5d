// Time to out-of-memory, from the last samples.
//
// The kubelet's figure is 10-15 s old when we get it, and a container that grows by 10 MiB/s passes from 75 % of 384Mi to its end
// in 10 s: whoever waits for the threshold comes too late. So the line through the last samples is drawn on to now, and beyond.
//
//   growth     the smaller of two slopes: of the last two samples, and over the last minute. A burst that is over has no slope
//              any more; a single step has little slope over the minute. Only what keeps growing has both.
//   predicted  the newest sample + growth × its age
//   runs out   (limit − predicted) ÷ growth
//
// The ramp of 10 MiB/s at 384Mi, where samples are taken 0, 12 and 25 s after the start:
//
//   seen at   newest sample        growth     predicted   runs out in   lookahead 60 s says
//   15 s      120Mi, 3 s old       10 MiB/s   150Mi       23 s          hold: below half of the limit, a start looks just so
//   20 s      120Mi, 8 s old       10 MiB/s   200Mi       18 s          raise, 18 s before the kill; 75 % is 9 s away
//   30 s      250Mi, 5 s old       10 MiB/s   300Mi       8 s           (the threshold alone still waits: 250Mi is not 288Mi)
//
// Two samples cannot tell a ramp from one jump, and there is no time for a third: so the first raise may be for a jump. The second may
// not. Twice the memory is twice the time, and a third sample takes no longer than the second did: after a raise that doubled the
// limit, only what grew twice in a row goes on growing.
//
// 1 MiB/s: at 287Mi it runs out in 97 s, so a slow ramp acts at the threshold, as the seeds say; but at the moment when it crosses it,
// not when a node has measured that, a sample later (due.ts).
import type { Bytes } from "../model/bytes.ts";
import type { Sample } from "../model/seen.ts";
import { isUsable } from "./samples.ts";

export interface Trend {
  /** Bytes per second; more than 0. */
  readonly growth: number;
  /** Bytes in use now, if it went on like this. */
  readonly predicted: number;
  readonly runsOutInMs: number;
}

/** Nearer to each other, two samples say more about the sampling than about the container. */
const apartMs = 4_000;
const windowMs = 60_000;
/** Below this share of the limit every start-up would look like a leak. */
const atLeast = 0.5;

/** Undefined where the samples show no growth. They come oldest first. */
export function trendOf(samples: readonly Sample[], limit: Bytes): Trend | undefined {
  const usable = samples.filter(isUsable);
  const last = usable.at(-1);
  if (last === undefined) return undefined;
  const before = stepBack(usable, last);
  const first = usable.find((sample) => sample.ageMs <= last.ageMs + windowMs);
  if (before === undefined || first === undefined) return undefined;
  // With samples more than a minute apart, the last two are all there is.
  const overWindow = first.ageMs >= last.ageMs + apartMs ? slope(first, last) : Number.POSITIVE_INFINITY;
  const growth = Math.min(slope(before, last), overWindow);
  if (!(growth > 0)) return undefined;
  const predicted = last.bytes + growth * (last.ageMs / 1000);
  return { growth, predicted, runsOutInMs: Math.max(0, ((limit - predicted) / growth) * 1000) };
}

/** It reaches the limit within the lookahead, and is near enough to be believed. */
export function willRunOut(trend: Trend | undefined, limit: Bytes, lookaheadMs: number): boolean {
  if (trend === undefined || lookaheadMs <= 0) return false;
  return trend.runsOutInMs <= lookaheadMs && trend.predicted >= limit * atLeast;
}

/** It grew between the last two samples, and between the two before. */
export function grewTwice(samples: readonly Sample[]): boolean {
  const usable = samples.filter(isUsable);
  const [last, before] = [usable.at(-1), stepBack(usable, usable.at(-1))];
  const first = stepBack(usable, before);
  return (
    last !== undefined && before !== undefined && first !== undefined && first.bytes < before.bytes && before.bytes < last.bytes
  );
}

const stepBack = (usable: readonly Sample[], from: Sample | undefined): Sample | undefined =>
  from && usable.findLast((sample) => sample.ageMs >= from.ageMs + apartMs);

const slope = (from: Sample, to: Sample) => ((to.bytes - from.bytes) / (from.ageMs - to.ageMs)) * 1000;
