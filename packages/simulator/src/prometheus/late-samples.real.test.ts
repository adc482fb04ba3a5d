// A wall clock cannot be set back for one program. What comes of it can be shown all the same: samples that bring a time of
// their own, as cAdvisor's do, and it is in the past.
import { expect, it } from "vitest";
import { comparable, twoWorlds } from "./two-worlds.fixture.ts";

const minute = 60_000;

it("samples that come late are taken or not as by the real one (real Prometheus: the other judge)", async () => {
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
  expect(JSON.stringify(theirs.fresh)).toMatch(/minutes\W+59/); // it takes some of them
  expect(await answers(worlds.ours)).toEqual(theirs);
}, 60_000);
