import { describe, expect, it } from "vitest";
import { liveDays, shapes } from "./days.fixture.ts";

/** The benchmark (bench/memhog/shrink.ts) has thirty days. */
const days = 9;

describe.each(shapes)("G4: nine days of a container that is $name", (shape) => {
  const [without, withShrink] = [false, true].map((shrink) => liveDays(shape, days, shrink));

  it("has no kill with spec.shrink that it did not have without", () =>
    expect(withShrink?.kills ?? Number.NaN).toBeLessThanOrEqual(without?.kills ?? Number.NaN));

  it("reserves no more with spec.shrink than without", () =>
    expect(withShrink?.reserved ?? Number.NaN).toBeLessThanOrEqual((without?.reserved ?? Number.NaN) + 1e-6));
});

it("G4: over 30 days, what does not vary reserves at most 1.3 times what it uses", () => {
  const [flat] = shapes.filter(({ steady }) => steady).map((shape) => liveDays(shape, 30, true));
  expect((flat?.reserved ?? Number.NaN) / (flat?.used ?? 1)).toBeLessThanOrEqual(1.3);
});
