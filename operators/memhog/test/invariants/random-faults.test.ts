// The same seed gives the same run, and random faults in the operator's traffic do not change the end state.
// On the simulator, which is deterministic.
import type { TrafficFaultShares } from "@memhog/simulator";
import { describe, expect, it } from "vitest";
import { effectsIn, endOf } from "./effects.fixture.ts";
import { census } from "./pod-history.fixture.ts";
import { minutes, world } from "./world.fixture.ts";

const bad: TrafficFaultShares = { delay: 0.1, reset: 0.05, lose: 0.05, busy: 0.05, stale: 0.05, duplicate: 0.1, end: 0.1 };

interface Run {
  readonly seed?: number;
  readonly shares?: TrafficFaultShares;
  readonly journal?: boolean;
}

/** A bare pod and a Deployment that are redeployed: 90 seconds with faults, then two minutes without. */
async function run({ seed = 1, shares = {}, journal = false }: Run = {}) {
  await using w = await world({ seed, shares, journal });
  const counted = census(w);
  await w.monitor({ strategy: "Redeploy" });
  await w.pod("hungry", { memory: "ramp 2Mi/s from 250Mi to 320Mi" });
  await w.deployment("web", { memory: "ramp 2Mi/s from 250Mi to 320Mi" });
  w.start();
  await w.pass(90_000);
  const spoiled = w.faults.count;
  w.faults.plan = () => undefined;
  await w.pass(minutes(2));
  const [bare, deployed] = [await endOf(w, "pod-hungry"), await endOf(w, "deployment-web")];
  const { oomKills, leastReady } = counted;
  const story = { bare, deployed, effects: effectsIn(w.heard), oomKills, leastReady };
  return { story, spoiled, journal: w.journal };
}

describe("operator under random faults", () => {
  it.each([
    { name: "without faults", shares: {}, atLeast: 0 },
    { name: "with faults", shares: bad, atLeast: 10 },
  ])("the same seed gives the same log byte for byte: $name", async ({ shares, atLeast }) => {
    const first = await run({ seed: 7, shares, journal: true });
    const second = await run({ seed: 7, shares, journal: true });
    expect(first.spoiled).toBeGreaterThanOrEqual(atLeast);
    expect(first.journal.length).toBeGreaterThan(500);
    // Not toEqual(): reporting where a log of megabytes first differs is more useful than the whole difference.
    expect(firstDifference(first.journal, second.journal)).toBeUndefined();
  });

  it("reaches the same end state with the same writes and no OOM kill under twenty fault plans", {
    timeout: 300_000,
  }, async () => {
    const { story } = await run();
    expect(story.effects).toEqual({ "DELETE pods": 1, "PATCH deployments": 1, "POST pods": 1 });
    expect(story.oomKills).toBe(0);
    for (let seed = 1; seed <= 20; seed += 1) {
      const found = await run({ seed, shares: bad });
      expect(found.spoiled).toBeGreaterThan(3);
      expect({ seed, ...found.story }).toEqual({ seed, ...story });
    }
  });
});

function firstDifference(a: readonly string[], b: readonly string[]) {
  const at = a.findIndex((line, index) => line !== b[index]);
  return at === -1 && a.length === b.length ? undefined : [a[at]?.slice(0, 500), b[at]?.slice(0, 500)];
}
