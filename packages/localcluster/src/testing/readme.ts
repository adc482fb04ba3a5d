// For tests of READMEs and of programs: runs the commands of a README, and programs as a user starts them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";

export interface ReadmeStep {
  /** As the user types it. */
  readonly command: string;
  /** The expected output, normalized by `comparable`. */
  readonly says: string;
}

/** The commands in the first ```console block of a file. */
export async function stepsIn(path: string): Promise<readonly ReadmeStep[]> {
  const [, text = ""] = /```console\n(.*?)```/s.exec(await readFile(path, "utf8")) ?? [];
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => part.split(/\n(.*)/s, 2))
    .map(([command = "", says = ""]) => ({ command, says: comparable(says) }));
}

/**
 * Removes what differs between runs and versions: durations, column widths, the namespace that newer versions of kubectl print on
 * deletion, and the invalid value, of which older API servers print only the type.
 */
export function comparable(text: string): string {
  return text
    .replace(/\b\d+(m\d+)?s\b/g, "…")
    .replace(/ from \S+ namespace/g, "")
    .replace(/Invalid value: [^:]+: /g, "Invalid value: …: ")
    .replace(/ +/g, " ")
    .trim();
}

/** Starts a program with this Node. Disposing sends SIGTERM, and throws unless the program exits with 0. */
export function startProgram(main: string, ...flags: readonly string[]): AsyncDisposable {
  const child = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const exited = once(child, "exit");
  const close = async () => {
    child.kill("SIGTERM");
    const [code, signal] = await exited;
    if (code !== 0) throw new Error(`expected ${main} to exit with 0, found ${signal ?? `exit code ${code}`}:\n${stderr}`);
  };
  return { [Symbol.asyncDispose]: close };
}
