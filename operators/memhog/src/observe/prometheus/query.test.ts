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
