// What the commands of the menu share: run a program to its end, and say how long it took.
import { spawn } from "node:child_process";
import { resolve } from "node:path";

export const top = resolve(import.meta.dirname, "..");

/** Colours are for terminals: some tools guess wrong when their output goes to a file. */
export function plainUnlessTerminal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return process.stdout.isTTY ? env : { ...env, NO_COLOR: "1" };
}

/** Runs a program with our terminal and resolves to its exit code; Ctrl-C reaches it through the terminal. */
export async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    return await new Promise((done, fail) => {
      const child = spawn(command, args, { cwd: top, stdio: "inherit", env: plainUnlessTerminal(env) });
      child.on("error", fail);
      child.on("exit", (code, signal) => done(signal === null ? (code ?? 1) : 1));
    });
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** Ends the process with this code if it says that something failed. */
export function exitOnFailure(code: number): void {
  if (code !== 0) process.exit(code);
}
