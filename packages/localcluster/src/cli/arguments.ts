// Reads the words after a command. A word we do not know is an error, never ignored: `--nodes-real` would otherwise start
// something else than what was meant, and say nothing.
import { type ParseArgsConfig, parseArgs } from "node:util";

/** The words on the command line mean nothing; exit code 2. */
export class UsageError extends Error {}

export type Flags = NonNullable<ParseArgsConfig["options"]>;

export interface Parsed {
  readonly positionals: readonly string[];
  /** The value of a flag, true for one without a value, undefined for one that was not given. */
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

/** `positionals` are what a command takes beside flags: at most so many words. */
export function parse(argv: readonly string[], flags: Flags, positionals: number): Parsed {
  const parsed = readWords(argv, flags);
  const [surplus] = parsed.positionals.slice(positionals);
  if (surplus !== undefined) throw new UsageError(`unexpected ${JSON.stringify(surplus)}`);
  return parsed;
}

function readWords(argv: readonly string[], flags: Flags): Parsed {
  const options = { ...flags, help: { type: "boolean", short: "h" } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    return { values: values as Parsed["values"], positionals };
  } catch (error) {
    // Node's message goes on about what to do with a positional that starts with a dash; nobody here has one.
    const [problem = ""] = error instanceof Error ? error.message.split(/\. |\n/) : [String(error)];
    throw new UsageError(problem.charAt(0).toLowerCase() + problem.slice(1));
  }
}

/** The text of a flag, or undefined. */
export function text({ values }: Parsed, flag: string): string | undefined {
  const value = values[flag];
  return typeof value === "string" ? value : undefined;
}

/** A flag with few words to choose from. */
export function choice<Word extends string>(parsed: Parsed, flag: string, words: readonly Word[]): Word | undefined {
  const value = text(parsed, flag);
  if (value === undefined) return undefined;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw new UsageError(`--${flag}: expected ${words.join(" or ")}, found ${JSON.stringify(value)}`);
  return word;
}

/** `--prometheus` alone and `--prometheus=5s` are both fine; Node's parser knows no flag with a value that may be missing. */
export function withDefault(argv: readonly string[], flag: string, value: string): readonly string[] {
  return argv.map((word) => (word === flag ? `${flag}=${value}` : word));
}
