// A bare pod that is being replaced by its copy, and somebody changes their mind: no two pods are left for ever.
// On the simulator, because a copy that is not Ready takes minutes.
import { Pod } from "@memhog/runtime";
import { moments } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { monitorAnnotation } from "../../src/api/names.ts";
import { effectsOf } from "./effects.fixture.ts";
import { census, isReady } from "./pod-history.fixture.ts";
import type { Death } from "./recording-transport.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const monitor = { namespace: home, name: "johnny-cache" };
const copy = "hungry-autoscaled";
const neverReady = ({ metadata }: Pod) => (metadata?.name === copy ? { ready: [{ fromMs: 0, ok: false }] } : undefined);

const annotate = (name: string, value: string | null) => (w: World) =>
  w.client.patch(
    Pod,
    { namespace: home, name },
    { type: "merge", body: { metadata: { annotations: { [monitorAnnotation]: value } } } as never },
  );

const changes: readonly { readonly name: string; readonly change: (w: World) => Promise<unknown> }[] = [
  { name: "the AppMonitor is deleted", change: (w) => w.client.delete(AppMonitor, monitor) },
  { name: "another AppMonitor selects the pod as well", change: (w) => w.monitor({}, { namespace: home, name: "another" }) },
  { name: "the strategy is changed to Recommend", change: (w) => w.monitor({ strategy: "Recommend" }) },
  { name: "the original is annotated false", change: annotate("hungry", "false") },
  { name: "the annotation of the original is removed", change: annotate("hungry", null) },
  { name: "the copy is annotated false", change: annotate(copy, "false") },
  { name: "the annotation of the copy is removed", change: annotate(copy, null) },
  { name: "the annotations of both are removed", change: (w) => annotate("hungry", null)(w).then(() => annotate(copy, null)(w)) },
];

async function replacing(death?: Death) {
  const w = await world({ nodes: { count: 1, programOf: neverReady } });
  await w.monitor({ strategy: "Redeploy" });
  await w.pod("hungry", { probe: true });
  await w.pass(5_000);
  const operators = [w.start(death ? { death } : {})];
  const [first] = operators;
  if (first !== undefined) first.voice.onDeath = () => w.clock.after(2_000, () => operators.push(w.start({ name: "memhog-2" })));
  await w.pass(minutes(1));
  return { ...w, operators };
}

const names = async (w: World) => (await w.pods()).map(({ metadata }) => metadata.name);

describe("D6: no twins are left", () => {
  it.each(changes)("if $name, the copy goes and the original stays", async ({ change }) => {
    await using w = await replacing();
    expect(await names(w)).toEqual(["hungry", copy]);
    const counted = census(w);
    await change(w);
    await w.pass(minutes(1));
    expect(await names(w)).toEqual(["hungry"]);
    expect(counted.leastReady).toBe(1);
    expect((await w.memory("pod-hungry"))?.status?.intents).toBeUndefined();
    expect(effectsOf(w.operators)).toEqual({ "DELETE pods": 1, "POST pods": 1 });
  });

  it("if the strategy is changed to InPlace, the copy goes after its five minutes", async () => {
    await using w = await replacing();
    await w.monitor({ strategy: "InPlace" });
    await w.pass(minutes(6));
    expect((await w.pods()).map((pod) => [pod.metadata.name, isReady(pod)])).toEqual([["hungry", true]]);
  });

  it("if the AppMonitor is paused, both stay until it continues", async () => {
    await using w = await replacing();
    await w.monitor({ strategy: "Redeploy", paused: true });
    await w.pass(minutes(10));
    expect(await names(w)).toEqual(["hungry", copy]);
    await w.monitor({ strategy: "Redeploy", paused: false });
    await w.pass(minutes(1));
    expect(await names(w)).toEqual(["hungry"]);
  });

  it("if the AppMonitor is deleted although the operator crashed when it had created the copy", async () => {
    for (const when of moments) {
      for (let atWrite = 1; atWrite <= 8; atWrite += 1) {
        await using w = await replacing({ atWrite, when });
        await w.client.delete(AppMonitor, monitor);
        await w.pass(minutes(1));
        expect([atWrite, when, await names(w)]).toEqual([atWrite, when, ["hungry"]]);
      }
    }
  });
});
