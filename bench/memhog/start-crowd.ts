// Runs crowd-server in a separate process, so that its memory and CPU time do not count as the operator's.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { atTheEnd } from "./at-the-end.ts";

export interface Crowd extends AsyncDisposable {
  readonly kubeconfig: string;
  /** The URL of its Prometheus endpoint. */
  readonly prometheus: string;
  /** Resolves when there are this many pods. */
  grow(pods: number): Promise<void>;
}

export async function startCrowd(): Promise<Crowd> {
  const folder = mkdtempSync(join(tmpdir(), "bench-crowd-"));
  const kubeconfig = join(folder, "kubeconfig");
  const argv = [join(import.meta.dirname, "crowd-server.ts"), kubeconfig];
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
  const tie = atTheEnd(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error("the crowd-server ended");
    return JSON.parse(value) as { readonly prometheus?: string };
  };
  const { prometheus = "" } = await next();
  return {
    kubeconfig,
    prometheus,
    async grow(pods) {
      console.error(`making ${pods} simulated pods`);
      child.stdin.write(`${pods}\n`);
      await next();
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const impatience = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await exited;
      clearTimeout(impatience);
      tie[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
