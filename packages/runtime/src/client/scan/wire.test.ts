import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Recent } from "./recent.ts";
import { readSigned, readUnsigned } from "./wire.ts";

const page = { buffer: Buffer.alloc(0), turned: false, recent: new Recent() };

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

describe("numbers of variable length", () => {
  it("come back as they were, and leave the cursor behind them", () => {
    const property = fc.property(fc.maxSafeInteger(), (value) => {
      const buffer = varint(BigInt(value));
      const cursor = { buffer, at: 0, page };
      expect([readSigned(cursor), cursor.at]).toEqual([value, buffer.length]);
    });
    fc.assert(property);
  });

  it.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 45])("%d is a length", (value) => {
    expect(readUnsigned({ buffer: varint(BigInt(value)), at: 0, page })).toBe(value);
  });
});
