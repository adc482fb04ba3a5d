import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { CommandFailedError } from "../errors.ts";
import { componentEnvironment } from "../process/component.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import type { Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

/** A sandbox and whose it is. */
export interface NodeHome {
  readonly directory: ClusterDirectory;
  readonly sandbox: Sandbox;
}

export interface InsideOptions {
  /** A file descriptor. @default nothing */
  readonly stdin?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program in the sandbox to its end; answers with what it said on stdout. Rejects with its last words. */
export async function runInside(
  { directory, sandbox }: NodeHome,
  argv: readonly string[],
  { stdin, signal }: InsideOptions = {},
): Promise<string> {
  const [command = "", ...args] = sandbox.command(argv);
  const env = componentEnvironment({ name: "command", env: sandbox.tools.env }, directory);
  const child = spawn(command, args, { stdio: [stdin ?? "ignore", "pipe", "pipe"], env, ...(signal && { signal }) });
  const said = Promise.all([child.stdout, child.stderr].map((stream) => (stream === null ? "" : text(stream))));
  const [code, killed] = await once(child, "exit");
  const [out = "", err = ""] = await said;
  if (code === 0) return out;
  const lastWords = err.trim().split("\n").slice(-5).join("\n") || (killed ?? `exit code ${code}`);
  throw new CommandFailedError(
    argv
      .map((arg) => arg.split("/").at(-1))
      .slice(0, 4)
      .join(" "),
    lastWords,
    undefined,
  );
}

/** Waits until something inside answers with success at this address. */
export async function untilHttpAnswers(node: NodeHome, url: string, signal: AbortSignal): Promise<void> {
  // No -T: a static busybox crashes when it sets its timer. The signal is the timer.
  const argv = [node.sandbox.tools.path("busybox"), "wget", "-q", "-O", "-", url];
  await until(() => succeeds(runInside(node, argv, { signal })), { signal });
}

export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
