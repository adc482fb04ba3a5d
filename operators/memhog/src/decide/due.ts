// Is more memory due, by what is measured? No data is not zero: without a fresh sample of a running container nothing is due
// (promises M1, M2), and the reason says which part is missing.
import { type Bytes, bytes, readable } from "../model/bytes.ts";
import { type Due, type Facts, type Hold, hold } from "./facts.ts";
import { doubledLately } from "./history.ts";
import { isFresh } from "./samples.ts";
import { crosses } from "./threshold.ts";
import { grewTwice, willRunOut } from "./trend.ts";
import { oneStepUp } from "./wanted.ts";

export function notRunning({ pod, container }: Facts): Hold | undefined {
  if (pod.phase === "Running" && container.running) return undefined;
  return hold("NotRunning", `${container.name} is not running (pod ${pod.phase})`);
}

/** Samples of before the outage may still look fresh; they are not what the next query would have said (promise M1). */
export function metricsUnavailable({ seen }: Facts): Hold | undefined {
  const { available, unavailableForMs, problem } = seen.metrics;
  if (available) return undefined;
  const since = unavailableForMs === undefined ? "" : ` for ${seconds(unavailableForMs)}`;
  return hold("MetricsUnavailable", `Prometheus has not answered${since}${problem === undefined ? "" : `: ${problem}`}`);
}

export function noSample({ newest, container }: Facts): Hold | undefined {
  if (newest !== undefined) return undefined;
  const bad = container.badSamples === 0 ? "" : `; ${container.badSamples} were unusable`;
  return hold("NoSample", `Prometheus has no sample of ${container.name} yet${bad}`);
}

export function sampleStale({ seen, newest }: Facts): Hold | undefined {
  const { freshForMs } = seen.metrics;
  if (newest === undefined || isFresh(newest, freshForMs)) return undefined;
  return hold("SampleStale", `the newest sample is ${seconds(newest.ageMs)} old; only ${seconds(freshForMs)} are trusted`);
}

export function thresholdCrossed(facts: Facts): Due | undefined {
  const { newest, has, policy } = facts;
  const over = (used: Bytes | undefined) => used !== undefined && crosses(used, has.limit, policy.thresholdPercent);
  if (over(newest?.bytes)) return { reason: "ThresholdCrossed", detail: usageOf(facts), wanted: oneStepUp(facts) };
  const now = usedByNow(facts);
  if (newest === undefined || now === undefined || !over(now)) return undefined;
  const since = `that was ${seconds(newest.ageMs)} ago, and it grows steadily: ${readable(now)} by now`;
  return { reason: "ThresholdCrossed", detail: `${usageOf(facts)}; ${since}`, wanted: oneStepUp(facts) };
}

/** A node's figure is up to 15 s old when it is made, and older when we see it. What grew twice in a row has grown since. */
function usedByNow({ container, trend, policy }: Facts): Bytes | undefined {
  if (trend === undefined || policy.lookaheadMs <= 0 || !grewTwice(container.samples)) return undefined;
  return bytes(Math.min(Math.floor(trend.predicted), Number.MAX_SAFE_INTEGER));
}

/** After the threshold: where both say yes, the simpler reason is the better one. */
export function runningOut(facts: Facts): Due | undefined {
  const { trend, has, policy } = facts;
  if (trend === undefined || !willRunOut(trend, has.limit, policy.lookaheadMs) || mayBeOneJump(facts)) return undefined;
  return { reason: "WillRunOut", detail: `${usageOf(facts)}; ${trendText(facts)}`, wanted: oneStepUp(facts) };
}

/** The jump that the last raise was for is still among the samples: it is not a reason for another. */
function mayBeOneJump({ seen, pod, container }: Facts): boolean {
  return doubledLately(seen, pod, container) && !grewTwice(container.samples);
}

export function belowThreshold(facts: Facts): Hold {
  const { trend, has, policy } = facts;
  const text = trendText(facts);
  const doubt = willRunOut(trend, has.limit, policy.lookaheadMs) ? ", unless that was one jump: it was raised since" : "";
  return hold("BelowThreshold", text === "" ? usageOf(facts) : `${usageOf(facts)}; ${text}${doubt}`);
}

function usageOf({ newest, has, policy }: Facts): string {
  const used = newest?.bytes ?? 0;
  const percent = ((used / has.limit) * 100).toFixed(1);
  return `${readable(used)} of ${readable(has.limit)} are used: ${percent} %, the threshold is ${policy.thresholdPercent} %`;
}

/** What is days away is noise: a container that breathes seems to grow by some bytes. */
const worthTellingMs = 3_600_000;

function trendText({ trend }: Facts): string {
  return trend === undefined || trend.runsOutInMs > worthTellingMs
    ? ""
    : `it grows by ${readable(trend.growth)}/s and reaches the limit in ${seconds(trend.runsOutInMs)}`;
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
