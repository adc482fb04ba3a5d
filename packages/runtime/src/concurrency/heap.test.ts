import fc from "fast-check";
import { expect, it } from "vitest";
import { Heap } from "./heap.ts";

it("gives its elements back in order, whatever the order they came in", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const number of numbers) heap.push(number);
      const drained = Array.from({ length: heap.size }, () => heap.pop());
      expect(drained).toEqual(numbers.toSorted((a, b) => a - b));
    }),
  );
});

it("has nothing to give when it is empty or cleared", () => {
  const heap = new Heap<number>((a, b) => a < b);
  heap.push(1);
  heap.clear();
  expect([heap.size, heap.peek(), heap.pop()]).toEqual([0, undefined, undefined]);
});
