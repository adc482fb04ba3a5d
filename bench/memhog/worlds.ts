// Checks the invariants of decide/laws.fixture.ts in many random clusters: a million here, a few thousand in the test
// run.
import { performance } from "node:perf_hooks";
import { brokenLaw, randomWorld } from "@memhog/memhog-operator/testing";
import { seededRandom } from "@memhog/runtime/testing";
import type { Figure } from "../report.ts";

/** Uses the seeds 0 … count-1, so that a violation can be reproduced. */
export function judgeWorlds(count: number): readonly Figure[] {
  const since = performance.now();
  let broken = 0;
  for (let seed = 0; seed < count; seed += 1) {
    const law = brokenLaw(randomWorld(seededRandom(seed)));
    if (law !== undefined) {
      broken += 1;
      if (broken <= 10) console.error(`world ${seed}: ${law}`);
    }
    if (seed % 100_000 === 99_999)
      console.error(`${seed + 1} of ${count} worlds, ${Math.round((performance.now() - since) / 1000)} s`);
  }
  const name = `laws broken in ${count.toLocaleString("en")} random worlds`;
  return [{ name, unit: "worlds", ours: broken, peers: {}, goal: "0", holds: broken === 0 }];
}
