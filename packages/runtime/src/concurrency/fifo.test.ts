import fc from "fast-check";
import { expect, it } from "vitest";
import { Fifo } from "./fifo.ts";

it("behaves as an array that is pushed to and shifted from, however long it gets", () => {
  const operation = fc.oneof(fc.constant("shift" as const), fc.nat());
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 1_000, size: "max" }), (operations) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const next of operations) {
        expect([fifo.length, fifo.peek()]).toEqual([model.length, model[0]]);
        if (next === "shift") expect(fifo.shift()).toBe(model.shift());
        else {
          fifo.push(next);
          model.push(next);
        }
      }
    }),
    { numRuns: 30 },
  );
});
