// The loop: look at the clock, hold what the schedule says, tell once a second. Time and output come in by the door.
import { Memory } from "./memory.ts";
import { inMebibytes } from "./quantity.ts";
import type { Chance, Schedule } from "./schedule.ts";

export interface Environment extends Chance {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Ends early, without an error, when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly print: (line: string) => void;
}

/** A ramp of 10 MiB/s grows by 1 MiB a step: small beside any limit, and rare enough to cost no CPU. */
const tickMs = 100;

/** Holds what the schedule says until the signal aborts; its reason is told in the last line. */
export async function run(schedule: Schedule, environment: Environment, signal: AbortSignal): Promise<void> {
  const { monotonic, sleep, print } = environment;
  const memory = new Memory();
  const since = monotonic();
  const elapsed = () => monotonic() - since;
  let most = 0;
  for (let nextLineMs = 0; !signal.aborted; await sleep(tickMs - (elapsed() % tickMs), signal)) {
    const now = elapsed();
    memory.hold(schedule(now));
    most = Math.max(most, memory.held);
    if (now < nextLineMs) continue;
    print(`holding ${inMebibytes(memory.held)}`);
    nextLineMs = (Math.floor(now / 1000) + 1) * 1000;
  }
  const seconds = (elapsed() / 1000).toFixed(1);
  print(`${signal.reason} after ${seconds} s: held ${inMebibytes(memory.held)}, at most ${inMebibytes(most)}`);
}
