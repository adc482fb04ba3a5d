import { expect, it } from "vitest";
import { ReconcileContext } from "./reconcile-context.ts";
import type { Run } from "./run.ts";

const run = { list: () => ["a"], client: "the client", failures: 3 } as unknown as Run;

it("may be taken apart", () => {
  const { list, client, failures } = new ReconcileContext(run);
  expect([list({} as never), client, failures]).toEqual([["a"], "the client", 3]);
});

it("has no getters of its own: each would make a new shape, which outlives the reconcile", () => {
  const own = Object.values(Object.getOwnPropertyDescriptors(new ReconcileContext(run)));
  expect(own.filter((property) => property.get !== undefined)).toEqual([]);
});
