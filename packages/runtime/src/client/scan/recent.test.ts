import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Recent } from "./recent.ts";

describe("a text that was read lately", () => {
  it("is what its bytes say, whatever was read before it", () => {
    const alike = fc.string({ unit: fc.constantFrom("a", "b", "é", "日"), maxLength: 3 });
    const anything = fc.oneof(alike, fc.string({ unit: "grapheme" }), fc.string({ minLength: 120, maxLength: 140 }));
    const property = fc.property(fc.array(anything, { maxLength: 50 }), (texts) => {
      const recent = new Recent();
      for (const text of texts) {
        const bytes = Buffer.from(`<${text}>`);
        expect(recent.text(bytes, 1, bytes.length - 1)).toBe(bytes.toString("utf8", 1, bytes.length - 1));
      }
    });
    fc.assert(property);
  });

  it("is not taken for one with the same bytes in another writing", () => {
    const recent = new Recent();
    const latin = Buffer.from([0xc3, 0xa9]);
    expect(recent.text(latin, 0, 2)).toBe("é");
    expect(recent.text(Buffer.from("Ã©", "latin1"), 0, 2)).toBe("é");
  });
});

describe("a second", () => {
  it("is written as Kubernetes writes it", () => {
    const recent = new Recent();
    const texts = [0, 1_795_000_000, 1_795_000_000, 0].map((seconds) => recent.second(seconds));
    expect(texts).toEqual(["1970-01-01T00:00:00Z", "2026-11-18T11:06:40Z", "2026-11-18T11:06:40Z", "1970-01-01T00:00:00Z"]);
  });
});
