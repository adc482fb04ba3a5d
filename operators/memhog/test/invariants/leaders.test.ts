// Two operators that act as leader at the same time. Leader election makes this unlikely but cannot exclude it.
// On the simulator, where both see and do everything at exactly the same time.
import { expect, it } from "vitest";
import { effectsIn, effectsOf, endOf } from "./effects.fixture.ts";
import { census } from "./pod-history.fixture.ts";
import { type World, world } from "./world.fixture.ts";

interface Scenario {
  readonly name: string;
  readonly strategy: string;
  readonly spec?: object;
  /** Milliseconds from the creation of the pod to the start of the operators. @default 0 */
  readonly before?: number;
  readonly effects: Readonly<Record<string, number>>;
  readonly make: (w: World) => Promise<unknown>;
  readonly memory: string;
  readonly most: number;
}

const scenarios: readonly Scenario[] = [
  {
    name: "a pod in place",
    strategy: "InPlace",
    effects: { "PATCH pods/resize": 2 },
    make: (w: World) => w.pod("hungry"),
    memory: "pod-hungry",
    most: 1,
  },
  {
    name: "a bare pod",
    strategy: "Redeploy",
    effects: { "DELETE pods": 1, "POST pods": 1 },
    make: (w: World) => w.pod("hungry"),
    memory: "pod-hungry",
    most: 2,
  },
  {
    name: "a Deployment",
    strategy: "Redeploy",
    effects: { "PATCH deployments": 1 },
    make: (w: World) => w.deployment("web"),
    memory: "deployment-web",
    most: 2,
  },
  {
    ...{
      name: "a pod that is lowered",
      strategy: "InPlace",
      spec: { shrink: { belowTemplate: true } },
      before: 150_000,
      most: 1,
    },
    ...{ make: (w: World) => w.pod("modest", { memory: "100Mi" }), memory: "pod-modest", effects: { "PATCH pods/resize": 1 } },
  },
];

async function led({ strategy, spec = {}, before = 0, make, memory }: Scenario, names: readonly string[]) {
  await using w = await world();
  await w.monitor({ strategy, ...spec });
  const counted = census(w);
  await make(w);
  await w.pass(before);
  const operators = names.map((name) => w.start({ name }));
  await w.pass(60_000);
  const lost = operators.flatMap(({ voice }) => voice.writes.filter(({ status }) => status === 409)).length;
  return { end: await endOf(w, memory), effects: effectsOf(operators), most: counted.most, least: counted.leastReady, lost };
}

it.each(scenarios)("L1: two leaders raise $name once", async (scenario) => {
  const { lost: _, ...one } = await led(scenario, ["memhog-1"]);
  const { lost, ...two } = await led(scenario, ["memhog-1", "memhog-2"]);
  expect(two).toEqual(one);
  expect(two.effects).toEqual(scenario.effects);
  expect(two.most).toBe(scenario.most);
  // Some of their writes conflicted.
  expect(lost).toBeGreaterThan(0);
});

it("L1: two leaders, one without Prometheus, write at most one status per interval each", async () => {
  await using w = await world();
  await w.monitor();
  await w.pod("modest", { memory: "100Mi" });
  w.start({ name: "memhog-1" });
  w.start({ name: "memhog-2", blind: true });
  await w.pass(60_000);
  const before = w.heard.length;
  const loops = 24;
  await w.pass(loops * 5_000);
  // Each writes at most one status per interval.
  expect(w.heard.length - before).toBeLessThanOrEqual(2 * loops);
  expect(effectsIn(w.heard)).toEqual({});
});
