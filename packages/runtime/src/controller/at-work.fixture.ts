// For tests only: a running controller against a scripted API server, on a manual clock.
import { SharedCaches } from "../cache/cache.ts";
import { type Logger, silentLogger } from "../concurrency/environment.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import type { ConfigMap } from "../objects/kinds/core.ts";
import type { ObjectRef } from "../objects/object.ts";
import type { ObjectEvent } from "./context.ts";
import type { Controller } from "./controller.ts";
import { type Metrics, noMetrics } from "./metrics.ts";
import { done, type Outcome } from "./outcome.ts";
import { ControllerRunner } from "./runner.ts";
import { ScriptedWorld } from "./scripted-client.fixture.ts";

export const ref = (name: string, namespace = "home"): ObjectRef => ({ namespace, name });

export const config = (name: string, data: Record<string, string> = {}, namespace = "home"): ConfigMap => ({
  metadata: ref(name, namespace),
  data,
});

/** Records its call and returns done(). */
export function noted(ran: string[], what: string): Outcome {
  ran.push(what);
  return done();
}

/** The controller receives a list to record its calls in; nothing runs before `start`. */
export async function atWork(define: (ran: string[]) => Controller, metrics: Metrics = noMetrics) {
  const world = new ScriptedWorld();
  const environment = manualEnvironment();
  const caches = new SharedCaches({ client: world.client, environment, log: silentLogger });
  const errors: string[] = [];
  const events: ObjectEvent[] = [];
  const lines: Record<string, unknown>[] = [];
  const logWith = (bound: object): Logger => ({
    ...silentLogger,
    info: (fields) => lines.push({ ...bound, ...fields }),
    error: (fields) => {
      lines.push({ ...bound, ...fields });
      errors.push(String((fields as { err?: unknown }).err));
    },
    child: (fields) => logWith({ ...bound, ...fields }),
  });
  const log = logWith({});
  const ran: string[] = [];
  const dependencies = { client: world.client, caches, environment, log, metrics };
  const runner = new ControllerRunner(define(ran), { ...dependencies, events: { record: (event) => events.push(event) } });
  const { clock } = environment;
  const start = async () => {
    runner.start();
    runner.work();
    await clock.advance(0);
  };
  return { world, api: world.api, runner, clock, ran, errors, lines, events, start, [Symbol.asyncDispose]: () => runner.stop() };
}
