// Flags as data: what there is, what it means, what it takes. The parser, the help text and the types of the result are
// all made from the table.

interface FlagBase {
  /** For --help: meaning, unit, default if it needs words. */
  readonly describe: string;
  /** One letter: "n" for -n. */
  readonly short?: string;
  /** What stands for the value in --help. @default its type */
  readonly placeholder?: string;
}

export interface TextFlag extends FlagBase {
  readonly type: "text";
  readonly default?: string;
}

export interface NumberFlag extends FlagBase {
  readonly type: "number";
  readonly default?: number;
}

export interface SwitchFlag extends FlagBase {
  readonly type: "switch";
}

/** May be given several times; commas separate values too. */
export interface ListFlag extends FlagBase {
  readonly type: "list";
}

export type Flag = TextFlag | NumberFlag | SwitchFlag | ListFlag;

/** Flags by their long names, without the dashes. */
export type FlagTable = Readonly<Record<string, Flag>>;

/** What parsing one flag gives. */
export type FlagValue<F extends Flag> = F extends SwitchFlag
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

/** What parsing a table gives, by long name. */
export type FlagValues<T extends FlagTable> = { readonly [Name in keyof T]: FlagValue<T[Name]> };

/** Lines of help, aligned. */
export function helpFor(table: FlagTable): string {
  const rows = Object.entries(table).map(([name, flag]) => ({ left: `${leftColumn(name, flag)}`, right: rightColumn(flag) }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, right }) => `${left.padEnd(width)}   ${right}`).join("\n");
}

function leftColumn(name: string, flag: Flag): string {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  return `  ${short}--${name}${flag.type === "switch" ? "" : ` ${flag.placeholder ?? flag.type}`}`;
}

function rightColumn(flag: Flag): string {
  const usual = "default" in flag && flag.default !== undefined ? ` (default ${JSON.stringify(flag.default)})` : "";
  return `${flag.describe}${usual}`;
}
