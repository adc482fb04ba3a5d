import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleText } from "./api.ts";
import { ExpositionError, formatExposition, goNumber, parseExposition, type Sample } from "./exposition.ts";

describe("the text format of metrics", () => {
  it("matches the output of cAdvisor", () => {
    const labels = { container: "main", id: "/x" };
    const samples: readonly Sample[] = [
      { name: "container_memory_rss", labels, value: 1_011_712, timestampMs: 1_794_821_426_771 },
      { name: "container_start_time_seconds", labels, value: 1_794_821_263 },
    ];
    const help = { container_memory_rss: { type: "gauge", help: "Size of RSS in bytes." } } as const;
    expect(formatExposition(samples, help)).toBe(
      "# HELP container_memory_rss Size of RSS in bytes.\n" +
        "# TYPE container_memory_rss gauge\n" +
        'container_memory_rss{container="main",id="/x"} 1.011712e+06 1794821426771\n' +
        'container_start_time_seconds{container="main",id="/x"} 1.794821263e+09\n',
    );
  });

  it("round-trips any labels", () => {
    const name = fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,8}$/);
    const labels = fc.dictionary(fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/), fc.string(), { maxKeys: 3 });
    const value = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0));
    const sample = fc.record({ name, labels, value });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 5 }), (samples) => {
        const byName = [...Map.groupBy(samples, (each) => each.name).values()].flat();
        const plain = (all: readonly Sample[]) => all.map((each) => [each.name, Object.entries(each.labels), each.value + 0]);
        expect(plain(parseExposition(formatExposition(samples)))).toEqual(plain(byName));
      }),
    );
  });

  it.each(["rejects %j", 'x{a="b" 1', "x{a=b} 1", "x 1 2 3", "1x 1"])("%j is none", (line) => {
    expect(() => parseExposition(line)).toThrow(ExpositionError);
  });

  it("allows comments, empty lines and spaces", () => {
    expect(parseExposition('# HELP x y\n\nx 1\nx{ a = "b" , } 2 \n').map(({ value }) => value)).toEqual([1, 2]);
  });
});

describe("numbers in Go's format", () => {
  it.each([
    [921_600, "921600"],
    [1_000_000, "1e+06"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [-1.5e21, "-1.5e+21"],
    [0, "0"],
    [Number.NaN, "NaN"],
    [Number.NEGATIVE_INFINITY, "-Inf"],
  ])("%d is %s in a text of metrics", (value, text) => expect(goNumber(value)).toBe(text));

  it("have no exponent in a response, without loss of precision", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = sampleText(value);
        expect(text).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Number(text)).toBe(value);
      }),
    );
  });
});
