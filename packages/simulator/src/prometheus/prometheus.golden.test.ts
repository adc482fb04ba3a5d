import { describe, expect, it } from "vitest";
import { readGolden } from "./golden.fixture.ts";
import { askOurs, comparable, tell } from "./two-worlds.fixture.ts";

describe("the simulated Prometheus", async () => {
  const { story, time, answers } = await readGolden();
  const ours = await tell(story);

  it.each(Object.keys(answers))("gives the recorded response of a real one: %s", async (query) => {
    expect(comparable(await askOurs(ours, "/api/v1/query", { query, time }))).toEqual(answers[query]);
  });
});
