import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BrokenStreamError } from "../errors.ts";
import { LineSplitter } from "./lines.ts";

const text = 'first\n{"name":"žluťoučký 🐎"}\n\nlast\n';
const lines = ["first", '{"name":"žluťoučký 🐎"}', "last"];

function split(chunks: readonly Uint8Array[]): string[] {
  const splitter = new LineSplitter("test", 1000);
  return chunks.flatMap((chunk) => [...splitter.push(chunk)]);
}

describe("a line splitter", () => {
  it("finds the same lines wherever the stream is cut in two", () => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at += 1) expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(lines);
  });

  it("finds the same lines however many pieces they come in", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme" })),
        fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
        (words, sizes) => {
          const expected = words.map((word) => word.replaceAll("\n", "")).filter((word) => word !== "");
          let rest = Buffer.from(expected.map((word) => `${word}\n`).join(""));
          const chunks: Buffer[] = [];
          for (const size of sizes) {
            if (rest.length === 0) break;
            chunks.push(rest.subarray(0, size));
            rest = rest.subarray(size);
          }
          expect(split(chunks)).toEqual(expected);
        },
      ),
    );
  });

  it("knows how much of an unfinished line it holds", () => {
    const splitter = new LineSplitter("test", 1000);
    expect([...splitter.push(Buffer.from("whole\nha"))]).toEqual(["whole"]);
    expect(splitter.unfinished).toBe(2);
    expect([...splitter.push(Buffer.from("lf\n"))]).toEqual(["half"]);
    expect(splitter.unfinished).toBe(0);
  });

  it("refuses a line without end instead of filling the memory", () => {
    const splitter = new LineSplitter("test", 10);
    expect(() => [...splitter.push(Buffer.from("12345678901"))]).toThrow(BrokenStreamError);
  });
});
