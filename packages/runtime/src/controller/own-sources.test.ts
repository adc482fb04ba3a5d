import { describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import type { SourceWorld } from "./definition.ts";
import { done } from "./outcome.ts";

describe("sources of a controller's own", () => {
  it("wake objects, may look into the caches, and end with the controller", async () => {
    const ended: boolean[] = [];
    const run = async ({ wake, cached, environment, signal }: SourceWorld) => {
      while (!signal.aborted) {
        for (const { metadata } of cached.objects(ConfigMap)) wake(metadata, "polled");
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

  it("that fail are logged and started again", async () => {
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

it("a mapping may look at everything the controller has cached", async () => {
  await using at = await atWork((ran) =>
    controller(
      ConfigMap,
      {
        watches: [
          {
            kind: Secret,
            map: ({ metadata }, _all, cached) =>
              cached.get(ConfigMap, metadata) === undefined ? [] : [ref(`has-${metadata.name}`)],
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

it("an event can be about an object of another kind", async () => {
  await using at = await atWork(() =>
    controller(ConfigMap, { watches: [{ kind: Secret, map: () => [] }] }, async (target, ctx) => {
      const secret = ctx.get(Secret, target);
      if (secret !== undefined) ctx.eventOn(Secret, secret, { reason: "Seen", note: "it was seen" });
      return done();
    }),
  );
  at.api.put(Secret, { metadata: ref("a") });
  at.api.put(ConfigMap, config("a"));
  await at.start();
  expect(at.events.map(({ regarding, reason }) => [regarding.kind, regarding.name, reason])).toEqual([["Secret", "a", "Seen"]]);
});
