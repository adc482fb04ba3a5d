// Runs the localcluster command line with its own state folder. Disposing of the fixture stops what the test started.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, loadConfig, systemEnvironment } from "@memhog/runtime";

export interface CommandLine extends AsyncDisposable {
  readonly home: string;
  run(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
}

export async function commandLine(): Promise<CommandLine> {
  const home = await mkdtemp(join(tmpdir(), "lc-"));
  const run: CommandLine["run"] = async (...argv) => {
    const env = { ...process.env, LOCALCLUSTER_HOME: join(home, "state") };
    const program = [join(import.meta.dirname, "localcluster.ts"), ...argv];
    const child = spawn(process.execPath, program, { env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, [code]] = await Promise.all([
      Array.fromAsync(child.stdout),
      Array.fromAsync(child.stderr),
      once(child, "close"),
    ]);
    return { code, out: out.join(""), err: err.join("") };
  };
  const close = async () => {
    await run("down", "--all");
    await rm(home, { recursive: true, force: true });
  };
  return { home, run, [Symbol.asyncDispose]: close };
}

export const clientOf = async (kubeconfig: string) =>
  createClient({ config: await loadConfig({ kubeconfig }), environment: systemEnvironment() });
