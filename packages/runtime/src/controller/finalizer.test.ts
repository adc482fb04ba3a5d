import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { checkAgainIn, done } from "./outcome.ts";

describe("a finalizer", () => {
  const cleaning = (ran: string[], outcome = done) =>
    controller(
      ConfigMap,
      {
        finalizer: {
          name: "test.example.com/cleanup",
          cleanUp: async ({ metadata }) => {
            ran.push(`clean up ${metadata.name}`);
            return outcome();
          },
        },
      },
      async ({ name }) => noted(ran, `reconcile ${name}`),
    );
  const dying = (finalizers: string[]) => ({
    metadata: { ...ref("a"), deletionTimestamp: "2026-01-01T00:00:00Z", finalizers },
  });

  it("is added before the first reconcile, and the reconcile sees it", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, config("a"));
    await at.start();
    await at.clock.advance(0);
    expect(at.ran).toEqual(["reconcile a"]);
    expect(at.api.get(ConfigMap, ref("a"))?.metadata.finalizers).toEqual(["test.example.com/cleanup"]);
  });

  it("is removed when the clean-up is done, and the others stay", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, dying(["other.example.com/x", "test.example.com/cleanup"]));
    await at.start();
    await at.clock.advance(0);
    expect(at.ran).toEqual(["clean up a"]);
    expect(at.api.get(ConfigMap, ref("a"))?.metadata.finalizers).toEqual(["other.example.com/x"]);
  });

  it("stays while the clean-up is not done", async () => {
    await using at = await atWork((ran) => cleaning(ran, () => checkAgainIn(10_000, "the snapshot is being made")));
    at.api.put(ConfigMap, dying(["test.example.com/cleanup"]));
    await at.start();
    await at.clock.advance(25_000);
    expect(at.ran).toEqual(["clean up a", "clean up a", "clean up a"]);
    expect(at.world.writes).toEqual([]);
  });

  it("is never added to an object that is being deleted", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, dying(["other.example.com/x"]));
    await at.start();
    await at.clock.advance(0);
    expect([at.ran, at.world.writes]).toEqual([[], []]);
  });
});
