// Runs programs for the npm scripts.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { resolve } from "node:path";

export const top = resolve(import.meta.dirname, "..");

/** Turns off colors if the output is not a terminal, because some tools detect it incorrectly. */
export function plainUnlessTerminal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return process.stdout.isTTY ? env : { ...env, NO_COLOR: "1" };
}

/**
 * Runs a program on this terminal and resolves to its exit code. The terminal sends Ctrl-C to the program; other signals
 * are forwarded.
 */
export async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(command, args, { cwd: top, stdio: "inherit", env: plainUnlessTerminal(env) });
  const forward = (signal: NodeJS.Signals) => {
    if (signal !== "SIGINT") child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, forward);
  try {
    return await new Promise((done, fail) => {
      child.on("error", fail);
      child.on("exit", (code, signal) => done(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
    });
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}

/** Exits with this code unless it is 0. */
export function exitOnFailure(code: number): void {
  if (code !== 0) process.exit(code);
}
