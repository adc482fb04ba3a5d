import type { Probe } from "@memhog/runtime";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { probeResults, resultAt } from "./probe-results.ts";
import { always, between, parseTimeline, type Timeline } from "./timeline.ts";

const readiness = (probe: Probe, answers: Timeline) => probeResults({ probe, answers, initially: false });

describe("the results of a probe", () => {
  const cases = [
    { name: "a healthy container is ready at the first question", probe: {}, answers: always, gives: [[0, true]] },
    {
      name: "the first question waits for the initial delay",
      probe: { initialDelaySeconds: 5 },
      answers: always,
      gives: [[5_000, true]],
    },
    {
      name: "what becomes true between two questions is found at the next",
      probe: { periodSeconds: 10 },
      answers: between(12_000),
      gives: [[20_000, true]],
    },
    {
      name: "several successes may be asked for",
      probe: { periodSeconds: 2, successThreshold: 3 },
      answers: always,
      gives: [[4_000, true]],
    },
    {
      name: "one failure is not yet a result",
      probe: { periodSeconds: 1 },
      answers: between(0, 5_500),
      gives: [
        [0, true],
        [8_000, false],
      ],
    },
    {
      name: "a failure that passes is never a result",
      probe: { periodSeconds: 10, failureThreshold: 3 },
      answers: [
        { fromMs: 0, ok: true },
        { fromMs: 15_000, ok: false },
        { fromMs: 25_000, ok: true },
      ],
      gives: [[0, true]],
    },
    { name: "never is never", probe: {}, answers: between(0, 0), gives: [] },
  ];
  it.each(cases)("$name", ({ probe, answers, gives }) => {
    expect(readiness(probe, answers).map(({ atMs, ok }) => [atMs, ok])).toEqual(gives);
  });

  it("are what asking every few seconds would find", () => {
    const changes = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 5 });
    const thresholds = fc.record({
      periodSeconds: fc.integer({ min: 1, max: 7 }),
      successThreshold: fc.integer({ min: 1, max: 3 }),
      failureThreshold: fc.integer({ min: 1, max: 4 }),
      initialDelaySeconds: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(changes, fc.boolean(), thresholds, (seconds, first, probe) => {
        const answers = [0, ...seconds.toSorted((a, b) => a - b)].map((second, at) => ({
          fromMs: second * 1_000,
          ok: (at % 2 === 0) === first,
        }));
        const results = readiness(probe, answers);
        let [holds, run, last] = [false, 0, first];
        for (let ms = probe.initialDelaySeconds * 1_000; ms < 90_000; ms += probe.periodSeconds * 1_000) {
          const ok = answers.findLast(({ fromMs }) => fromMs <= ms)?.ok ?? first;
          run = ok === last ? run + 1 : 1;
          last = ok;
          if (run >= (ok ? probe.successThreshold : probe.failureThreshold)) holds = ok;
          expect(resultAt(results, ms, false)).toBe(holds);
        }
      }),
    );
  });
});

describe("a timeline in words", () => {
  it.each([
    { words: "always", gives: [[0, true]] },
    { words: "never", gives: [[0, false]] },
    {
      words: "after 10s",
      gives: [
        [0, false],
        [10_000, true],
      ],
    },
    {
      words: "until 1m",
      gives: [
        [0, true],
        [60_000, false],
      ],
    },
    {
      words: "after 3s until 20s",
      gives: [
        [0, false],
        [3_000, true],
        [20_000, false],
      ],
    },
  ])("$words", ({ words, gives }) => expect(parseTimeline(words)?.map(({ fromMs, ok }) => [fromMs, ok])).toEqual(gives));

  it("is none if the words mean nothing", () => expect(parseTimeline("sometimes")).toBeUndefined());
});
