// For tests only: a controller at work in a scripted world, on a manual clock.
import { SharedCaches } from "../cache/shared-caches.ts";
import { type Logger, silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import type { ConfigMap } from "../objects/kinds/core/config.ts";
import type { ObjectRef } from "../objects/object.ts";
import type { Controller } from "./definition.ts";
import { type Metrics, noMetrics } from "./metrics.ts";
import type { ObjectEvent } from "./object-events.ts";
import { done, type Outcome } from "./outcome.ts";
import { ControllerRunner } from "./runner.ts";
import { ScriptedWorld } from "./scripted-client.fixture.ts";

export const ref = (name: string, namespace = "home"): ObjectRef => ({ namespace, name });

export const config = (name: string, data: Record<string, string> = {}, namespace = "home"): ConfigMap => ({
  metadata: ref(name, namespace),
  data,
});

/** Writes down that it was called, and is content. */
export function noted(ran: string[], what: string): Outcome {
  ran.push(what);
  return done();
}

/** The controller is given a list to write down in what it does; nothing runs before `start`. */
export async function atWork(define: (ran: string[]) => Controller, metrics: Metrics = noMetrics) {
  const world = new ScriptedWorld();
  const environment = manualEnvironment();
  const caches = new SharedCaches({ client: world.client, environment, log: silentLogger });
  const errors: string[] = [];
  const events: ObjectEvent[] = [];
  const log: Logger = {
    ...silentLogger,
    error: (fields) => errors.push(String((fields as { err?: unknown }).err)),
    child: () => log,
  };
  const ran: string[] = [];
  const dependencies = { client: world.client, caches, environment, log, metrics };
  const runner = new ControllerRunner(define(ran), { ...dependencies, events: { record: (event) => events.push(event) } });
  const { clock } = environment;
  const start = async () => {
    runner.start();
    runner.work();
    await clock.advance(0);
  };
  return { world, api: world.api, runner, clock, ran, errors, events, start, [Symbol.asyncDispose]: () => runner.stop() };
}
