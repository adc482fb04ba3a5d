// Runs the operator as users do: in a separate process, as plain JavaScript, as in the image (tools/operator-tree.ts).
// Reads memory and CPU time from /proc, and everything else from the operator's metrics.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@memhog/runtime/testing";
import { writeOperatorTree } from "../../tools/operator-tree.ts";
import { atTheEnd } from "./at-the-end.ts";

/** Builds the files of the operator; dispose of the result to delete them. */
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
  /** The URL of Prometheus. */
  readonly prometheus: string;
  /** For example "5s". */
  readonly interval: string;
}

/**
 * In the pod of our manifests, whose limit is 256Mi, Node sets a maximum heap of 259 MiB and collects garbage more often
 * than on a machine with plenty of memory. This flag makes the operator behave as in that pod.
 */
const heap = "--max-heap-size=259";

/** The sum of all matching series of a metric. */
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

  /** Resolves when the metrics can be read. Runs one replica without leader election. */
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

  /** @throws Error with the end of its output, if it has exited */
  mustLive(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(`the operator ended: ${this.#said}`);
  }

  /**
   * Current resident memory in MiB, the part that is not file-backed (Node's program file is, and processes share it),
   * and the peak.
   */
  memory(): { readonly rss: number; readonly own: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN) / 1024;
    return { rss: mib("VmRSS"), own: mib("RssAnon"), peak: mib("VmHWM") };
  }

  /** CPU seconds used so far. */
  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticksPerSecond = 100; // USER_HZ, the same on every Linux that Node supports
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

/** Polls twice a second for up to ten minutes; `check` can throw to end it earlier. */
export async function until(holds: () => Promise<boolean>, what: string, check: () => void = () => {}): Promise<void> {
  for (const since = performance.now(); performance.now() - since < 600_000; await pause(500)) {
    check();
    if (await holds()) return;
  }
  throw new Error(`waited ten minutes for ${what}`);
}
