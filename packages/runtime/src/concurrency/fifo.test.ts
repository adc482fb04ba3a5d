import fc from "fast-check";
import { expect, it } from "vitest";
import { Fifo } from "./fifo.ts";

it("behaves as an array that is pushed to and shifted from, however long it gets", () => {
  const operation = fc.oneof(fc.constant("shift" as const), fc.nat());
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 600, size: "max" }), (operations) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      // One expectation at the end: thousands of them would be most of the work.
      const seen = operations.map(
        (next) => (next === "shift" ? fifo.shift() : void fifo.push(next)) ?? `${fifo.length}:${fifo.peek()}`,
      );
      const wanted = operations.map(
        (next) => (next === "shift" ? model.shift() : void model.push(next)) ?? `${model.length}:${model[0]}`,
      );
      expect(seen).toEqual(wanted);
    }),
    { numRuns: 20 },
  );
});
