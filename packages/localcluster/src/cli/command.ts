import type { Flags, Parsed } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";

/** One verb of the command line. */
export interface Command {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** What --help says; `me` is what people type to get here. */
  help(me: string): string;
  readonly flags: Flags;
  /** How many words it takes beside its flags, at most. */
  readonly positionals: number;
  /** Makes plain words of what the parser could not read. */
  prepare?(argv: readonly string[]): readonly string[];
  /** Resolves to the exit code. */
  run(parsed: Parsed, terminal: Terminal): Promise<number>;
}
