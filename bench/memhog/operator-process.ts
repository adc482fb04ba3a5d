// The operator as users run it: a process of its own, in plain JavaScript, as the image has it (tools/operator-tree.ts). It is
// measured from outside: memory and time of the processor in /proc, everything else by the metrics that anybody can scrape.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@memhog/runtime/testing";
import { writeOperatorTree } from "../../tools/operator-tree.ts";
import { atTheEnd } from "./at-the-end.ts";

/** The files of the operator, for as long as they are needed. */
export async function operatorTree(): Promise<{ readonly program: string } & Disposable> {
  const folder = mkdtempSync(join(tmpdir(), "bench-memhog-"));
  await writeOperatorTree(folder);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const tie = atTheEnd(remove);
  return {
    program: join(folder, "src/main.js"),
    [Symbol.dispose]() {
      tie[Symbol.dispose]();
      remove();
    },
  };
}

export interface OperatorProcessOptions {
  readonly program: string;
  readonly kubeconfig: string;
  /** Where Prometheus is. */
  readonly prometheus: string;
  /** "5s" */
  readonly interval: string;
}

/**
 * In the pod of our manifests, whose limit is 256Mi, Node gives itself a heap of at most 259 MiB, and keeps it tidier than on a machine
 * that has plenty. Here it is told so: the operator is measured as it runs in a cluster.
 */
const heap = "--max-heap-size=259";

/** The sum of all series of a metric whose labels match. */
export type Read = (metric: string, labels?: RegExp) => number;

export class OperatorProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #metricsPort: number;
  readonly #exited: Promise<void>;
  readonly #tie: Disposable;
  #said = "";

  private constructor(child: ChildProcess, metricsPort: number) {
    this.#child = child;
    this.#metricsPort = metricsPort;
    this.#tie = atTheEnd(() => child.kill("SIGKILL"));
    this.#exited = new Promise((done) => child.once("exit", () => done()));
    child.stderr?.on("data", (data) => {
      this.#said = (this.#said + data).slice(-4_000);
    });
  }

  /** Resolves when its metrics can be read. One replica alone: it holds no Lease. */
  static async start({ program, kubeconfig, prometheus, interval }: OperatorProcessOptions): Promise<OperatorProcess> {
    const port = await freePort();
    const where = ["--all-namespaces", "--install-crds", "--kubeconfig", kubeconfig, "--prometheus-addr", prometheus];
    const ports = ["--metrics-bind-address", `127.0.0.1:${port}`, "--health-probe-bind-address", "0"];
    const argv = [heap, program, ...where, ...ports, "--interval", interval];
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH } });
    const operator = new OperatorProcess(child, port);
    await until(
      () => operator.#scrape().then(...toBoolean),
      `the operator to serve metrics`,
      () => operator.mustLive(),
    );
    return operator;
  }

  /** @throws Error with its last words, if it has ended */
  mustLive(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(`the operator ended: ${this.#said}`);
  }

  /** Resident memory in MiB now, what of it is not of a file (Node's program is, and is shared by all who run it), and the highest so far. */
  memory(): { readonly rss: number; readonly own: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN) / 1024;
    return { rss: mib("VmRSS"), own: mib("RssAnon"), peak: mib("VmHWM") };
  }

  /** Seconds of the processor that it has used. */
  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticksPerSecond = 100; // USER_HZ, the same on every Linux that Node runs on
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }

  async metrics(): Promise<Read> {
    this.mustLive();
    const lines = (await this.#scrape()).split("\n").filter((line) => !line.startsWith("#"));
    return (metric, labels = /^/) => {
      const mine = lines.filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
      return mine.filter((line) => labels.test(line)).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    const impatience = setTimeout(() => this.#child.kill("SIGKILL"), 20_000);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.#exited;
    clearTimeout(impatience);
    this.#tie[Symbol.dispose]();
  }

  async #scrape(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)).text();
  }
}

const toBoolean = [() => true, () => false] as const;

export const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Looks twice a second for ten minutes; `check` may throw to end it earlier. */
export async function until(holds: () => Promise<boolean>, what: string, check: () => void = () => {}): Promise<void> {
  for (const since = performance.now(); performance.now() - since < 600_000; await pause(500)) {
    check();
    if (await holds()) return;
  }
  throw new Error(`waited ten minutes for ${what}`);
}
