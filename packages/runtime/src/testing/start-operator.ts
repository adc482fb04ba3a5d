// Starts an operator in a test as a separate process would run: with its own client and caches. It keeps a journal and can be
// killed at any of its writes, which tests C1.
import type { CallFault, Journal, JournalEntry } from "../client/journal.ts";
import { silentLogger } from "../concurrency/environment.ts";
import { operator } from "../operator/operator.ts";
import type { OperatorOptions } from "../operator/options.ts";
import { type OperatorProgram, runCommandLine } from "../operator/run-operator.ts";
import { journaledClient, type Reachable } from "./cluster-world.ts";
import { eventually } from "./eventually.ts";

export type StartOperatorOptions = Omit<OperatorOptions, "kubeconfig" | "client"> & Reachable;

/** When the operator dies at a write: before the server receives it, after it but without the response, or after the response. */
export type Moment = "before" | "after" | "answered";

export const moments: readonly Moment[] = ["before", "after", "answered"];

export interface OperatorUnderTest extends AsyncDisposable {
  readonly journal: Journal;
  /** Resolves when its caches are synced. Rejects if it stops before. */
  readonly ready: Promise<void>;
  /** Total number of reconciles. */
  reconciles(): Promise<number>;
  /** Cuts the operator off from the API server at its nth write. Resolves when that has happened. */
  dieAt(write: number, when: Moment): Promise<void>;
  /** Stops the operator. One that was killed stays cut off. */
  stop(): Promise<void>;
}

/** Returns the output of a command line. Rejects with the error that would end the process. */
export async function outputOf(program: OperatorProgram, ...argv: readonly string[]): Promise<string> {
  const printed: string[] = [];
  await runCommandLine(program, { argv, env: {}, print: (text) => printed.push(text) });
  return printed.join("\n");
}

/** Starts an operator, by default without ports, logs or signal handlers. `stop` ends everything it started. */
export async function startOperator(options: StartOperatorOptions): Promise<OperatorUnderTest> {
  const client = await journaledClient(options);
  const ending = new AbortController();
  const program = operator({
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", drainMs: 0, log: silentLogger },
    process: { onStop: () => () => {}, onUnhandledRejection: () => () => {}, exit: () => {} },
    ...options,
    client,
  });
  const running = program.run(ending.signal).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  let killed = false;
  const stop = async () => {
    ending.abort();
    const failed = await running;
    await client.close();
    if (failed !== undefined && !killed) throw failed.error; // a killed operator does not stop cleanly
  };
  const dieAt = (write: number, when: Moment) =>
    silence(client.journal, write, when, () => {
      killed = true;
    });
  const reconciles = async () => sumOfReconciles((await program.metrics.text()).body);
  return { journal: client.journal, ready: program.ready, reconciles, dieAt, stop, [Symbol.asyncDispose]: stop };
}

async function silence(journal: Journal, write: number, when: Moment, then: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<JournalEntry>();
  let writes = 0;
  journal.fault = (call) => {
    if (writes === write) return { kind: "vanish" };
    if (isWrite(call)) writes += 1;
    if (writes < write) return undefined;
    then();
    resolve(call);
    return faults[when];
  };
  const last = await promise;
  // Stopping the operator before the call ends would cancel the write that the server must receive.
  await eventually(
    () => last.error ?? last.status,
    (end) => end !== undefined,
  );
}

const faults: Readonly<Record<Moment, CallFault | undefined>> = {
  before: { kind: "vanish" },
  after: { kind: "lose" },
  answered: undefined,
};

/**
 * Kills operators one after another until the cluster has settled, so that an operator dies at every write on the way. Returns the
 * number of deaths.
 *
 *     const deaths = await killAtEveryWrite({ when: "after", start, settled: eventually(…) });
 */
export async function killAtEveryWrite(options: {
  readonly when: Moment;
  readonly start: () => Promise<OperatorUnderTest>;
  readonly settled: Promise<unknown>;
}): Promise<number> {
  const { when, start } = options;
  const settled = options.settled.then(() => "settled" as const);
  for (let deaths = 0; ; deaths += 1) {
    const instance = await start();
    // Dying before the first write would never make progress, so in that case the operator dies before its second.
    const death = instance.dieAt(when === "before" ? 2 : 1, when).then(() => "died" as const);
    const end = await Promise.race([death, settled]);
    await instance.stop();
    if (end === "settled") return deaths;
  }
}

/** Excludes dry runs, and Events, which are written in the background and affect nothing else. */
const isWrite = ({ method, path, query }: JournalEntry) =>
  method !== "GET" && query.dryRun === undefined && !path.includes("/events.k8s.io/");

function sumOfReconciles(metrics: string): number {
  const counts = metrics.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
