// A contender is a program that watches all pods and reconciles every change. Ours, client-node's and
// controller-runtime's use the same protocol: one JSON object per line on stdout ("synced", then a "report" for each
// request), and the commands reset, report, calls and quit on stdin. Memory is read from /proc by this process, in the
// same way for all.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export interface Synced {
  /** From the start of the program's own clock (before its imports) to a complete cache. */
  readonly ms: number;
  readonly objects: number;
}

export interface Report {
  /** Changes reconciled since the last reset. */
  readonly changes: number;
  /** Milliseconds from the timestamp of the event to the start of its reconcile. */
  readonly p50: number;
  readonly p99: number;
  /** Longest event-loop block; absent where there is no event loop (Go). */
  readonly longestBlockMs?: number;
}

export class Contender implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting: ((line: Record<string, unknown>) => void)[] = [];
  readonly #unread: Record<string, unknown>[] = [];
  readonly #exited: Promise<void>;

  constructor(argv: readonly string[], kubeconfig: string) {
    const [command = "", ...args] = argv;
    this.#child = spawn(command, [...args, "--kubeconfig", kubeconfig], { stdio: ["pipe", "pipe", "ignore"] });
    this.#exited = new Promise((done) => this.#child.on("exit", () => done()));
    if (this.#child.stdout === null) throw new Error(`${command}: no stdout`);
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const said = JSON.parse(line) as Record<string, unknown>;
      const next = this.#waiting.shift();
      if (next === undefined) this.#unread.push(said);
      else next(said);
    });
  }

  synced(): Promise<Synced> {
    return this.#next<Synced>("synced");
  }

  reset(): void {
    this.#child.stdin?.write("reset\n");
  }

  report(): Promise<Report> {
    this.#child.stdin?.write("report\n");
    return this.#next<Report>("report");
  }

  /** Makes the contender read one object from the server a thousand times, twenty in parallel. */
  async calls(): Promise<void> {
    this.#child.stdin?.write("calls\n");
    await this.#next("called");
  }

  /** Current and peak resident memory, in MiB. */
  memory(): { readonly rss: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN) / 1024;
    return { rss: mib("VmRSS"), peak: mib("VmHWM") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end("quit\n");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await this.#exited;
    clearTimeout(timer);
  }

  async #next<T>(event: string): Promise<T> {
    const said =
      this.#unread.shift() ??
      (await Promise.race([new Promise<Record<string, unknown>>((done) => this.#waiting.push(done)), this.#gone(event)]));
    if (said.event !== event) throw new Error(`expected the event "${event}" from a contender, found ${JSON.stringify(said)}`);
    return said as T;
  }

  async #gone(event: string): Promise<never> {
    await this.#exited;
    throw new Error(`a contender exited before the event "${event}": ${this.#child.spawnargs.join(" ")}`);
  }
}
