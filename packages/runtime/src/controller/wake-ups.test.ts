import { expect, it } from "vitest";
import type { Cache } from "../cache/cache.ts";
import { silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { config } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
import { wakeUps } from "./wake-ups.ts";

/** Three objects, and an event loop that wants to turn before each. */
function begin() {
  const environment = manualEnvironment();
  const queued: string[] = [];
  const errors: unknown[] = [];
  const breaths: (() => void)[] = [];
  const stopping = new AbortController();
  const cache = { objects: () => [config("a"), config("b"), config("c")], onChange: () => () => {} } as unknown as Cache;
  wakeUps({
    workshop: { controller: controller(ConfigMap, { resyncMs: 60_000 }, async () => done()), cacheOf: () => cache },
    environment,
    log: { ...silentLogger, error: (fields) => errors.push(fields) },
    signal: stopping.signal,
    add: (key, { reason }) => queued.push(`${key} ${reason}`),
    breathe: () => new Promise((resolve) => breaths.push(resolve)),
  });
  const breathe = async () => {
    breaths.shift()?.();
    await environment.clock.advance(0);
  };
  return { clock: environment.clock, queued, errors, stopping, breathe };
}

it("queues what is there, and everything again, while the event loop turns", async () => {
  const { clock, queued, breathe } = begin();
  for (const expected of [0, 1, 2, 3]) {
    expect(queued).toHaveLength(expected);
    await breathe();
  }
  await clock.advance(66_000);
  for (const expected of [3, 4, 5, 6]) {
    expect(queued).toHaveLength(expected);
    await breathe();
  }
  expect(queued.map((line) => line.split(" ")[1])).toEqual(["listed", "listed", "listed", "resync", "resync", "resync"]);
});

it("ends in the middle when the controller drains, and that is no error", async () => {
  const { clock, queued, errors, stopping, breathe } = begin();
  for (let n = 0; n < 3; n += 1) await breathe();
  await clock.advance(66_000);
  await breathe();
  stopping.abort();
  await breathe();
  await breathe();
  expect(queued).toHaveLength(5); // the breath that was being taken is the last one
  expect([errors, clock.pending]).toEqual([[], 0]);
});
