// A command line, read by a table. Accepts what people type at Kubernetes programs: --name=value, --name value, -n value,
// -nvalue, -v2, -v=2, --v=2, -name=value (as Go programs take it), --switch, --switch=false, and -- before what is no flag.
import { FlagError } from "./errors.ts";
import type { Flag, FlagTable, FlagValues } from "./flag-table.ts";

export interface Parsed<T extends FlagTable> {
  readonly values: FlagValues<T>;
  /** What is no flag, in order. */
  readonly words: readonly string[];
}

/** One flag as it was typed. */
interface Typed {
  readonly name: string;
  readonly flag: Flag;
  /** As the user spelt it, for messages. */
  readonly spelling: string;
  readonly value: string | undefined;
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
      const typed = recognise(argument, table);
      const value = typed.value ?? (typed.flag.type === "switch" ? "true" : left.shift());
      if (value === undefined) throw new FlagError(`expected a value after ${typed.spelling}, found the end of the command line`);
      given.set(typed.name, [...(given.get(typed.name) ?? []), value]);
    }
  }
  const values = Object.entries(table).map(([name, flag]) => [name, parsedValue(name, flag, given.get(name) ?? [])]);
  return { values: Object.fromEntries(values) as FlagValues<T>, words };
}

function recognise(argument: string, table: FlagTable): Typed {
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
  throw new FlagError(`expected a flag I know, found ${spelling}${suggestion(name, table)} → --help lists them all`);
}

function parsedValue(name: string, flag: Flag, given: readonly string[]): unknown {
  const last = given.at(-1);
  if (flag.type === "list") return given.flatMap((value) => value.split(",")).filter((value) => value !== "");
  if (flag.type === "switch") return last !== undefined && truth(name, last);
  if (last === undefined) return flag.default;
  if (flag.type === "text") return last;
  const number = Number(last);
  if (last.trim() === "" || !Number.isFinite(number))
    throw new FlagError(`--${name}: expected a number, found ${JSON.stringify(last)}`);
  return number;
}

function truth(name: string, text: string): boolean {
  if (/^(true|t|1)$/i.test(text)) return true;
  if (/^(false|f|0)$/i.test(text)) return false;
  throw new FlagError(`--${name}: expected true or false, found ${JSON.stringify(text)}`);
}

/** The known flag that is most like what was typed, if any is. */
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
