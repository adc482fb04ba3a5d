// Flags → what to hold. Checked whole before the first byte is taken: a hog that finds out after an hour that --to was misspelled
// has wasted more than memory.
import { parseArgs } from "node:util";
import { BadFlagsError } from "./errors.ts";
import { bytesOf, bytesPerSecondOf } from "./quantity.ts";

export type Plan =
  /** Grows from `start` with time, up to `to`, and stays there. */
  | { readonly kind: "ramp"; readonly start: number; readonly bytesPerSecond: number; readonly to: number }
  /** Holds `start`, no more and no less. */
  | { readonly kind: "hold"; readonly start: number }
  /** Buffers that come and go, on top of `start`. */
  | { readonly kind: "buffers"; readonly start: number };

/** What the flags ask for; "help" if that is all they do. Throws a HogError that says which flag is wrong. */
export function planOf(argv: readonly string[]): Plan | "help" {
  const { help, hold, ...flags } = read(argv);
  if (help) return "help";
  const start = flags.start === undefined ? 0 : bytesOf(flags.start, "--start");
  const to = flags.to === undefined ? Number.POSITIVE_INFINITY : bytesOf(flags.to, "--to");
  if (flags.ramp === undefined) {
    if (flags.to !== undefined)
      throw new BadFlagsError(`--to is where a ramp ends: add --ramp 1Mi/s, or use --start ${flags.to} --hold`);
    return { kind: hold ? "hold" : "buffers", start };
  }
  if (to < start) throw new BadFlagsError(`--to ${flags.to} is below --start ${flags.start}: a ramp only grows`);
  return { kind: "ramp", start, bytesPerSecond: bytesPerSecondOf(flags.ramp, "--ramp"), to };
}

function read(argv: readonly string[]) {
  const text = { type: "string" } as const;
  const options = {
    ramp: text,
    to: text,
    start: text,
    hold: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node's first sentence names the flag; what follows is advice about dashes.
    throw new BadFlagsError(`${error.message.split(". ")[0]}; --help lists the flags`, { cause: error });
  }
}
