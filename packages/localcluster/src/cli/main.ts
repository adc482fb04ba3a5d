// The command line: finds the command, parses its arguments, runs it, and reports errors.
//
//   0    success
//   1    the command failed; stderr says why and what to do
//   2    invalid arguments
import { readFileSync } from "node:fs";
import { LocalClusterError } from "../errors.ts";
import { type Command, parse, print, programName, type Terminal, UsageError } from "./command.ts";
import { down, load, status } from "./commands.ts";
import { up } from "./up.ts";

const commands: Readonly<Record<string, Command>> = { up, down, status, load };

/** Resolves to the exit code; never rejects. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...args] = argv;
  try {
    if (name === undefined || name === "--help" || name === "-h" || name === "help") return overview(name, terminal);
    if (name === "--version") return version(args, terminal);
    return await run(name, args, terminal);
  } catch (error) {
    return report(error, name, terminal);
  }
}

async function run(name: string, args: readonly string[], terminal: Terminal): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined)
    throw new UsageError(`unknown command ${JSON.stringify(name)}: expected one of ${Object.keys(commands).join(", ")}`);
  const parsed = parse(command.prepare?.(args) ?? args, command.flags, command.positionals);
  if (parsed.values.help !== true) return command.run(parsed, terminal);
  print(terminal, command.help(programName(terminal)));
  return 0;
}

/** Without a command, the overview is an error message. */
function overview(name: string | undefined, terminal: Terminal): number {
  const program = programName(terminal);
  const list = Object.entries(commands).map(([verb, { summary }]) => `  ${verb.padEnd(8)} ${summary}`);
  const lines = [`Usage: ${program} COMMAND`, "", "Runs a real Kubernetes on this machine.", "", "Commands:", ...list];
  const text = [...lines, "", `Run \`${program} COMMAND --help\` for the flags of a command.`];
  print(name === undefined ? { ...terminal, out: terminal.err } : terminal, ...text);
  return name === undefined ? 2 : 0;
}

function version([surplus]: readonly string[], terminal: Terminal): number {
  if (surplus !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(surplus)}`);
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  print(terminal, `localcluster ${manifest.version}`);
  return 0;
}

/** Errors about the arguments, as opposed to the state of the machine. */
const usageCodes = new Set(["UNKNOWN_VERSION", "INVALID_NAME", "INVALID_OPTIONS"]);

function report(error: unknown, command: string | undefined, terminal: Terminal): number {
  const expected = error instanceof LocalClusterError || error instanceof UsageError;
  terminal.err.write(`localcluster: ${expected ? error.message : describe(error)}\n`);
  if (error instanceof UsageError) {
    const known = command !== undefined && Object.hasOwn(commands, command);
    terminal.err.write(`Run \`${programName(terminal)} ${known ? `${command} ` : ""}--help\` for usage.\n`);
  }
  return error instanceof UsageError || (error instanceof LocalClusterError && usageCodes.has(error.code)) ? 2 : 1;
}

/** An unexpected error, with its stack. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
