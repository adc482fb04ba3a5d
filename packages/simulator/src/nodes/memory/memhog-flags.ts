// The flags of the workload, read as strictly as it reads them itself (workloads/memhog/src/options.ts): a container whose
// flags make no sense ends with 2 here as it does on a real node.
import { parseArgs } from "node:util";
import { parseQuantity } from "@memhog/runtime";

/** Sizes are in bytes. */
export type MemhogPlan =
  | { readonly kind: "ramp"; readonly start: number; readonly perSecond: number; readonly to: number }
  | { readonly kind: "hold"; readonly start: number }
  | { readonly kind: "buffers"; readonly start: number }
  /** It ends at once: it was asked for help, or cannot use its flags. */
  | { readonly kind: "end"; readonly exitCode: 0 | 2; readonly says: string };

export function memhogPlanOf(args: readonly string[]): MemhogPlan {
  try {
    return planOf(args);
  } catch (error) {
    return { kind: "end", exitCode: 2, says: error instanceof Error ? error.message : String(error) };
  }
}

const text = { type: "string" } as const;
const options = {
  ramp: text,
  to: text,
  start: text,
  hold: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

function planOf(args: readonly string[]): MemhogPlan {
  const { help, hold, ...flags } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  if (help) return { kind: "end", exitCode: 0, says: "usage: memhog" };
  const start = flags.start === undefined ? 0 : sizeIn(flags.start, "--start");
  const to = flags.to === undefined ? Number.POSITIVE_INFINITY : sizeIn(flags.to, "--to");
  if (flags.ramp === undefined) {
    if (flags.to !== undefined) throw new TypeError("expected --to beside a --ramp, found none");
    return { kind: hold ? "hold" : "buffers", start };
  }
  if (to < start) throw new RangeError(`expected --to to be --start or more, found ${flags.to} and ${flags.start}`);
  return { kind: "ramp", start, perSecond: speedIn(flags.ramp), to };
}

function sizeIn(text: string, flag: string): number {
  const bytes = bytesIn(text);
  if (bytes === undefined) throw new TypeError(`${flag}: expected a size such as 50Mi, found ${JSON.stringify(text)}`);
  return Math.ceil(bytes);
}

function speedIn(text: string): number {
  const [, size = "", per] = /^(.*)\/(s|min)$/.exec(text) ?? [];
  const bytes = bytesIn(size) ?? 0;
  if (bytes === 0) throw new TypeError(`--ramp: expected a speed such as 1Mi/s or 30Mi/min, found ${JSON.stringify(text)}`);
  return per === "min" ? bytes / 60 : bytes;
}

/** Of the spellings of Kubernetes it knows those that people use for memory. */
function bytesIn(text: string): number | undefined {
  if (!/^\d+(\.\d+)?([kMGT]|[KMGT]i)?$/.test(text)) return undefined;
  const bytes = parseQuantity(text).toNumber();
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined;
}
