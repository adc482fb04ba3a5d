// The rule of the seeds: act when used ÷ limit is memThresholdPercent or more. The limit is the one that the spec asks for, not
// the one that the kubelet has got round to: otherwise one crossing would raise twice.
//
//   limit   percent   threshold   usage      crossed
//   384Mi   75        288Mi       287.9Mi    no
//   384Mi   75        288Mi       288Mi      yes: "or more"
//   768Mi   75        576Mi       288Mi      no: one crossing, one raise
//   100Mi   72.5      72.5Mi      72.5Mi     yes: a percentage need not be whole
//   384Mi   100       384Mi       380Mi      no: only at the limit itself, where the kill comes first; WillRunOut still helps
import { type Bytes, bytes } from "../model/bytes.ts";

/** The fewest bytes that cross it. */
export function thresholdOf(limit: Bytes, percent: number): Bytes {
  return bytes(Math.ceil((limit * percent) / 100));
}

export function crosses(usage: Bytes, limit: Bytes, percent: number): boolean {
  return usage * 100 >= limit * percent;
}
