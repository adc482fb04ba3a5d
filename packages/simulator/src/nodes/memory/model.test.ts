import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memhog } from "./memhog.ts";
import { crossingAfter, type MemoryModel, usageAt } from "./model.ts";
import { constant, leak, ramp, sawtooth, step, trace } from "./models.ts";

const mib = (count: number) => count * 1024 * 1024;
const minute = 60_000;

describe("usage of a model", () => {
  const cases: readonly {
    readonly name: string;
    readonly model: MemoryModel;
    readonly at: readonly (readonly [number, number])[];
  }[] = [
    {
      name: "constant stays as it is",
      model: constant(mib(5)),
      at: [
        [0, mib(5)],
        [minute, mib(5)],
      ],
    },
    {
      name: "ramp rises to its top and stays",
      model: ramp({ perSecond: mib(1), to: mib(10) }),
      at: [
        [0, 0],
        [2_500, mib(2.5)],
        [10_000, mib(10)],
        [minute, mib(10)],
      ],
    },
    {
      name: "ramp may begin above nothing",
      model: ramp({ perSecond: mib(1), from: mib(4), to: mib(6) }),
      at: [
        [0, mib(4)],
        [1_000, mib(5)],
        [3_000, mib(6)],
      ],
    },
    {
      name: "ramp whose top is below its foot is flat",
      model: ramp({ perSecond: mib(1), from: mib(4), to: mib(2) }),
      at: [
        [0, mib(4)],
        [minute, mib(4)],
      ],
    },
    {
      name: "leak never ends",
      model: leak({ perSecond: mib(1), from: mib(3) }),
      at: [
        [0, mib(3)],
        [10 * minute, mib(603)],
      ],
    },
    {
      name: "step jumps at its times",
      model: step([
        [0, mib(1)],
        [30_000, mib(9)],
      ]),
      at: [
        [29_999, mib(1)],
        [30_000, mib(9)],
        [minute, mib(9)],
      ],
    },
    {
      name: "step is before its first time as at it",
      model: step([[1_000, mib(7)]]),
      at: [
        [0, mib(7)],
        [1_000, mib(7)],
      ],
    },
    {
      name: "sawtooth falls back at the end of its period",
      model: sawtooth({ low: mib(10), high: mib(20), everyMs: 10_000 }),
      at: [
        [5_000, mib(15)],
        [10_000, mib(10)],
        [25_000, mib(15)],
      ],
    },
    {
      name: "trace is straight between its points",
      model: trace([
        [0, 0],
        [10_000, mib(10)],
        [20_000, 0],
      ]),
      at: [
        [5_000, mib(5)],
        [15_000, mib(5)],
        [minute, 0],
      ],
    },
  ];
  it.each(cases)("$name", ({ model, at }) => {
    expect(at.map(([ms]) => [ms, usageAt(model, ms)])).toEqual(at.map(([ms, bytes]) => [ms, Math.round(bytes)]));
  });

  it("of memhog grows by a buffer a second, and settles between 20 of the smallest and 20 of the largest", () => {
    const model = memhog(7);
    const first = Array.from(
      { length: 10 },
      (_, second) => usageAt(model, (second + 1) * 1_000) - usageAt(model, second * 1_000),
    );
    expect(first.filter((growth) => growth >= mib(5) && growth < mib(10)).length).toBeGreaterThan(5);
    const later = Array.from({ length: 600 }, (_, second) => usageAt(model, 300_000 + second * 1_000));
    expect(Math.min(...later)).toBeGreaterThan(mib(100));
    expect(Math.max(...later)).toBeLessThan(mib(210));
  });

  it("of memhog is the same for the same seed, whatever was asked before", () => {
    const [asked, fresh] = [memhog(3), memhog(3)];
    usageAt(asked, 500_000);
    expect(usageAt(asked, 42_000)).toBe(usageAt(fresh, 42_000));
    expect(usageAt(memhog(4), 42_000)).not.toBe(usageAt(fresh, 42_000));
  });
});

describe("the moment a limit is crossed", () => {
  const cases = [
    { name: "is the first millisecond above it", model: ramp({ perSecond: mib(1), to: mib(50) }), limit: mib(10), gives: 10_001 },
    {
      name: "is at a jump",
      model: step([
        [0, mib(1)],
        [30_000, mib(9)],
      ]),
      limit: mib(5),
      gives: 30_000,
    },
    {
      name: "never comes if the top is the limit",
      model: ramp({ perSecond: mib(1), to: mib(10) }),
      limit: mib(10),
      gives: undefined,
    },
    { name: "is now if it is crossed already", model: constant(mib(5)), limit: mib(4), fromMs: 77, gives: 77 },
    {
      name: "comes in a later period",
      model: sawtooth({ low: mib(10), high: mib(20), everyMs: 10_000 }),
      limit: mib(15),
      fromMs: 7_000,
      gives: 7_000,
    },
    {
      name: "comes again after the fall",
      model: sawtooth({ low: mib(10), high: mib(20), everyMs: 10_000 }),
      limit: mib(15),
      fromMs: 10_000,
      gives: 15_001,
    },
    { name: "may lie beyond where we look", model: leak({ perSecond: 1 }), limit: mib(1), gives: undefined },
  ];
  it.each(cases)("$name", ({ model, limit, fromMs = 0, gives }) => {
    expect(crossingAfter(model, { limit, fromMs, untilMs: 10 * minute })).toBe(gives);
  });

  it("is what walking millisecond by millisecond would find, for any trace", () => {
    const points = fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 1_000 })), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(points, fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 300 }), (given, limit, fromMs) => {
        const model = trace(given);
        const untilMs = 400;
        const exact = (ms: number) => {
          const { fromMs: since, bytes, perMs } = model.stretchAt(ms);
          return bytes + perMs * (ms - since);
        };
        const walked = Array.from({ length: untilMs - fromMs }, (_, at) => fromMs + at).find((ms) => exact(ms) > limit + 1e-9);
        const found = crossingAfter(model, { limit, fromMs, untilMs });
        // Where a line just touches the limit, rounding may put it a millisecond earlier.
        expect(found === walked || (found !== undefined && Math.abs(exact(found) - limit) < 1e-6)).toBe(true);
      }),
    );
  });
});
