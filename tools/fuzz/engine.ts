// Runs a target on random inputs and collects the failures. An input depends only on the seed and its number, so you can
// repeat a finding alone. To add a target, add it to `targets` in tools/fuzz.ts.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { seededRandom } from "@memhog/runtime/testing";

/** Returns numbers from 0 to 1. */
export type Random = () => number;

export interface Target extends AsyncDisposable {
  /** Number of inputs to try in parallel. @default 1 */
  readonly concurrency?: number;
  /** Tries one input. @throws Finding */
  attempt(random: Random): Promise<void>;
  /** Checks the state of the target, periodically and at the end. @throws Finding */
  check?(): Promise<void>;
  /** A one-line summary of the results, to see which code the inputs reach. */
  summary?(): string;
}

/** A failure, with the input that caused it. */
export class Finding extends Error {
  readonly code = "FUZZ_FINDING";
  override readonly name = "Finding";
}

export interface FuzzOptions {
  readonly seed: number;
  readonly inputs: number;
  /** The number of the first input, to repeat a finding. @default 0 */
  readonly first?: number;
  /** Called for each finding immediately, because a long run can be interrupted. */
  readonly onFinding?: (finding: FuzzReport["findings"][number]) => void;
  /** Called with the number of inputs tried so far. */
  readonly onProgress?: (tried: number) => void;
}

export interface FuzzReport {
  readonly tried: number;
  /** One finding of each kind, with the number of the input. */
  readonly findings: readonly { readonly input: number; readonly what: string }[];
  /** The longest event-loop block, in milliseconds. */
  readonly longestBlockMs: number;
}

const checkEvery = 500;
const mostFindings = 50;

export async function fuzz(target: Target, { seed, inputs, first = 0, onFinding, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const findings = new Map<string, { readonly input: number; readonly what: string }>();
  const underWay = new Set<number>();
  const found = (input: number, error: unknown) => {
    const what = error instanceof Finding ? error.message : `not a finding but a failure of the fuzzer: ${stackOf(error)}`;
    const [kind = what] = what.split("\n");
    if (findings.has(kind) || findings.size >= mostFindings) return;
    findings.set(kind, { input, what });
    onFinding?.({ input, what });
  };
  const lost = (error: unknown) => {
    const [input = -1] = underWay;
    found(input, new Finding(`the process would have ended: ${stackOf(error)}\nunder way: inputs ${[...underWay].join(", ")}`));
  };
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  process.on("uncaughtException", lost).on("unhandledRejection", lost);
  try {
    let next = first;
    const work = async () => {
      while (next < first + inputs) {
        const input = next;
        next += 1;
        underWay.add(input);
        await target.attempt(seededRandom(mixed(seed, input))).catch((error) => found(input, error));
        underWay.delete(input);
        if (input % checkEvery === 0) await target.check?.().catch((error) => found(input, error));
        onProgress?.(input - first + 1);
      }
    };
    await Promise.all(Array.from({ length: target.concurrency ?? 1 }, work));
    await target.check?.().catch((error) => found(next, error));
  } finally {
    process.off("uncaughtException", lost).off("unhandledRejection", lost);
    delay.disable();
  }
  return { tried: inputs, findings: [...findings.values()], longestBlockMs: delay.max / 1e6 };
}

/** Consecutive inputs must get unrelated seeds. */
function mixed(seed: number, input: number): number {
  let hash = (seed ^ Math.imul(input + 1, 0x9e3779b1)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
  return (hash ^ (hash >>> 13)) >>> 0;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T;
}

export function whole(random: Random, below: number): number {
  return Math.floor(random() * below);
}
