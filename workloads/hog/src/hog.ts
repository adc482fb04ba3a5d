// The hog: a schedule says how many bytes to hold at a time, Memory holds them, and run() loops over both.
import { formatMebibytes, HogError, type HogPlan, mebibyte } from "./options.ts";

/**
 * Bytes to hold after this many milliseconds. It depends on the time alone and not on the number of calls, so a late tick catches up
 * and a ramp of 1 MiB/s is exact. Time must not decrease between two calls.
 */
export type Schedule = (elapsedMs: number) => number;

export interface Random {
  /** At least 0, below 1. */
  readonly random: () => number;
}

export function scheduleOf(plan: HogPlan, random: Random): Schedule {
  switch (plan.kind) {
    case "ramp":
      return (elapsedMs) => Math.min(plan.to, plan.start + grownAfter(Math.max(0, elapsedMs - plan.idleMs), plan.bytesPerSecond));
    case "hold":
      return () => plan.start;
    case "buffers":
      return buffers(plan.start, random);
  }
}

const grownAfter = (ms: number, bytesPerSecond: number): number => Math.floor((bytesPerSecond * ms) / 1000);

const slotCount = 20;

/** A buffer of 5 to 10 MiB every second, starting at once, each in place of the buffer in a random slot. */
function buffers(start: number, { random }: Random): Schedule {
  const slots = new Array<number>(slotCount).fill(0);
  let allocated = 0;
  return (elapsedMs) => {
    for (const due = Math.floor(elapsedMs / 1000) + 1; allocated < due; allocated++) {
      const slot = Math.floor(random() * slotCount);
      slots[slot] = 5 * mebibyte + Math.floor(random() * 5 * mebibyte);
    }
    return slots.reduce((sum, bytes) => sum + bytes, start);
  };
}

/** The system refused memory before the kernel had to kill the process: a ulimit, or strict overcommit. */
export class NoMemoryError extends HogError {
  readonly code = "HOG_NO_MEMORY";
  constructor(bytes: number, options: ErrorOptions) {
    const size = formatMebibytes(bytes);
    super(`cannot allocate ${size}: the system refuses more memory (see ulimit -v and vm.overcommit_memory)`, options);
  }
}

/** Address space, not memory: more than any machine has. */
const reserved = 2 ** 40;

/**
 * Holds exactly the requested number of bytes. One resizable ArrayBuffer, outside V8's heap: the kernel provides pages as it grows and
 * takes them back at once as it shrinks. Buffers that replace buffers would leave garbage and holes in malloc's heap: 135 MiB more
 * than was held.
 */
export class Memory {
  readonly #region: ArrayBuffer;

  constructor() {
    this.#region = allocate(reserved, () => new ArrayBuffer(0, { maxByteLength: reserved }));
  }

  get held(): number {
    return this.#region.byteLength;
  }

  /** Holds this many bytes, all of them resident. */
  hold(bytes: number): void {
    const before = this.held;
    allocate(bytes, () => this.#region.resize(bytes));
    // The kernel provides a page when it is written to.
    if (bytes > before) new Uint8Array(this.#region, before, bytes - before).fill(1);
  }
}

function allocate<T>(bytes: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new NoMemoryError(bytes, { cause: error });
    throw error;
  }
}

export interface Environment extends Random {
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Returns early, without an error, when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly print: (line: string) => void;
}

/** A ramp of 10 MiB/s grows by 1 MiB per tick: small compared to any limit, and cheap. */
const tickMs = 100;

/** Follows the schedule until the signal aborts. Prints a line every second, and a summary with the signal's reason. */
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
    print(`holding ${formatMebibytes(memory.held)}`);
    nextLineMs = (Math.floor(now / 1000) + 1) * 1000;
  }
  const seconds = (elapsed() / 1000).toFixed(1);
  print(`${signal.reason} after ${seconds} s: held ${formatMebibytes(memory.held)}, at most ${formatMebibytes(most)}`);
}
