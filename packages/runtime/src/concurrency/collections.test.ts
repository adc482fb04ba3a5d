import fc from "fast-check";
import { expect, it } from "vitest";
import { Fifo, Heap } from "./collections.ts";

it("Heap returns its elements in order, regardless of the order of insertion", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const number of numbers) heap.push(number);
      const drained = Array.from({ length: heap.size }, () => heap.pop());
      expect(drained).toEqual(numbers.toSorted((a, b) => a - b));
    }),
  );
});

it("Heap returns undefined when it is empty or cleared", () => {
  const heap = new Heap<number>((a, b) => a < b);
  heap.push(1);
  heap.clear();
  expect([heap.size, heap.peek(), heap.pop()]).toEqual([0, undefined, undefined]);
});

it("Fifo behaves like Array push and shift at any length", () => {
  const operation = fc.oneof(fc.constant("shift" as const), fc.nat());
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 600, size: "max" }), (operations) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      // One assertion at the end: thousands of them would dominate the run time.
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
