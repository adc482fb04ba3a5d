// The wall clock cannot be set back for a single process. Samples with timestamps in the past, as cAdvisor can produce them,
// have the same effect.
import { expect, it } from "vitest";
import { comparable, twoWorlds } from "./two-worlds.fixture.ts";

const minute = 60_000;

it("the simulated Prometheus stores or drops late samples as a real one does", async () => {
  const textAt = (n: number, now: number) =>
    [
      `scrape_number ${n}`,
      `steps_back ${n} ${n < 4 ? now : now - 20_000}`,
      ...(n < 4 ? [] : [`fresh{minutes="10"} ${n} ${now - 10 * minute}`]),
      ...(n < 4 ? [] : [`fresh{minutes="59"} ${n} ${now - 59 * minute}`]),
      ...(n < 4 ? [] : [`fresh{minutes="61"} ${n} ${now - 61 * minute}`]),
      "",
    ].join("\n");
  await using worlds = await twoWorlds({ textAt, scrapes: 8 });
  const time = (worlds.end / 1_000).toFixed(3);
  const answers = async (ask: typeof worlds.real) => ({
    stepsBack: comparable(await ask("/api/v1/query", { query: "steps_back[5m]", time })),
    fresh: comparable(await ask("/api/v1/query", { query: "fresh[2h]", time })),
  });
  const theirs = await answers(worlds.real);
  expect(JSON.stringify(theirs.fresh)).toMatch(/minutes\W+59/); // some of them are stored
  expect(await answers(worlds.ours)).toEqual(theirs);
}, 60_000);
