// The command line: finds the command, reads its words, runs it, and turns what goes wrong into a line and an exit code.
//
//   0    done
//   1    it did not work; the line on stderr says why and what to do
//   2    the words on the command line mean nothing
import { LocalClusterError } from "../errors.ts";
import { parse, UsageError } from "./arguments.ts";
import type { Command } from "./command.ts";
import { down } from "./down.ts";
import { load } from "./load.ts";
import { status } from "./status.ts";
import { ownName, say, type Terminal } from "./terminal.ts";
import { up } from "./up.ts";

const commands: Readonly<Record<string, Command>> = { up, down, status, load };

/** Resolves to the exit code; never rejects. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...words] = argv;
  try {
    if (name === undefined || name === "--help" || name === "-h" || name === "help") return overview(name, terminal);
    return await run(name, words, terminal);
  } catch (error) {
    return complain(error, name, terminal);
  }
}

async function run(name: string, words: readonly string[], terminal: Terminal): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`no such command: ${name} (there is ${Object.keys(commands).join(", ")})`);
  const parsed = parse(command.prepare?.(words) ?? words, command.flags, command.positionals);
  if (parsed.values.help !== true) return command.run(parsed, terminal);
  say(terminal, command.help(ownName(terminal)));
  return 0;
}

/** Asked for, it is an answer; instead of a command, it is a complaint. */
function overview(name: string | undefined, terminal: Terminal): number {
  const me = ownName(terminal);
  const list = Object.entries(commands).map(([verb, { summary }]) => `  ${verb.padEnd(8)} ${summary}`);
  const lines = [`Usage: ${me} COMMAND`, "", "A real Kubernetes on this machine, in one command.", "", ...list];
  const text = [...lines, "", `${me} COMMAND --help says more.`];
  say(name === undefined ? { ...terminal, out: terminal.err } : terminal, ...text);
  return name === undefined ? 2 : 0;
}

/** Errors by which the user asked for something that cannot be; the rest is the world's fault. */
const misuse = new Set(["UNKNOWN_VERSION", "INVALID_NAME", "INVALID_OPTIONS"]);

function complain(error: unknown, command: string | undefined, terminal: Terminal): number {
  const expected = error instanceof LocalClusterError || error instanceof UsageError;
  terminal.err.write(`localcluster: ${expected ? error.message : describe(error)}\n`);
  if (error instanceof UsageError) {
    const known = command !== undefined && Object.hasOwn(commands, command);
    terminal.err.write(`${ownName(terminal)} ${known ? `${command} ` : ""}--help says more\n`);
  }
  return error instanceof UsageError || (error instanceof LocalClusterError && misuse.has(error.code)) ? 2 : 1;
}

/** Not foreseen, so with everything that helps to find it. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
