// Runs a program and waits for it to exit.
import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { promisify } from "node:util";

export interface CommandOptions {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
  /** Called with each chunk of stderr as it arrives. */
  readonly onStderr?: (text: string) => void;
}

/** The program failed. */
export interface CommandFailure extends Error {
  readonly code: string | number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the program wrote to stdout. Rejects with a CommandFailure, or with the signal's reason. */
export async function run(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { onStderr, signal, ...rest } = options;
  const running = promisify(execFile)(command, args, { ...rest, ...(signal && { signal }), maxBuffer: 64 * 1024 * 1024 });
  if (onStderr) running.child.stderr?.on("data", onStderr);
  try {
    return (await running).stdout;
  } catch (failure) {
    signal?.throwIfAborted();
    throw failure;
  }
}

export async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
