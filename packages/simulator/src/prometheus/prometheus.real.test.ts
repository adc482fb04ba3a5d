import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readGolden, writeGolden } from "./golden.fixture.ts";
import { answered, refused } from "./questions.fixture.ts";
import { type Answered, type Asked, comparable, type TwoWorlds, twoWorlds } from "./two-worlds.fixture.ts";

let worlds: TwoWorlds;

beforeAll(async () => {
  worlds = await twoWorlds();
}, 120_000);

afterAll(() => worlds?.[Symbol.asyncDispose]());

const inSeconds = (ms: number) => (ms / 1_000).toFixed(3);

describe("the simulated Prometheus compared with a real one", () => {
  const evaluationTimes = [
    { when: "after the last scrape", afterMs: 250 },
    { when: "while a series was gone", afterMs: -6_650 },
    { when: "while the target was down", afterMs: -3_650 },
    { when: "before the first scrape", afterMs: -60_000 },
    { when: "when everything is old", afterMs: 320_000 },
  ];
  it.each(evaluationTimes)("gives the same response to every query $when", async ({ afterMs }) => {
    const time = inSeconds(worlds.end + afterMs);
    for (const query of answered) {
      const theirs = comparable(await worlds.real("/api/v1/query", { query, time }));
      const ours = comparable(await worlds.ours("/api/v1/query", { query, time }));
      expect({ query, ...ours }).toEqual({ query, ...theirs });
    }
  });

  it("gives the same responses as in the golden file", async () => {
    const time = inSeconds(worlds.end + 250);
    const answers: Record<string, object> = {};
    for (const query of answered) answers[query] = comparable(await worlds.real("/api/v1/query", { query, time }));
    if (process.env.UPDATE_GOLDEN === "1") await writeGolden({ story: worlds.story, time, answers });
    expect(Object.keys(answers)).toEqual(Object.keys((await readGolden()).answers));
  });

  it("gives the same responses to range queries", async () => {
    const [start = "", end = ""] = [worlds.end - 16_300, worlds.end + 400].map(inSeconds);
    const queries = ["plain", "up", "sum(plain) by (pod)", "rate(requests_total[5s])", "1 + 1", "time()", "plain > 9", "odd"];
    for (const step of ["1", "2.5", "3s"]) {
      for (const query of queries) {
        const asked = { query, start, end, step };
        const theirs = comparable(await worlds.real("/api/v1/query_range", asked));
        const ours = comparable(await worlds.ours("/api/v1/query_range", asked));
        expect({ query, step, ...ours }).toEqual({ query, step, ...theirs });
      }
    }
  });

  it.each(refused)("rejects %j with the same status and error type", async (query) => {
    const time = inSeconds(worlds.end + 250);
    const kind = ({ status, body }: Answered) => ({ status, errorType: (body as { errorType?: string }).errorType });
    const theirs = await worlds.real("/api/v1/query", { query, time });
    expect(kind(theirs).errorType).toBeDefined();
    expect(kind(await worlds.ours("/api/v1/query", { query, time }))).toEqual(kind(theirs));
  });

  const parameters: readonly { readonly path: string; readonly query: Asked }[] = [
    { path: "/api/v1/query", query: { query: "up", time: "abc" } },
    { path: "/api/v1/query", query: { query: "up", time: "2026-01-01T00:00:00Z" } },
    { path: "/api/v1/query", query: {} },
    { path: "/api/v1/query_range", query: { query: "up", start: "0", end: "10", step: "0" } },
    { path: "/api/v1/query_range", query: { query: "up", start: "10", end: "0", step: "1" } },
    { path: "/api/v1/query_range", query: { query: "up", start: "0", end: "100000", step: "1" } },
    { path: "/api/v1/query_range", query: { query: "up[5m]", start: "0", end: "10", step: "1" } },
    { path: "/api/v1/query_range", query: { query: "up", start: "0", end: "10", step: "abc" } },
    { path: "/api/v1/query_range", query: { query: "up", end: "10", step: "1" } },
  ];
  it.each(parameters)("responds to $path with $query in the same words", async ({ path, query }) => {
    expect(await worlds.ours(path, query)).toEqual(await worlds.real(path, query));
  });
});
