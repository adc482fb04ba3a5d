// Fifty pods of several kinds for hours. Idle pods are never changed, growing pods are raised before an OOM kill, leaks are
// reported, and the number of writes depends on what happens, not on how long it takes. MEMHOG_HOURS=24 simulates a day in a minute.
// On the simulator, because a real run would take hours.
import { describe, expect, it } from "vitest";
import { census } from "./pod-history.fixture.ts";
import { minutes, world } from "./world.fixture.ts";

const hours = Number(process.env.MEMHOG_HOURS ?? 2);
const MiB = 1024 * 1024;

/** The memory profiles of ten pods each, and the limits they may end with. */
const kinds = [
  { name: "constant", memory: "100Mi", limits: [384] },
  { name: "sawtooth", memory: "sawtooth 100Mi to 270Mi every 10m", limits: [384] },
  { name: "ramp", memory: "ramp 500Ki/s to 500Mi", limits: [768] },
  { name: "creep", memory: "ramp 300Ki/s to 700Mi", limits: [1536] },
  { name: "leak", memory: "leak 500Ki/s from 100Mi", limits: [1536] },
];

describe(`${hours} hours with fifty pods`, () => {
  it("need few writes; only leaks are OOM-killed, and every leak is reported", { timeout: 900_000 }, async () => {
    const specs = [1, 2].map((node) => ({ name: `node-${node}`, capacity: { memory: "100Gi" } }));
    await using w = await world({ nodes: { specs, leaseRenewMs: 30_000 }, intervalMs: 60_000, scrapeMs: 30_000 });
    const counted = census(w);
    await w.monitor({ maxRaisesPerHour: 2 });
    const names = kinds.flatMap(({ name }) => Array.from({ length: 10 }, (_, at) => `${name}-${at}`));
    for (const name of names) await w.pod(name, { memory: kinds.find((kind) => name.startsWith(kind.name))?.memory ?? "" });
    const { voice } = w.start();
    await w.pass(minutes(60));
    const afterAnHour = voice.writes.length;
    for (let hour = 2; hour <= hours; hour += 1) await w.pass(minutes(60));

    for (const { name, limits } of kinds) {
      const found = names.filter((pod) => pod.startsWith(name)).map((pod) => inMiB(counted.limits.get(pod)?.at(-1) ?? ""));
      expect({ name, limits: [...new Set(found)] }).toEqual({ name, limits });
    }
    expect([...counted.killed].filter((pod) => !pod.startsWith("leak"))).toEqual([]);
    for (const pod of names.filter((name) => name.startsWith("leak")))
      expect((await w.memory(`pod-${pod}`))?.status).toMatchObject({ phase: "Stopped", reason: "SuspectedLeak", raises: 2 });
    // A raise writes an intent, two resizes and their report; an OOM kill is counted. Nothing else writes.
    expect(afterAnHour).toBeLessThan(names.length * 25);
    expect(voice.writes.length - afterAnHour).toBeLessThanOrEqual(3 * counted.oomKills);
  });
});

describe("an endless ramp", () => {
  it.each([0.5, 2, 5, 9])("of %d MiB/s is not OOM-killed and needs few resizes", async (rate) => {
    await using w = await world();
    const counted = census(w);
    await w.monitor();
    await w.pod("hungry", { memory: `ramp ${rate * 1024}Ki/s from 20Mi to 720Mi` });
    const { voice } = w.start();
    await w.pass((800 / rate) * 1_000);
    expect(counted.oomKills).toBe(0);
    expect(counted.limits.get("hungry")).toEqual(["384Mi", "768Mi", "1536Mi"]);
    expect(voice.writes.filter(({ path }) => path.endsWith("/resize")).length).toBeLessThanOrEqual(4);
  });
});

// A jump to 150Mi within one step between samples can be a ramp of 12 MiB/s; no ramp is as fast as a jump to 250Mi.
it.each([
  { size: 150, limits: ["384Mi", "768Mi"] },
  { size: 250, limits: ["384Mi"] },
  { size: 300, limits: ["384Mi", "768Mi"] },
  { size: 370, limits: ["384Mi", "768Mi"] },
])("a container that takes $size MiB at startup has the limits $limits", async ({ size, limits }) => {
  await using w = await world();
  const counted = census(w);
  await w.monitor();
  await w.pod("jumpy", { memory: `step 5Mi, ${size}Mi at 3s` });
  w.start();
  await w.pass(minutes(5));
  expect(counted.oomKills).toBe(0);
  expect(counted.limits.get("jumpy")).toEqual(limits);
});

const inMiB = (quantity: string) =>
  Math.round(Number(quantity.replace(/Mi$/, "")) || (Number(quantity.replace(/Gi$/, "")) * 1024 * MiB) / MiB);
