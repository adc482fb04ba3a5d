// Everything that brings keys up, from the moment the caches of a controller are right until it drains: what is there, what
// changes, what its own sources say, and a look at everything now and then.
import type { Cancel, Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import type { AddOptions } from "../concurrency/work-queue.ts";
import { keyOf } from "../objects/object.ts";
import { cachedObjects } from "./open-caches.ts";
import { runSources } from "./own-sources.ts";
import type { Workshop } from "./run.ts";
import { listen } from "./sources.ts";

export interface WakeUpOptions {
  readonly workshop: Pick<Workshop, "controller" | "cacheOf">;
  readonly environment: Environment;
  readonly log: Logger;
  /** No more of it. */
  readonly signal: AbortSignal;
  add(key: string, why: AddOptions): void;
  /** Undefined: go on. A promise: let the event loop turn first. */
  breathe(): Promise<void> | undefined;
}

/** Of what has just happened and of what is merely there, the former goes first. */
const priorities = { event: 0, listed: -10 } as const;

/** Begins when the caches are complete: until then nobody could work on anything, and whoever waits to be the leader needs no queue. */
export function wakeUps(options: WakeUpOptions): Cancel {
  const { signal, log } = options;
  const unlessStopped = (message: string) => (err: unknown) => signal.aborted || log.error({ err }, message);
  const { cancel, told } = listening(options);
  told.catch(unlessStopped("not all that is there was queued; changes are"));
  void runOwnSources(options);
  resync(options).catch(unlessStopped("resync ended; only changes are looked at from now on"));
  return cancel;
}

function listening(options: WakeUpOptions): { cancel: Cancel; told: Promise<void> } {
  const { workshop, add, log } = options;
  const { kind, plan } = workshop.controller;
  const enqueue = (key: string, reason: string, eager: boolean) =>
    add(key, { reason, priority: eager ? priorities.event : priorities.listed });
  const { cancel, tellAll } = listen({ kind, plan, cacheOf: workshop.cacheOf, enqueue, log });
  return { cancel, told: tellAll(pauses(options)) };
}

/** Never rejects. */
async function runOwnSources({ workshop, environment, log, signal, add }: WakeUpOptions): Promise<void> {
  const cached = cachedObjects(workshop.cacheOf);
  const { sources } = workshop.controller.plan;
  await runSources(sources, { wake: (ref, reason) => add(keyOf(ref), { reason }), cached, environment, log, signal });
}

/** Looks at everything now and then. */
async function resync(options: WakeUpOptions): Promise<void> {
  const { workshop, environment, signal, add } = options;
  const { kind, plan } = workshop.controller;
  const pause = pauses(options);
  while (plan.resyncMs > 0) {
    await environment.clock.sleep(plan.resyncMs * (0.9 + 0.2 * environment.random()), signal);
    for (const { metadata } of workshop.cacheOf(kind).objects()) {
      const rest = pause();
      if (rest !== undefined) await rest;
      add(keyOf(metadata), { reason: "resync", priority: priorities.listed });
    }
  }
}

/** Twenty thousand additions in one go would hold up the event loop. */
function pauses({ signal, breathe }: WakeUpOptions): () => Promise<void> | undefined {
  return () => {
    signal.throwIfAborted();
    return breathe();
  };
}
