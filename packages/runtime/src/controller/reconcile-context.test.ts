import { expect, it } from "vitest";
import { ReconcileContext } from "./reconcile-context.ts";
import type { Run } from "./run.ts";

interface Shown {
  readonly list: () => readonly string[];
  readonly client: string;
  readonly failures: number;
}

const contextOf = (client: string) => {
  const run = { list: () => ["a"], client, failures: 3 } as unknown as Run;
  return new ReconcileContext(run) as unknown as Shown;
};

it("may be taken apart and copied", () => {
  for (const context of [contextOf("mine"), { ...contextOf("mine") }]) {
    const { list, client, failures } = context;
    expect([list(), client, failures]).toEqual([["a"], "mine", 3]);
  }
});

it("makes nothing before somebody asks", () => {
  const run = {
    get client(): never {
      throw new Error("made");
    },
  } as unknown as Run;
  const context = new ReconcileContext(run) as unknown as Shown;
  expect(() => context.client).toThrow("made");
});

it("shares its getters with all others: V8 would keep each that is made until its next full collection", () => {
  const getter = (context: Shown) => Object.getOwnPropertyDescriptor(context, "client")?.get;
  expect(getter(contextOf("mine"))).toBeTypeOf("function");
  expect(getter(contextOf("mine"))).toBe(getter(contextOf("yours")));
});
