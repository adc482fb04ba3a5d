import fc from "fast-check";
import { expect, it } from "vitest";
import { TwoBuffers } from "./two-buffers.ts";

it("gives back what was put in, in order, and a piece stays as it is while the next one comes", () => {
  const steps = fc.array(fc.oneof(fc.constant("take" as const), fc.nat(200_000)), { maxLength: 30 });
  const property = fc.property(steps, (all) => {
    const held = new TwoBuffers();
    let put = 0;
    let got = 0;
    let last: Uint8Array | undefined;
    const isCounted = (piece: Uint8Array, from: number) => piece.every((byte, at) => byte === (from + at) % 251);
    for (const step of all) {
      if (step !== "take") {
        const bytes = Buffer.from(Array.from({ length: step + 2 }, (_, at) => (put + at - 1) % 251));
        held.add(bytes, 1, step + 1);
        put += step;
        if (last !== undefined) expect(isCounted(last, got - last.length)).toBe(true);
        continue;
      }
      expect(held.bytes).toBe(put - got);
      last = held.take();
      if (last === undefined) expect(got).toBe(put);
      else expect(isCounted(last, got)).toBe(true);
      got += last?.length ?? 0;
    }
  });
  fc.assert(property, { numRuns: 20 });
});

it("forgets what nobody wants", () => {
  const held = new TwoBuffers();
  held.add(Buffer.from("abc"), 0, 3);
  held.clear();
  expect([held.bytes, held.take()]).toEqual([0, undefined]);
});
