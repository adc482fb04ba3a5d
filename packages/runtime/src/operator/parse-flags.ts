// Flags as data, and the parser of a command line. The parser, the help text and the types of the values all follow from the table.
// The syntax is what people type at Kubernetes programs: --name=value, --name value, -n value, -nvalue, -v2, -v=2, --v=2,
// -name=value (as Go programs accept it), --boolean, --boolean=false, and -- before arguments that are not flags.
import { FlagError } from "./errors.ts";

interface FlagBase {
  /** For --help: meaning, unit, and the default if it needs words. */
  readonly describe: string;
  /** One letter: "n" for -n. */
  readonly short?: string;
  /** Stands for the value in --help. @default its type */
  readonly placeholder?: string;
}

/** The values that a flag accepts. */
export interface FlagFormat {
  /** Completes "expected …" in the error: "a duration like 15s". */
  readonly expected: string;
  readonly test: (value: string) => boolean;
}

export interface StringFlag extends FlagBase {
  readonly type: "string";
  readonly default?: string;
  /** @default any text */
  readonly format?: FlagFormat;
}

export interface NumberFlag extends FlagBase {
  readonly type: "number";
  readonly default?: number;
  /** Accepts only whole numbers. @default false */
  readonly integer?: boolean;
  readonly min?: number;
  readonly max?: number;
}

export interface BooleanFlag extends FlagBase {
  readonly type: "boolean";
  /** @default false */
  readonly default?: boolean;
}

/** May be given several times; commas separate values too. */
export interface ListFlag extends FlagBase {
  readonly type: "list";
  /** Of each value. @default any text */
  readonly format?: FlagFormat;
}

export type Flag = StringFlag | NumberFlag | BooleanFlag | ListFlag;

/** Flags by their long names, without the dashes. */
export type FlagTable = Readonly<Record<string, Flag>>;

/** The value of one flag. */
export type FlagValue<F extends Flag> = F extends BooleanFlag
  ? boolean
  : F extends ListFlag
    ? readonly string[]
    : F extends { readonly type: "number"; readonly default: number }
      ? number
      : F extends NumberFlag
        ? number | undefined
        : F extends { readonly default: string }
          ? string
          : string | undefined;

/** The values of a table, by long name. */
export type FlagValues<T extends FlagTable> = { readonly [Name in keyof T]: FlagValue<T[Name]> };

export interface Parsed<T extends FlagTable> {
  readonly values: FlagValues<T>;
  /** The arguments that are not flags, in order. */
  readonly words: readonly string[];
}

/** @throws FlagError naming the flag, what was expected and what was found */
export function parseFlags<T extends FlagTable>(argv: readonly string[], table: T): Parsed<T> {
  const given = new Map<string, string[]>();
  const words: string[] = [];
  const left = [...argv];
  for (let argument = left.shift(); argument !== undefined; argument = left.shift()) {
    if (argument === "--") {
      words.push(...left.splice(0));
    } else if (argument === "-" || !argument.startsWith("-")) {
      words.push(argument);
    } else {
      const typed = recognize(argument, table);
      const value = typed.value ?? (typed.flag.type === "boolean" ? "true" : left.shift());
      if (value === undefined) throw new FlagError(`expected a value after ${typed.spelling}, found the end of the command line`);
      given.set(typed.name, [...(given.get(typed.name) ?? []), value]);
    }
  }
  const values = Object.entries(table).map(([name, flag]) => [name, parsedValue(name, flag, given.get(name) ?? [])]);
  return { values: Object.fromEntries(values) as FlagValues<T>, words };
}

/** One flag as it was typed. */
interface TypedFlag {
  readonly name: string;
  readonly flag: Flag;
  /** As the user spelled it, for messages. */
  readonly spelling: string;
  readonly value: string | undefined;
}

function recognize(argument: string, table: FlagTable): TypedFlag {
  const [spelling = "", ...rest] = argument.split("=");
  const value = rest.length === 0 ? undefined : rest.join("=");
  const name = spelling.replace(/^--?/, "");
  const long = Object.hasOwn(table, name) ? table[name] : undefined;
  if (long !== undefined) return { name, flag: long, spelling, value };
  if (!argument.startsWith("--")) {
    const [shortName, short] = Object.entries(table).find(([, flag]) => flag.short === argument[1]) ?? [];
    if (shortName !== undefined && short !== undefined) {
      const attached = argument.slice(2).replace(/^=/, "");
      return { name: shortName, flag: short, spelling: `-${argument[1]}`, value: attached === "" ? undefined : attached };
    }
  }
  throw new FlagError(`unknown flag ${spelling}${suggestion(name, table)} → --help lists all flags`);
}

function parsedValue(name: string, flag: Flag, given: readonly string[]): unknown {
  const last = given.at(-1);
  switch (flag.type) {
    case "list":
      return given.flatMap((value) => value.split(",")).map((value) => accepted(name, value, flag.format));
    case "boolean":
      return last === undefined ? (flag.default ?? false) : parseBoolean(name, last);
    case "string":
      return last === undefined ? flag.default : accepted(name, last, flag.format);
    case "number":
      return last === undefined ? flag.default : parseNumber(name, last, flag);
  }
}

function accepted(name: string, value: string, format: FlagFormat | undefined): string {
  if (format === undefined || format.test(value)) return value;
  throw new FlagError(`--${name}: expected ${format.expected}, found ${JSON.stringify(value)}`);
}

function parseNumber(name: string, text: string, { integer = false, min, max }: NumberFlag): number {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  const fits =
    Number.isFinite(number) &&
    !(integer && !Number.isInteger(number)) &&
    !(number < (min ?? number)) &&
    !(number > (max ?? number));
  if (fits) return number;
  const bounds = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])].join(
    " and ",
  );
  const expected = `a${integer ? " whole" : ""} number${bounds === "" ? "" : ` of ${bounds}`}`;
  throw new FlagError(`--${name}: expected ${expected}, found ${JSON.stringify(text)}`);
}

function parseBoolean(name: string, text: string): boolean {
  if (/^(true|t|1)$/i.test(text)) return true;
  if (/^(false|f|0)$/i.test(text)) return false;
  throw new FlagError(`--${name}: expected true or false, found ${JSON.stringify(text)}`);
}

/** The known flag closest to what was typed, if any is close. */
function suggestion(typed: string, table: FlagTable): string {
  const [best] = Object.keys(table)
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .filter(({ name, distance }) => distance <= Math.max(1, name.length / 4))
    .sort((a, b) => a.distance - b.distance);
  return best === undefined ? "" : ` (did you mean --${best.name}?)`;
}

/** How many letters have to be changed, added or removed (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Lines of help, aligned. */
export function helpFor(table: FlagTable): string {
  const rows = Object.entries(table).map(([name, flag]) => ({ left: leftColumn(name, flag), right: rightColumn(flag) }));
  return aligned(rows);
}

/** Two columns of text. */
export function aligned(rows: readonly { readonly left: string; readonly right: string }[]): string {
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, right }) => `${left.padEnd(width)}   ${right}`).join("\n");
}

function leftColumn(name: string, flag: Flag): string {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  return `  ${short}--${name}${flag.type === "boolean" ? "" : ` ${flag.placeholder ?? flag.type}`}`;
}

function rightColumn(flag: Flag): string {
  const shown = "default" in flag && flag.default !== undefined && flag.default !== false;
  return `${flag.describe}${shown ? ` (default ${JSON.stringify(flag.default)})` : ""}`;
}
