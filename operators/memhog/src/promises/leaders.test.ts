// Two operators at work at the same time, neither of which knows of the other: what leader election is to prevent, and cannot
// always. On the simulator: only there do both see and do everything at the very same moments.
import { expect, it } from "vitest";
import { census } from "./census.fixture.ts";
import { effectsIn, effectsOf, endOf } from "./effects.fixture.ts";
import { type World, world } from "./world.fixture.ts";

const scenarios = [
  { name: "a pod in place", strategy: "InPlace", make: (w: World) => w.pod("hungry"), memory: "pod-hungry", most: 1 },
  { name: "a bare pod", strategy: "Redeploy", make: (w: World) => w.pod("hungry"), memory: "pod-hungry", most: 2 },
  { name: "a Deployment", strategy: "Redeploy", make: (w: World) => w.deployment("web"), memory: "deployment-web", most: 2 },
];

async function led({ strategy, make, memory }: (typeof scenarios)[number], names: readonly string[]) {
  await using w = await world();
  await w.monitor({ strategy });
  const counted = census(w);
  await make(w);
  const operators = names.map((name) => w.start({ name }));
  await w.pass(60_000);
  const lost = operators.flatMap(({ voice }) => voice.writes.filter(({ status }) => status === 409)).length;
  return { end: await endOf(w, memory), effects: effectsOf(operators), most: counted.most, least: counted.leastReady, lost };
}

it.each(scenarios)("L1: two leaders raise $name once", async (scenario) => {
  const { lost: _, ...one } = await led(scenario, ["memhog-1"]);
  const { lost, ...two } = await led(scenario, ["memhog-1", "memhog-2"]);
  expect(two).toEqual(one);
  expect(two.most).toBe(scenario.most);
  // They did get in each other's way.
  expect(lost).toBeGreaterThan(0);
});

it("L1: two leaders of whom one is blind contradict each other once per loop, not as fast as they can", async () => {
  await using w = await world();
  await w.monitor();
  await w.pod("modest", { memory: "100Mi" });
  w.start({ name: "memhog-1" });
  w.start({ name: "memhog-2", blind: true });
  await w.pass(60_000);
  const before = w.heard.length;
  const loops = 24;
  await w.pass(loops * 5_000);
  // Each at most one word about the app per loop of theirs.
  expect(w.heard.length - before).toBeLessThanOrEqual(2 * loops);
  expect(effectsIn(w.heard)).toEqual({});
});
