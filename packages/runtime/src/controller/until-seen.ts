// Waiting for the caches to see what a key has written, whatever happens to the reads that this may take (promise W1).
import type { Client } from "../client/client.ts";
import { Backoff } from "../concurrency/backoff.ts";
import type { Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { lookUp } from "./look-up.ts";
import type { PendingWrites } from "./pending-writes.ts";

export interface UntilSeenOptions {
  readonly client: Client;
  readonly environment: Environment;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const patience = { initialMs: 100, maxMs: 10_000, jitter: 0.2 } as const;

/** Never rejects. */
export async function untilSeen(writes: PendingWrites, { client, environment, log, signal }: UntilSeenOptions): Promise<void> {
  const backoff = new Backoff(patience, environment);
  while (!signal.aborted) {
    try {
      return await writes.settle((kind, ref) => lookUp(client, kind, ref, signal), signal);
    } catch (err) {
      if (signal.aborted) return;
      log.debug({ err }, "what became of a write could not be read; trying again");
      await backoff.sleep(signal).catch(() => {}); // stopping: the loop looks at the signal
    }
  }
}
