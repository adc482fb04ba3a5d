// News from elsewhere than the API server: sources that the controller brings itself. Each runs until the controller stops;
// one that fails is started again, with back-off, for ever: a source is a convenience, and losing it for good would be silent.
import { Backoff } from "../concurrency/backoff.ts";
import type { Source, SourceWorld } from "./definition.ts";

const patience = { initialMs: 1_000, maxMs: 60_000, jitter: 0.2 } as const;

/** Resolves when all have ended, which they do after the signal aborts. Never rejects. */
export async function runSources(sources: readonly Source[], world: SourceWorld): Promise<void> {
  await Promise.all(sources.map((source) => keepRunning(source, world)));
}

async function keepRunning({ name, run }: Source, world: SourceWorld): Promise<void> {
  const { environment, signal } = world;
  const log = world.log.child({ source: name });
  const wake: SourceWorld["wake"] = (ref, why) => world.wake(ref, `${name}: ${why}`);
  const backoff = new Backoff(patience, environment);
  while (!signal.aborted) {
    try {
      await run({ ...world, wake, log });
      return;
    } catch (err) {
      if (signal.aborted) return;
      log.error({ err }, "source failed; starting it again");
      await backoff.sleep(signal).catch(() => {}); // stopping: the loop looks at the signal
    }
  }
}
