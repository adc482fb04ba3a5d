import { describe, expect, it } from "vitest";
import type { Cache } from "../cache/cache.ts";
import { silentLogger } from "../concurrency/environment.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap, Secret } from "../objects/kinds/core.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { startChangeHandlers } from "./change-handlers.ts";
import { controller, type SourceContext } from "./controller.ts";
import { done } from "./outcome.ts";

describe("sources", () => {
  it("enqueue objects, read the caches, and end with the controller", async () => {
    const ended: boolean[] = [];
    const run = async ({ enqueue, cached, environment, signal }: SourceContext) => {
      while (!signal.aborted) {
        for (const { metadata } of cached.list(ConfigMap)) enqueue(metadata, "polled");
        await environment.clock.sleep(5_000, signal).catch(() => {});
      }
      ended.push(true);
    };
    const poll = { name: "poll", run };
    {
      await using at = await atWork((ran) => controller(ConfigMap, { sources: [poll] }, async ({ name }) => noted(ran, name)));
      at.api.put(ConfigMap, config("a"));
      await at.start();
      await at.clock.advance(10_000);
      expect(at.ran.length).toBeGreaterThanOrEqual(3);
      expect(at.runner.explain(ref("a")).at(-1)?.because).toEqual(["poll: polled"]);
    }
    expect(ended).toEqual([true]);
  });

  it("are logged and restarted when they fail", async () => {
    let starts = 0;
    const run = async () => {
      starts += 1;
      throw new Error("no answer");
    };
    await using at = await atWork(() => controller(ConfigMap, { sources: [{ name: "poll", run }] }, async () => done()));
    await at.start();
    await at.clock.advance(10_000);
    expect(starts).toBeGreaterThan(1);
    expect(at.errors).toContain("Error: no answer");
  });
});

it("a map function can read every cache of the controller", async () => {
  await using at = await atWork((ran) =>
    controller(
      ConfigMap,
      {
        watches: [
          {
            kind: Secret,
            map: ({ metadata }, cached) => (cached.get(ConfigMap, metadata) === undefined ? [] : [ref(`has-${metadata.name}`)]),
          },
        ],
      },
      async ({ name }) => noted(ran, name),
    ),
  );
  at.api.put(ConfigMap, config("a"));
  await at.start();
  at.api.put(Secret, { metadata: ref("a") });
  at.api.put(Secret, { metadata: ref("b") });
  await at.clock.advance(0);
  expect(at.ran).toEqual(["a", "has-a"]);
});

it("eventOn records an Event on an object of another kind", async () => {
  await using at = await atWork(() =>
    controller(ConfigMap, { watches: [{ kind: Secret, map: () => [] }] }, async (target, ctx) => {
      const secret = ctx.get(Secret, target);
      if (secret !== undefined) ctx.eventOn(Secret, secret, { reason: "Seen", message: "it was seen" });
      return done();
    }),
  );
  at.api.put(Secret, { metadata: ref("a") });
  at.api.put(ConfigMap, config("a"));
  await at.start();
  expect(at.events.map(({ regarding, reason }) => [regarding.kind, regarding.name, reason])).toEqual([["Secret", "a", "Seen"]]);
});

/** Three objects, and a yielder that yields before each. */
function begin() {
  const environment = manualEnvironment();
  const queued: string[] = [];
  const errors: unknown[] = [];
  const breaths: (() => void)[] = [];
  const stopping = new AbortController();
  const cache = { objects: () => [config("a"), config("b"), config("c")], onChange: () => () => {} } as unknown as Cache;
  startChangeHandlers({
    controller: controller(ConfigMap, { resyncMs: 60_000 }, async () => done()),
    cacheOf: () => cache,
    cached: { get: () => undefined, list: () => [], lookup: () => [] },
    environment,
    log: { ...silentLogger, error: (fields) => errors.push(fields) },
    signal: stopping.signal,
    add: (key, { reason }) => queued.push(`${key} ${reason}`),
    yieldIfDue: () => new Promise((resolve) => breaths.push(resolve)),
  });
  const breathe = async () => {
    breaths.shift()?.();
    await environment.clock.advance(0);
  };
  return { clock: environment.clock, queued, errors, stopping, breathe };
}

it("yields to the event loop while it enqueues existing objects and resyncs", async () => {
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

it("stops enqueuing when the controller drains, without logging an error", async () => {
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
