import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerSplitter } from "./query.ts";

function split(text: string, sizes: readonly number[]) {
  const series: unknown[] = [];
  const splitter = new AnswerSplitter((json) => series.push(JSON.parse(json)));
  const bytes = Buffer.from(text);
  let from = 0;
  for (const size of sizes) {
    splitter.push(bytes.subarray(from, from + size));
    from += size;
  }
  splitter.push(bytes.subarray(from));
  return { series, rest: splitter.end() };
}

describe("an answer, taken apart while it comes in", () => {
  const answer = fc.record({
    metric: fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })),
    values: fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constant("NaN"), fc.string()))),
  });

  it("gives the same series, however it is cut", () => {
    fc.assert(
      fc.property(fc.array(answer), fc.array(fc.integer({ min: 1, max: 50 })), fc.boolean(), (result, sizes, spaced) => {
        const whole = { status: "success", data: { resultType: "matrix", result }, warnings: ['a "part" {[ is missing'] };
        const { series, rest } = split(JSON.stringify(whole, null, spaced ? 2 : 0), sizes);
        expect(series).toEqual(JSON.parse(JSON.stringify(result)));
        expect(JSON.parse(rest)).toEqual({ ...whole, data: { resultType: "matrix", result: [] } });
      }),
    );
  });

  it.each(["<!doctype html><title>Sign in</title>", "", "}}}}", '{"status":"error","error":"no"}', '{"a":[{"b":[1]}]}'])(
    "leaves %j as it is",
    (text) => expect(split(text, [])).toEqual({ series: [], rest: text }),
  );

  it("does not keep what is endless", () => {
    const { rest } = split(
      `{"data":{"result":[{"metric":"${"x".repeat(3_000_000)}`,
      Array.from({ length: 46 }, () => 65_536),
    );
    expect(rest.length).toBeLessThan(2_000_000);
  });
});
