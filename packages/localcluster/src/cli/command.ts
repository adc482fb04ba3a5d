// What the commands share: their type, parsing of arguments, and output.
import { type ParseArgsConfig, parseArgs, styleText } from "node:util";

/** A command such as `up`. */
export interface Command {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** The text of --help; `program` is how the user calls localcluster. */
  help(program: string): string;
  readonly flags: Flags;
  /** The maximum number of positional arguments. */
  readonly positionals: number;
  /** Rewrites arguments that the parser does not support. */
  prepare?(argv: readonly string[]): readonly string[];
  /** Resolves to the exit code. */
  run(parsed: Parsed, terminal: Terminal): Promise<number>;
}

/** Invalid arguments; exit code 2. */
export class UsageError extends Error {}

export type Flags = NonNullable<ParseArgsConfig["options"]>;

export interface Parsed {
  readonly positionals: readonly string[];
  /** The value of a flag, true for a boolean flag, undefined for a flag that was not given. */
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

/** An unknown flag is an error: with a misspelled flag ignored, `up --node real` would start a cluster without a node. */
export function parse(argv: readonly string[], flags: Flags, maxPositionals: number): Parsed {
  const options = { ...flags, help: { type: "boolean", short: "h" } } as const;
  const parsed = parseStrictly({ args: [...argv], options, allowPositionals: true, strict: true });
  const [surplus] = parsed.positionals.slice(maxPositionals);
  if (surplus !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(surplus)}`);
  return parsed;
}

function parseStrictly(config: ParseArgsConfig): Parsed {
  try {
    const { values, positionals } = parseArgs(config);
    return { values: values as Parsed["values"], positionals };
  } catch (error) {
    // Only the first sentence: the rest explains positional arguments that start with a dash, which no command takes.
    const [problem = ""] = error instanceof Error ? error.message.split(/\. |\n/) : [String(error)];
    throw new UsageError(problem.charAt(0).toLowerCase() + problem.slice(1));
  }
}

/** The value of a string flag, or undefined. */
export function text({ values }: Parsed, flag: string): string | undefined {
  const value = values[flag];
  if (value === "") throw new UsageError(`--${flag}: expected a value, found ""`);
  return typeof value === "string" ? value : undefined;
}

/** The value of a flag that takes one of a few values. */
export function choice<Value extends string>(parsed: Parsed, flag: string, values: readonly Value[]): Value | undefined {
  const found = text(parsed, flag);
  if (found === undefined) return undefined;
  const value = values.find((candidate) => candidate === found);
  if (value === undefined) throw new UsageError(`--${flag}: expected ${values.join(" or ")}, found ${JSON.stringify(found)}`);
  return value;
}

/** Gives `--prometheus` without a value its default, because Node's parser does not support optional values. */
export function withDefault(argv: readonly string[], flag: string, value: string): readonly string[] {
  return argv.map((word) => (word === flag ? `${flag}=${value}` : word));
}

type Style = Parameters<typeof styleText>[0];

interface Output {
  write(text: string): boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Terminal {
  /** For results, which a script may read. */
  readonly out: Output;
  /** For everything else. */
  readonly err: Output;
  readonly env: NodeJS.ProcessEnv;
}

/** Applies colors on a terminal, unless NO_COLOR is set. */
export function paint(style: Style, text: string, { out, env }: Terminal): string {
  return out.isTTY === true && !env.NO_COLOR ? styleText(style, text, { validateStream: false }) : text;
}

/** How the user calls localcluster, for help texts. */
export function programName({ env }: Terminal): string {
  return env.npm_lifecycle_event === "localcluster" ? "npm run localcluster --" : "localcluster";
}

export function print({ out }: Terminal, ...lines: readonly string[]): void {
  for (const line of lines) out.write(`${line}\n`);
}
