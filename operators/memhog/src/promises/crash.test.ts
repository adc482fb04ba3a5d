// The crash matrix. Three ways in which a pod gets more memory, and at every write on each of them somebody dies: before the server
// gets it, after the server has it but before the answer came, and when the answer was the last thing heard. A successor finds what
// was intended in the AppMemory and brings it to the same end, by the same number of creations, deletions and patches.
//
// On the simulator alone: a run of the matrix is a hundred clusters, each of which lives for the better part of a minute.
import { moments } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { census } from "./census.fixture.ts";
import { effectsOf, endOf } from "./effects.fixture.ts";
import type { Death } from "./voice.fixture.ts";
import { type World, world } from "./world.fixture.ts";

interface Scenario {
  readonly name: string;
  readonly strategy: string;
  readonly make: (w: World) => Promise<unknown>;
  readonly memory: string;
  readonly effects: Readonly<Record<string, number>>;
  /** The most pods at once. */
  readonly most: number;
}

const scenarios: readonly Scenario[] = [
  {
    name: "a pod in place",
    strategy: "InPlace",
    make: (w) => w.pod("hungry"),
    memory: "pod-hungry",
    effects: { "PATCH pods/resize": 2 },
    most: 1,
  },
  {
    name: "a bare pod by a bigger copy",
    strategy: "Redeploy",
    make: (w) => w.pod("hungry"),
    memory: "pod-hungry",
    effects: { "DELETE pods": 1, "POST pods": 1 },
    most: 2,
  },
  {
    name: "a Deployment by its template",
    strategy: "Redeploy",
    make: (w) => w.deployment("web"),
    memory: "deployment-web",
    effects: { "PATCH deployments": 1 },
    most: 2,
  },
];

/** The scenario from its beginning to its end, with a death on the way and a successor if there is to be one. */
async function live({ strategy, make, memory }: Scenario, death?: Death) {
  await using w = await world();
  await w.monitor({ strategy });
  const counted = census(w);
  await make(w);
  const operators = [w.start(death ? { death } : {})];
  const [first] = operators;
  if (first !== undefined) first.voice.onDeath = () => w.clock.after(2_000, () => operators.push(w.start({ name: "memhog-2" })));
  await w.pass(45_000);
  const { most, leastReady } = counted;
  const writes = first?.voice.writes.length ?? 0;
  return { ...(await endOf(w, memory)), effects: effectsOf(operators), most, leastReady, writes, operators: operators.length };
}

describe.each(scenarios)("C1, C2, C3, C4: $name", (scenario) => {
  it("ends the same, whichever write somebody dies at, and whenever", { timeout: 600_000 }, async () => {
    const { writes, operators: _, ...undisturbed } = await live(scenario);
    expect(undisturbed.effects).toEqual(scenario.effects);
    expect([undisturbed.most, undisturbed.leastReady]).toEqual([scenario.most, 1]);
    expect(undisturbed.pods.map(({ size }) => size)).toEqual(["512Mi/768Mi"]);
    for (const death of deaths(writes)) {
      const { writes: _writes, operators, ...disturbed } = await live(scenario, death);
      expect({ death, operators, ...disturbed }).toEqual({ death, operators: 2, ...undisturbed });
    }
  });
});

function deaths(writes: number): readonly Death[] {
  return Array.from({ length: writes }, (_, index) => moments.map((when) => ({ atWrite: index + 1, when }))).flat();
}
