import { describe, expect, it } from "vitest";
import { ForbiddenError } from "../client/errors.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { atWork, config, noted, ref } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { done, requeueAfter } from "./outcome.ts";

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

  it("is added to other finalizers, including one added between our read and our write", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, { metadata: { ...ref("a"), finalizers: ["other.example.com/x"] } });
    at.world.spoil = () => {
      at.world.spoil = () => undefined;
      at.api.put(ConfigMap, { metadata: { ...ref("a"), finalizers: ["other.example.com/x", "other.example.com/y"] } });
      return undefined;
    };
    await at.start();
    await at.clock.advance(1_000);
    const { finalizers } = at.api.get(ConfigMap, ref("a"))?.metadata ?? {};
    expect(finalizers).toEqual(["other.example.com/x", "other.example.com/y", "test.example.com/cleanup"]);
  });

  it.each([
    { name: "to add to", before: config("a") },
    { name: "to remove from", before: dying(["test.example.com/cleanup"]) },
  ])("accepts that the object is gone $name, and fails if the server rejects the write", async ({ before }) => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, before);
    at.world.spoil = () => {
      throw new ForbiddenError({ attempt: "scripted", status: 403, reason: "Forbidden", message: "you may not" });
    };
    await at.start();
    expect(at.errors).toEqual([expect.stringContaining("ForbiddenError")]);
    at.world.spoil = () => {
      at.api.remove(ConfigMap, ref("a"));
      return undefined;
    };
    await at.clock.advance(3_600_000);
    expect([at.errors.length, at.api.get(ConfigMap, ref("a"))]).toEqual([1, undefined]);
  });

  it("is removed when the cleanup is done, and the others stay", async () => {
    await using at = await atWork((ran) => cleaning(ran));
    at.api.put(ConfigMap, dying(["other.example.com/x", "test.example.com/cleanup"]));
    await at.start();
    await at.clock.advance(0);
    expect(at.ran).toEqual(["clean up a"]);
    expect(at.api.get(ConfigMap, ref("a"))?.metadata.finalizers).toEqual(["other.example.com/x"]);
  });

  it("stays while the cleanup is not done", async () => {
    await using at = await atWork((ran) => cleaning(ran, () => requeueAfter(10_000, "the snapshot is being made")));
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
