// The laws on random worlds: a few thousand here, as many as WORLDS says at night (a million take about half an hour):
//   WORLDS=1000000 npx vitest run --project node operators/memhog/src/decide/laws.test.ts
import { seededRandom } from "@memhog/runtime/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { brokenLaw } from "./laws.fixture.ts";
import { verdictsOn } from "./verdict.ts";
import { randomWorld } from "./worlds.fixture.ts";

const worlds = Number(process.env.WORLDS ?? 2_000);

it("every law holds in random worlds", { timeout: 120_000 + 20 * worlds }, () => {
  const anyWorld = fc.integer().map((seed) => randomWorld(seededRandom(seed)));
  fc.assert(
    fc.property(anyWorld, (seen) => {
      expect(brokenLaw(seen)).toBeUndefined();
    }),
    { numRuns: worlds },
  );
});

// Worlds in which more usage made less of a raise: several steps did not fit under a cap, or it was a jump during a cooldown.
it.each([27553, 45061, 48698])("every law holds in the world of seed %d", (seed) => {
  expect(brokenLaw(randomWorld(seededRandom(seed)))).toBeUndefined();
});

describe("the dice", () => {
  // The holds that decide.ts makes of raises cannot come up here.
  const elsewhere = [
    ...["InPlaceImpossible", "OwnerNotEditable", "WouldCauseDowntime", "ReplacementNotReady"],
    ...["Busy", "CircuitOpen"],
  ];

  it("reach every raise, many times, and nearly every hold", () => {
    const told = new Map<string, number>();
    for (let seed = 0; seed < 3_000; seed += 1) {
      for (const { decision } of verdictsOn(randomWorld(seededRandom(seed))))
        told.set(decision.reason, (told.get(decision.reason) ?? 0) + 1);
    }
    for (const raise of ["ThresholdCrossed", "WillRunOut", "OutOfMemory", "LearnedBefore"])
      expect(told.get(raise)).toBeGreaterThan(50);
    expect([...told.keys()]).toEqual(
      expect.arrayContaining([
        "CapReached",
        "CoolingDown",
        "SuspectedLeak",
        "RaisesIneffective",
        "RecommendOnly",
        "ManagedByAutoscaler",
      ]),
    );
    expect(elsewhere.filter((reason) => told.has(reason))).toEqual([]);
  });
});
