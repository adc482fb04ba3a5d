import { manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { answeredAtMs, answering, matrix, usage, workingSet } from "./answers.fixture.ts";
import type { MemoryQuery } from "./query.ts";
import { ask } from "./query.ts";
import type { PrometheusTransport } from "./transport.ts";

const question: MemoryQuery = { metrics: ["WorkingSet"], labels: "new", namespaces: ["shop"] };
const life = { id: undefined, startedAtMs: 0 };
const web = { namespace: "shop", pod: "web", container: "main" };
const clock = manualClock({ now: answeredAtMs });

function asking(transport: PrometheusTransport, different: Partial<MemoryQuery> = {}) {
  const signal = new AbortController().signal;
  const isWanted = ({ namespace, pod }: { namespace: string; pod: string }) => namespace === "shop" && pod === "web";
  return ask({ ...question, ...different }, { transport, clock, timeoutMs: 10_000, signal, isWanted });
}

const heardOf = async (body: string, different: Partial<MemoryQuery> = {}) => {
  const { samples, ...rest } = await asking(answering(body).transport, different);
  return { ...rest, found: samples.of("WorkingSet", web, life).samples.map(({ bytes }) => bytes), size: samples.size };
};

describe("an answer", () => {
  it("has the samples of the containers there are", async () => {
    const heard = await heardOf(
      matrix(
        {
          points: [
            [20, 1],
            [10, 2],
          ],
        },
        { labels: { pod: "other" }, points: [[10, 9]] },
      ),
    );
    expect(heard).toEqual({ series: 2, warnings: [], found: [1, 2], size: 2 });
  });

  it("M4: a series of another namespace, or of no live pod, is dropped", async () => {
    const foreign = { labels: { namespace: "bank" }, points: [[10, 9]] } as const;
    const gone = { labels: { pod: "web-that-was" }, points: [[10, 9]] } as const;
    expect(await heardOf(matrix(foreign, gone, { points: [[10, 1]] }))).toMatchObject({ series: 3, found: [1], size: 1 });
  });

  it("M4: a part of an answer is taken, and said to be one", async () => {
    const partial = JSON.stringify({ ...JSON.parse(matrix({ points: [[10, 1]] })), warnings: ["store gateway is away"] });
    expect(await heardOf(partial)).toMatchObject({ warnings: ["store gateway is away"], found: [1] });
  });

  it("tells the working set from the usage", async () => {
    const both = matrix(
      { name: usage, points: [[10, 9]] },
      { name: workingSet, points: [[10, 1]] },
      { name: "up", points: [[10, 5]] },
    );
    expect(await heardOf(both)).toMatchObject({ found: [1], size: 2 });
  });

  it("understands the labels of old", async () => {
    const labels = { pod: "", container: "", pod_name: "web", container_name: "main" };
    expect(await heardOf(matrix({ labels, points: [[10, 1]] }), { labels: "old" })).toMatchObject({ found: [1] });
  });

  it("may be empty: that is no failure, and no zero", async () => {
    expect(await heardOf(matrix())).toEqual({ series: 0, warnings: [], found: [], size: 0 });
  });

  const good = JSON.parse(matrix({ points: [[10, 1]] })).data.result[0];
  it.each([
    { name: "null", series: null },
    { name: "a number", series: 5 },
    { name: "a string with a brace", series: "}{" },
    { name: "a list", series: [good] },
    { name: "no labels", series: { values: good.values } },
    { name: "labels that are null", series: { ...good, metric: null } },
    { name: "labels that are a list", series: { ...good, metric: [1] } },
    { name: "labels that are not strings", series: { ...good, metric: { ...good.metric, pod: 5, namespace: {} } } },
    { name: "an id that is not a string", series: { metric: { ...good.metric, id: 5, name: [] }, values: [] } },
    { name: "no values", series: { metric: good.metric } },
    { name: "values that are a number", series: { metric: good.metric, values: 5 } },
    { name: "values of null", series: { metric: good.metric, values: [null, [], [1], ["x", 2], [null, null], {}] } },
    { name: "keys of Object.prototype", series: { metric: { __proto__: 1, constructor: 2 }, values: {} } },
  ])("M2: $name in the place of a series costs only itself", async ({ series }) => {
    const answer = JSON.parse(matrix());
    for (const result of [
      [series, good],
      [good, series],
      [series, good, series, series],
    ])
      for (const indent of [0, 2])
        expect(await heardOf(JSON.stringify({ ...answer, data: { ...answer.data, result } }, null, indent))).toMatchObject({
          warnings: [],
          found: [1],
        });
  });

  it("M2: warnings of an unknown form are warnings", async () => {
    for (const [warnings, said] of [
      [5, ["5"]],
      [null, ["null"]],
      [
        [1, "b"],
        ["1", "b"],
      ],
    ])
      expect((await heardOf(JSON.stringify({ ...JSON.parse(matrix()), warnings }))).warnings).toEqual(said);
  });

  it("M2: an object beside the result, as with query statistics, is not a series", async () => {
    const answer = JSON.parse(matrix({ points: [[10, 1]] }));
    const stats = { timings: { evalTotalTime: 0.1 }, samples: { peak: [{ at: 1 }] } };
    expect(await heardOf(JSON.stringify({ ...answer, data: { stats, ...answer.data } }))).toMatchObject({
      series: 1,
      found: [1],
    });
  });

  const secret = "canary-s3cret";
  it.each([
    {
      name: "an error of Prometheus",
      answer: { status: 422, body: '{"status":"error","errorType":"execution","error":"too many samples"}' },
      is: { code: "PROMETHEUS_REFUSED", message: /HTTP 422, execution: too many samples/ },
    },
    {
      name: "an error of a proxy",
      answer: { status: 502, body: secret },
      is: { code: "PROMETHEUS_REFUSED", message: /HTTP 502$/ },
    },
    {
      name: "HTML with 200",
      answer: `<html>${secret}</html>`,
      is: { code: "PROMETHEUS_NOT_PROMETHEUS", message: /not from Prometheus/ },
    },
    {
      name: "somebody else's JSON",
      answer: `{"status":"ok","token":"${secret}"}`,
      is: { code: "PROMETHEUS_NOT_PROMETHEUS", message: /not from Prometheus/ },
    },
    {
      name: "half an answer",
      answer: matrix({ points: [[10, 1]] }).slice(0, -3),
      is: { code: "PROMETHEUS_NOT_PROMETHEUS", message: /not from Prometheus/ },
    },
    {
      name: "a vector, which was not asked for",
      answer: '{"status":"success","data":{"resultType":"vector","result":[]}}',
      is: { code: "PROMETHEUS_NOT_PROMETHEUS", message: /not from Prometheus/ },
    },
    {
      name: "a redirect",
      answer: { status: 302, body: secret },
      is: { code: "PROMETHEUS_NOT_PROMETHEUS", message: /redirect/ },
    },
    {
      name: "nobody there",
      answer: new Error("connect ECONNREFUSED"),
      is: { code: "PROMETHEUS_UNREACHABLE", message: /ECONNREFUSED/ },
    },
  ])("M1: $name is a failure with a name, and repeats no secret", async ({ answer, is }) => {
    const error = await asking(answering(answer).transport).catch((found: Error) => found);
    expect(error).toMatchObject({ code: is.code, message: expect.stringMatching(is.message) });
    expect(String(error)).not.toContain(secret);
  });

  it("M1: one that does not come in time is given up", async () => {
    const silent: PrometheusTransport = {
      query: (_, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    };
    const late = asking(silent);
    await Promise.all([
      expect(late).rejects.toMatchObject({ code: "PROMETHEUS_UNREACHABLE", message: expect.stringContaining("within 10 s") }),
      clock.advance(10_001),
    ]);
  });

  it("S3: one that is too large is not read to its end", async () => {
    let read = 0;
    async function* endless() {
      yield Buffer.from('{"status":"success","data":{"resultType":"matrix","result":[');
      for (;;) {
        read += 1;
        yield Buffer.alloc(1024 * 1024, " ");
      }
    }
    await expect(asking(answering({ body: endless() }).transport)).rejects.toMatchObject({ code: "PROMETHEUS_TOO_LARGE" });
    expect(read).toBe(64);
  });
});
