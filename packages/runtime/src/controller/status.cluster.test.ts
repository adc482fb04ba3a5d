// Two ways to write a status. Which fields a write removes depends on the field managers that the API server records.
import { expect, it } from "vitest";
import type { Stored } from "../objects/object.ts";
import { condition } from "../schema/conditions.ts";
import { eventually } from "../testing/eventually.ts";
import { Choir, stage } from "./choir.fixture.ts";
import { controller, defineController } from "./controller.ts";
import { done } from "./outcome.ts";

const definition = defineController(Choir, {});
type Ctx = typeof definition.Context;

const complete = condition(Choir, "Ready", "Complete", "all are here");

const cases: { name: string; write: (choir: Stored<Choir>, ctx: Ctx) => Promise<void>; status: object; writes: number }[] = [
  {
    name: "patchStatus keeps what an earlier patchStatus of the same reconcile set",
    async write(choir, ctx) {
      await ctx.patchStatus(choir, { singers: 1, step: 1 });
      await ctx.patchStatus(choir, { encore: "la", conditions: [complete] });
      await ctx.patchStatus(choir, { step: 2 });
    },
    status: { singers: 1, step: 2, encore: "la", conditions: [expect.objectContaining({ reason: "Complete" })] },
    writes: 3,
  },
  {
    name: "patchStatus keeps what setStatus set, and setStatus keeps what patchStatus set",
    async write(choir, ctx) {
      await ctx.setStatus(choir, { singers: 1, conditions: [complete] });
      await ctx.patchStatus(choir, { step: 1 });
      await ctx.setStatus(choir, { singers: 2, conditions: [complete] });
    },
    status: expect.objectContaining({ singers: 2, step: 1, conditions: [expect.objectContaining({ reason: "Complete" })] }),
    writes: 3,
  },
  {
    name: "setStatus removes what an earlier setStatus set and it does not set",
    async write(choir, ctx) {
      await ctx.setStatus(choir, { singers: 1, encore: "la", conditions: [] });
      await ctx.setStatus(choir, { singers: 1, step: 1, conditions: [] });
    },
    status: expect.not.objectContaining({ encore: "la" }),
    writes: 2,
  },
  {
    name: "patchStatus removes a field with null",
    async write(choir, ctx) {
      await ctx.patchStatus(choir, { singers: 1, step: 1 });
      await ctx.patchStatus(choir, { step: null });
    },
    status: { singers: 1 },
    writes: 2,
  },
];

it.each(cases)("$name", async ({ write, status, writes }) => {
  await using on = await stage();
  const written = Promise.withResolvers<void>();
  let ran = false;
  await using performance = await on.perform(
    controller(Choir, { resyncMs: 0 }, async (ref, ctx) => {
      const choir = ctx.get(Choir, ref);
      if (choir === undefined || ran) return done();
      ran = true;
      await write(choir, ctx).finally(() => written.resolve());
      return done();
    }),
  );
  await on.put("a", {});
  await written.promise;
  const choir = await on.get("a");
  const { observedGeneration: _, ...found } = choir?.status ?? {};
  expect([found, performance.journal.writes.length, performance.errors]).toEqual([status, writes, []]);
});

it("E1: patchStatus writes nothing if the fields are as desired", async () => {
  await using on = await stage();
  await using performance = await on.perform(
    controller(Choir, { resyncMs: 0 }, async (ref, ctx) => {
      const choir = ctx.get(Choir, ref);
      if (choir !== undefined) await ctx.patchStatus(choir, { singers: 1, step: null, conditions: [complete] });
      return done();
    }),
  );
  await on.put("a", {});
  await eventually(
    () => on.get("a"),
    (choir) => choir?.status?.singers === 1,
  );
  await on.put("a", { song: "another" });
  await eventually(
    () => performance.runner.explain({ namespace: on.namespace, name: "a" }).length,
    (reconciles) => reconciles >= 3,
  );
  expect(performance.journal.writes.length).toBeLessThanOrEqual(2); // once, and once for the observedGeneration of the condition
});
