import { describe, expect, it } from "vitest";
import { bytes, MiB, mib } from "../model/bytes.ts";
import { samplesOf } from "../model/seen.fixture.ts";
import type { Sample } from "../model/seen.ts";
import { trendOf, willRunOut } from "./trend.ts";

const limit = mib(384);

describe("the table in the comment", () => {
  it.each([
    { seenAt: 15, growth: 10, predicted: 150, runsOutIn: 23.4, raise: false },
    { seenAt: 20, growth: 10, predicted: 200, runsOutIn: 18.4, raise: true },
    { seenAt: 30, growth: 10, predicted: 300, runsOutIn: 8.4, raise: true },
  ])(
    "a ramp of 10 MiB/s, seen $seenAt s after its start: $predicted MiB by now",
    ({ seenAt, growth, predicted, runsOutIn, raise }) => {
      const trend = trendOf(rampSeen({ rate: 10, takenAt: [0, 12, 25], seenAt }), limit);
      expect(trend?.growth).toBeCloseTo(growth * MiB);
      expect(trend?.predicted).toBeCloseTo(predicted * MiB);
      expect(trend?.runsOutInMs).toBeCloseTo(runsOutIn * 1000);
      expect(willRunOut(trend, limit, 60_000)).toBe(raise);
    },
  );

  it("leaves a ramp of 1 MiB/s to the threshold, a MiB before it", () => {
    const trend = trendOf(samplesOf([263, 275, 287], 12_000, 0), limit);
    expect(trend?.runsOutInMs).toBeCloseTo(97_000);
    expect(willRunOut(trend, limit, 60_000)).toBe(false);
  });
});

// Whenever the kubelet looks (every 10-15 s) and however long its figure takes to reach us (a scrape and a loop of 5 s each), there
// is a look at which the ramp is caught before it ends.
describe.each([2, 5, 10])("an endless ramp of %i MiB/s at 384Mi", (rate) => {
  const endsAt = 384 / rate;
  const schedules = [10, 12, 15].flatMap((every) =>
    [0, 1, 3, 5].flatMap((start) => [2, 6, 10].map((lag) => ({ every, start, lag }))),
  );

  it.each(schedules)(
    "is caught in time: looked at every $every s from $start s on, seen $lag s later",
    ({ every, start, lag }) => {
      const takenAt = Array.from({ length: Math.ceil(endsAt / every) + 1 }, (_, i) => start + i * every);
      const caughtAt = [...Array(Math.floor(endsAt)).keys()].find((seenAt) => {
        const samples = rampSeen({ rate, takenAt: takenAt.filter((at) => at + lag <= seenAt), seenAt });
        const used = samples.at(-1)?.bytes ?? 0;
        return used >= 0.75 * limit || willRunOut(trendOf(samples, limit), limit, 60_000);
      });
      // A loop of 5 s comes up to 5 s after the first moment at which it would be caught.
      expect(caughtAt).toBeLessThan(endsAt - 5);
    },
  );
});

describe("no trend", () => {
  const cases: readonly { readonly name: string; readonly samples: readonly Sample[] }[] = [
    { name: "without samples", samples: [] },
    { name: "from one sample", samples: samplesOf([300]) },
    { name: "from samples less than 4 s apart", samples: samplesOf([100, 300], 3_999) },
    { name: "where memory stays", samples: samplesOf([300, 300, 300]) },
    { name: "where memory shrinks", samples: samplesOf([300, 280, 260]) },
    { name: "where a burst is over", samples: samplesOf([100, 250, 250]) },
    { name: "where it dipped and only recovers", samples: samplesOf([300, 200, 290]) },
    { name: "from an age that is no number", samples: [{ bytes: mib(100), ageMs: Number.NaN }, ...samplesOf([300])] },
    { name: "from the future", samples: [...samplesOf([100]), { bytes: mib(380), ageMs: -5_000 }] },
  ];
  it.each(cases)("$name", ({ samples }) => expect(trendOf(samples, limit)).toBeUndefined());
});

it("takes the smaller of the two slopes: a step of 60 MiB is not yet a ramp of 5 MiB/s", () => {
  const trend = trendOf(samplesOf([200, 200, 200, 200, 260]), limit);
  expect(trend?.growth).toBeCloseTo((60 / 48) * MiB);
});

it("goes by the last two samples where they are more than a minute apart", () => {
  expect(trendOf(samplesOf([100, 220], 120_000), limit)?.growth).toBeCloseTo(MiB);
});

it("never looks ahead where lookaheadSeconds is 0", () => {
  expect(willRunOut(trendOf(samplesOf([100, 380]), limit), limit, 0)).toBe(false);
});

it("says 0 where the limit should have been reached by now", () => {
  expect(trendOf(samplesOf([100, 340], 12_000, 10_000), limit)?.runsOutInMs).toBe(0);
});

function rampSeen(ramp: {
  readonly rate: number;
  readonly takenAt: readonly number[];
  readonly seenAt: number;
}): readonly Sample[] {
  return ramp.takenAt
    .filter((at) => at <= ramp.seenAt)
    .map((at) => ({ bytes: bytes(ramp.rate * at * MiB), ageMs: (ramp.seenAt - at) * 1000 }));
}
