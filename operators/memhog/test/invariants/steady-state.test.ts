// A steady state causes no writes, and pausing stops everything. On the simulator, because 100 intervals take minutes of real time.
import { Pod } from "@memhog/runtime";
import { expect, it } from "vitest";
import { monitorAnnotation } from "../../src/api/names.ts";
import { effectsOf, isEffect } from "./effects.fixture.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { home, minutes, world } from "./world.fixture.ts";

it("E1: no write in 100 intervals of a steady state, Events included", async () => {
  await using w = await world();
  await w.monitor();
  await w.deployment("web", { replicas: 2 });
  await w.pod("hungry", { memory: "ramp 2Mi/s to 320Mi" });
  await w.pod("modest", { memory: "sawtooth 50Mi to 200Mi every 60s" });
  const { voice } = w.start();
  await w.pass(minutes(5));
  expect(voice.writes.length).toBeGreaterThan(10);
  const [said, passes] = [voice.said.length, w.passes.length];
  await w.pass(100 * 5_500);
  expect(w.passes.length - passes).toBeGreaterThanOrEqual(300);
  expect(voice.said.slice(said)).toEqual([]);
});

it("E4: pausing stops raises in progress, and they continue afterwards", async () => {
  await using w = await world();
  await w.monitor({ strategy: "Redeploy" });
  // The copy takes a while to become Ready, which leaves time to pause.
  await w.pod("hungry", { annotations: { "simulator.memhog.dev/ready.main": "after 20s" }, probe: true });
  const operator = w.start();
  await w.pass(15_000);
  expect((await w.pods()).map(({ metadata }) => metadata.name)).toEqual(["hungry", "hungry-autoscaled"]);
  const before = operator.voice.writes.length;
  await w.monitor({ strategy: "Redeploy", paused: true });
  await w.pass(minutes(5));
  // The one write records the pause in the AppMemory; the AppMonitor reports it too.
  expect(operator.voice.writes.slice(before).filter(isEffect)).toEqual([]);
  expect((await w.memory("pod-hungry"))?.status).toMatchObject({ reason: "Paused", intents: [{ method: "CopyPod" }] });
  await w.monitor({ strategy: "Redeploy", paused: false });
  await w.pass(minutes(1));
  expect((await w.pods()).map((pod) => [pod.metadata.name, sizeOf(pod)])).toEqual([["hungry-autoscaled", "512Mi/768Mi"]]);
});

it("E4: a pause that arrives while the intent is being stored stops the raise itself", async () => {
  await using w = await world();
  await w.monitor();
  await w.pod("hungry");
  const operator = w.start();
  const request = operator.voice.request.bind(operator.voice);
  let pausedAt = 0;
  operator.voice.request = async (asked) => {
    const answer = await request(asked);
    if (pausedAt === 0 && asked.method === "PUT" && asked.body?.includes('"intents"')) {
      pausedAt = operator.voice.writes.length;
      await w.monitor({ paused: true });
      await w.clock.sleep(1_000); // the watch is faster than this answer
    }
    return answer;
  };
  await w.pass(minutes(2));
  expect(pausedAt).toBeGreaterThan(0);
  expect(effectsOf([operator])).toEqual({});
  expect(sizeOf((await w.pods())[0] as Pod)).toBe("256Mi/384Mi");
});

it('E4: the annotation "false" stops raises', async () => {
  await using w = await world();
  await w.monitor();
  await w.pod("hungry", { memory: "ramp 1Mi/s to 700Mi" });
  const operator = w.start();
  await w.pass(60_000);
  const body = { metadata: { annotations: { [monitorAnnotation]: "false" } } };
  await w.client.patch(Pod, { namespace: home, name: "hungry" }, { type: "merge", body });
  await w.pass(minutes(4));
  expect(effectsOf([operator])).toEqual({});
  expect(sizeOf((await w.pods())[0] as Pod)).toBe("256Mi/384Mi");
});
