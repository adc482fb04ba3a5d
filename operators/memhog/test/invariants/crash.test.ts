// The crash matrix: for each of three ways to raise a pod, the operator crashes at every write: before the server receives it, after
// the server stored it but before the response arrives, and right after the response. The next operator reads the intent from the
// AppMemory and reaches the same end state with the same number of creates, deletes and patches.
//
// On the simulator only: the matrix needs about a hundred clusters, each for most of a minute.
import { moments } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { effectsOf, endOf } from "./effects.fixture.ts";
import { census } from "./pod-history.fixture.ts";
import type { Death } from "./recording-transport.fixture.ts";
import { type World, world } from "./world.fixture.ts";

interface Scenario {
  readonly name: string;
  readonly strategy: string;
  /** More of the AppMonitor's spec. */
  readonly spec?: object;
  /** @default "512Mi/768Mi" */
  readonly size?: string;
  /** Milliseconds from the creation of the pod to the start of the operator. @default 0 */
  readonly before?: number;
  readonly make: (w: World) => Promise<unknown>;
  readonly memory: string;
  readonly effects: Readonly<Record<string, number>>;
  /** The largest number of pods at the same time. */
  readonly most: number;
}

const scenarios: readonly Scenario[] = [
  {
    name: "a pod raised in place",
    strategy: "InPlace",
    make: (w) => w.pod("hungry"),
    memory: "pod-hungry",
    effects: { "PATCH pods/resize": 2 },
    most: 1,
  },
  {
    name: "a pod lowered in place",
    strategy: "InPlace",
    spec: { shrink: { belowTemplate: true } },
    size: "120Mi/384Mi",
    before: 150_000,
    make: (w) => w.pod("modest", { memory: "100Mi" }),
    memory: "pod-modest",
    effects: { "PATCH pods/resize": 1 },
    most: 1,
  },
  {
    name: "a bare pod replaced by a bigger copy",
    strategy: "Redeploy",
    make: (w) => w.pod("hungry"),
    memory: "pod-hungry",
    effects: { "DELETE pods": 1, "POST pods": 1 },
    most: 2,
  },
  {
    name: "a Deployment raised through its template",
    strategy: "Redeploy",
    make: (w) => w.deployment("web"),
    memory: "deployment-web",
    effects: { "PATCH deployments": 1 },
    most: 2,
  },
];

/** Runs the scenario to its end, optionally with a crash and a second operator. */
async function live({ strategy, spec = {}, before = 0, make, memory }: Scenario, death?: Death) {
  await using w = await world();
  await w.monitor({ strategy, ...spec });
  const counted = census(w);
  await make(w);
  await w.pass(before);
  const operators = [w.start(death ? { death } : {})];
  const [first] = operators;
  if (first !== undefined) first.voice.onDeath = () => w.clock.after(2_000, () => operators.push(w.start({ name: "memhog-2" })));
  await w.pass(45_000);
  const { most, leastReady } = counted;
  const writes = first?.voice.writes.length ?? 0;
  return { ...(await endOf(w, memory)), effects: effectsOf(operators), most, leastReady, writes, operators: operators.length };
}

describe.each(scenarios)("C1, C2, C3, C4: $name", (scenario) => {
  it("reaches the same end state whichever write the operator crashes at", { timeout: 600_000 }, async () => {
    const { writes, operators: _, ...undisturbed } = await live(scenario);
    expect(undisturbed.effects).toEqual(scenario.effects);
    expect([undisturbed.most, undisturbed.leastReady]).toEqual([scenario.most, 1]);
    expect(undisturbed.pods.map(({ size }) => size)).toEqual([scenario.size ?? "512Mi/768Mi"]);
    for (const death of deaths(writes)) {
      const { writes: _writes, operators, ...disturbed } = await live(scenario, death);
      expect({ death, operators, ...disturbed }).toEqual({ death, operators: 2, ...undisturbed });
    }
  });
});

function deaths(writes: number): readonly Death[] {
  return Array.from({ length: writes }, (_, index) => moments.map((when) => ({ atWrite: index + 1, when }))).flat();
}
