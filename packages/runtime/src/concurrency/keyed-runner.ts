// Workers over a work queue. As many keys at a time as there are workers, one key never in two hands (the queue sees to
// that), and no failure of the work ends a worker: a poisoned key must not take the others down with it.
import type { Lease, WorkQueue } from "./work-queue.ts";

export interface KeyedRunnerOptions {
  /** Keys worked on at the same time. @default 1 */
  readonly concurrency?: number;
  /** Does the work for one key. The key is given back when it returns or throws. */
  readonly work: (lease: Lease) => Promise<void>;
  /** Told what the work threw. The work should deal with its own failures: what arrives here is a bug. */
  readonly onError: (error: unknown, lease: Lease) => void;
}

/** Works on keys until the queue is shut down and what was begun is done. */
export async function runKeyed(queue: WorkQueue, options: KeyedRunnerOptions): Promise<void> {
  const { concurrency = 1 } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(`expected concurrency to be a whole number of at least 1, found ${concurrency}`);
  await Promise.all(Array.from({ length: concurrency }, () => runWorker(queue, options)));
}

async function runWorker(queue: WorkQueue, { work, onError }: KeyedRunnerOptions): Promise<void> {
  for (let lease = await queue.get(); lease !== undefined; lease = await queue.get()) {
    try {
      await work(lease);
    } catch (error) {
      onError(error, lease);
    } finally {
      lease.done();
    }
  }
}
