// The command line of the hog: flags, sizes and speeds, help. It has no side effects and no dependencies: the program and the
// simulator's model of it use the same parser (`@memhog/hog/options`).
import { parseArgs } from "node:util";

/** What --help prints. */
export const help = `hog: uses memory on purpose, and prints how much

Usage: hog [--ramp SPEED [--to SIZE] [--idle DURATION]] [--start SIZE] [--hold]

Without flags, hog allocates a buffer of 5 to 10 MiB every second and stores it in one of 20 slots, replacing the buffer in
that slot. It grows for a minute or two, then stays around 150 MiB and never exceeds 200 MiB.

  --ramp SPEED     grow steadily instead: 1Mi/s, 30Mi/min. Growth follows the clock: a late tick catches up.
  --to SIZE        stop growing at this size: 500Mi. Without it, the ramp never ends.
  --idle DURATION  wait before the ramp begins: 60s, 2m, 1h. Until then, hog holds what --start says. Default 0s.
  --start SIZE     hold this much from the start; everything else is added to it. Default 0.
  --hold           no buffers: hold what --start says. (A ramp holds what it has reached anyway.)
  -h, --help       print this help

Sizes are Kubernetes quantities: 50Mi, 1.5Gi, 500M, or bytes. Every page is written to, so all of it is resident. The
container uses this much in addition to what Node itself needs (see README.md).

  hog --ramp 1Mi/s --to 500Mi      exceeds 75 % of 384Mi after about four and a half minutes, and ends at 500 MiB
  hog --ramp 10Mi/s                takes nearly ten seconds from 75 % of 384Mi to the OOM kill
  hog --ramp 10Mi/s --idle 60s     the same, after a minute in which it holds nothing
  hog --start 50Mi --hold          holds 50 MiB

Every second it prints one line, "holding 123.4 MiB". On SIGTERM and Ctrl-C it prints a summary and exits.`;

/** An error for the user who started the hog. */
export abstract class HogError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A size, speed or duration that cannot be parsed. */
export class BadQuantityError extends HogError {
  readonly code = "HOG_BAD_QUANTITY";
  constructor(flag: string, { expected, found }: { readonly expected: string; readonly found: string }) {
    super(`${flag}: expected ${expected}, found ${JSON.stringify(found)}`);
  }
}

/** Unknown flags, or flags that contradict each other. */
export class BadFlagsError extends HogError {
  readonly code = "HOG_BAD_FLAGS";
}

/** What the hog holds over time. Sizes are in bytes; `to` is infinite for a ramp without an end, which begins after `idleMs`. */
export type HogPlan =
  | {
      readonly kind: "ramp";
      readonly start: number;
      readonly idleMs: number;
      readonly bytesPerSecond: number;
      readonly to: number;
    }
  | { readonly kind: "hold"; readonly start: number }
  | { readonly kind: "buffers"; readonly start: number };

/** The plan that the flags ask for, or "help". Throws a HogError that names the invalid flag. */
export function parseHogFlags(argv: readonly string[]): HogPlan | "help" {
  const { help: helpRequested, hold, ...flags } = parseFlags(argv);
  if (helpRequested) return "help";
  const start = flags.start === undefined ? 0 : parseSize(flags.start, "--start");
  const to = flags.to === undefined ? Number.POSITIVE_INFINITY : parseSize(flags.to, "--to");
  if (flags.ramp === undefined) {
    if (flags.to !== undefined)
      throw new BadFlagsError(`--to is the end of a ramp: add --ramp 1Mi/s, or use --start ${flags.to} --hold`);
    if (flags.idle !== undefined) throw new BadFlagsError("--idle is the time before a ramp: add --ramp 1Mi/s");
    return { kind: hold ? "hold" : "buffers", start };
  }
  if (to < start) throw new BadFlagsError(`expected --to to be at least --start, found ${flags.to} and ${flags.start}`);
  const idleMs = flags.idle === undefined ? 0 : parseDuration(flags.idle, "--idle");
  return { kind: "ramp", start, idleMs, bytesPerSecond: parseSpeed(flags.ramp, "--ramp"), to };
}

function parseFlags(argv: readonly string[]) {
  const string = { type: "string" } as const;
  const boolean = { type: "boolean" } as const;
  const ramp = { ramp: string, to: string, idle: string } as const;
  const options = { ...ramp, start: string, hold: boolean, help: { ...boolean, short: "h" } } as const;
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The first sentence names the flag; the rest explains positional arguments that start with a dash.
    throw new BadFlagsError(`${error.message.split(". ")[0]}; --help lists the flags`, { cause: error });
  }
}

export const mebibyte = 1024 * 1024;

/** The suffixes of Kubernetes quantities that are usual for memory. */
const units: Readonly<Record<string, number>> = {
  "": 1,
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ Ki: 1024, Mi: mebibyte, Gi: 1024 * mebibyte, Ti: 1024 * 1024 * mebibyte },
};

/** "1.5Mi" → 1572864. Rounded up to whole bytes, as Kubernetes does. */
export function parseSize(text: string, flag: string): number {
  const bytes = parseBytes(text);
  if (bytes === undefined) throw new BadQuantityError(flag, { expected: "a size such as 50Mi, 1.5Gi or 500M", found: text });
  return Math.ceil(bytes);
}

/** "1Mi/s" → 1048576, "30Mi/min" → 524288 bytes per second. Not rounded, because a slow ramp adds up. */
export function parseSpeed(text: string, flag: string): number {
  const [, size = "", per] = /^(.*)\/(s|min)$/.exec(text) ?? [];
  const bytes = parseBytes(size);
  if (bytes === undefined || bytes === 0) {
    throw new BadQuantityError(flag, { expected: "a speed above zero such as 1Mi/s or 30Mi/min", found: text });
  }
  return per === "min" ? bytes / 60 : bytes;
}

/** "60s" → 60000, "1.5m" → 90000 milliseconds. */
function parseDuration(text: string, flag: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text) ?? [];
  const ms = Number(digits) * (unit === "h" ? 3_600_000 : unit === "m" ? 60_000 : 1_000);
  if (ms <= Number.MAX_SAFE_INTEGER) return ms; // not for NaN
  throw new BadQuantityError(flag, { expected: "a duration such as 60s, 2m or 1h", found: text });
}

function parseBytes(text: string): number | undefined {
  const [, digits, suffix = ""] = /^(\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(text) ?? [];
  const unit = Object.hasOwn(units, suffix) ? units[suffix] : undefined;
  const bytes = digits === undefined || unit === undefined ? Number.NaN : Number(digits) * unit;
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined; // also for NaN
}

/** 129394278 → "123.4 MiB" */
export function formatMebibytes(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(1)} MiB`;
}
