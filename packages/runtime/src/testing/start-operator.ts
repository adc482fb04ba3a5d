// An operator for tests on an API server, as a process of its own would be: its own client, its own caches. It keeps a
// journal, and it can be killed at any of its writes, which is how promise C1 is tried.
import type { CallFault, Journal, JournalEntry } from "../client/journal.ts";
import { silentLogger } from "../concurrency/logger.ts";
import { operator } from "../operator/operator.ts";
import type { OperatorOptions } from "../operator/options.ts";
import { eventually } from "./eventually.ts";
import { journaledClient, type Reachable } from "./journaled-client.ts";

export type StartOperatorOptions = Omit<OperatorOptions, "kubeconfig" | "client"> & Reachable;

/** When an operator dies of a write: the server never gets it; the server has it and the answer is lost; the answer was the last thing heard. */
export type Moment = "before" | "after" | "answered";

export const moments: readonly Moment[] = ["before", "after", "answered"];

export interface OperatorUnderTest extends AsyncDisposable {
  readonly journal: Journal;
  /** Resolves when its caches are synced. Rejects if it ends before. */
  readonly ready: Promise<void>;
  /** How often it has looked at an object, all of them together. */
  reconciles(): Promise<number>;
  /** From its nth write on, nothing that it says is heard, and it hears nothing. Resolves when that has come. */
  dieAt(write: number, when: Moment): Promise<void>;
  /** Stops it; one that is dead stays so. */
  stop(): Promise<void>;
}

/** Starts it, without ports, logs or signals unless the options ask for them. Whatever it does ends with `stop`. */
export async function startOperator(options: StartOperatorOptions): Promise<OperatorUnderTest> {
  const client = await journaledClient(options);
  const ending = new AbortController();
  const program = operator({
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", drainMs: 0, log: silentLogger },
    process: { onStop: () => () => {}, onForgotten: () => () => {}, exit: () => {} },
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
    if (failed !== undefined && !killed) throw failed.error; // one that was killed does not end in order
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
  // Whoever stopped the operator any earlier would take the write back that the server is to get.
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
 * Kills operators one after another until the world is as it should be: every write of the way there is one at which somebody died.
 * Answers with how many did.
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
    // Killed before its first write, nobody would ever get anywhere: that one dies at its second.
    const death = instance.dieAt(when === "before" ? 2 : 1, when).then(() => "died" as const);
    const end = await Promise.race([death, settled]);
    await instance.stop();
    if (end === "settled") return deaths;
  }
}

/** Events are told in the background, and nothing depends on them. */
const isWrite = ({ method, path }: JournalEntry) => method !== "GET" && !path.includes("/events.k8s.io/");

function sumOfReconciles(metrics: string): number {
  const counts = metrics.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
